-- +goose Up
-- How many contracts of a line share a customer's text, and an amount. Parts of texts and
-- bounds of amounts are counted by what occurs, which is less than there are contracts.
-- A text is a key here, and so it is short enough to be one.
UPDATE contract_facets SET customer_folded = left(customer_folded, 500) WHERE octet_length(customer_folded) > 2000;
CREATE TABLE customer_counts (
	shop_id bigint NOT NULL,
	line text COLLATE "C" NOT NULL,
	customer_folded text COLLATE "C" NOT NULL, -- as in contract_facets
	n integer NOT NULL,
	PRIMARY KEY (shop_id, line, customer_folded)
);
INSERT INTO customer_counts (shop_id, line, customer_folded, n)
SELECT shop_id, line, customer_folded, COUNT(*) FROM contract_facets GROUP BY shop_id, line, customer_folded;
CREATE INDEX customer_counts_of_none ON customer_counts (shop_id) WHERE n = 0;
CREATE TABLE amount_counts (
	shop_id bigint NOT NULL,
	line text COLLATE "C" NOT NULL,
	order_amount bigint NOT NULL,
	n integer NOT NULL,
	PRIMARY KEY (shop_id, line, order_amount)
);
INSERT INTO amount_counts (shop_id, line, order_amount, n)
SELECT shop_id, line, order_amount, COUNT(*) FROM contract_facets GROUP BY shop_id, line, order_amount;
CREATE INDEX amount_counts_of_none ON amount_counts (shop_id) WHERE n = 0;
CREATE INDEX customer_counts_by_part ON customer_counts USING gin (customer_folded gin_trgm_ops);
ANALYZE contract_facets, customer_counts, amount_counts;
