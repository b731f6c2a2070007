-- +goose Up
-- How many contracts of a line share a customer's text, and an amount. Parts of texts and
-- bounds of amounts are counted by what occurs, which is less than there are contracts.
-- A text is a key here, and so it is short enough to be one.
UPDATE contract_facets SET customer_folded = substr(customer_folded, 1, 500) WHERE length(CAST(customer_folded AS blob)) > 2000;
CREATE TABLE customer_counts (
	shop_id bigint NOT NULL,
	line text NOT NULL,
	customer_folded text NOT NULL, -- as in contract_facets
	n integer NOT NULL,
	PRIMARY KEY (shop_id, line, customer_folded)
) WITHOUT ROWID;
INSERT INTO customer_counts (shop_id, line, customer_folded, n)
SELECT shop_id, line, customer_folded, COUNT(*) FROM contract_facets GROUP BY shop_id, line, customer_folded;
CREATE INDEX customer_counts_of_none ON customer_counts (shop_id) WHERE n = 0;
CREATE TABLE amount_counts (
	shop_id bigint NOT NULL,
	line text NOT NULL,
	order_amount bigint NOT NULL,
	n integer NOT NULL,
	PRIMARY KEY (shop_id, line, order_amount)
) WITHOUT ROWID;
INSERT INTO amount_counts (shop_id, line, order_amount, n)
SELECT shop_id, line, order_amount, COUNT(*) FROM contract_facets GROUP BY shop_id, line, order_amount;
CREATE INDEX amount_counts_of_none ON amount_counts (shop_id) WHERE n = 0;
