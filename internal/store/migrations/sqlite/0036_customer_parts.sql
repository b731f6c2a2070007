-- +goose Up
-- Addresses and names stand in one text near the beginning of a row that has nothing
-- else of them, so that parts which no index knows are counted in a pass over few bytes.
-- Whole addresses are found in contracts.
DROP TABLE contract_facets;
CREATE TABLE contract_facets (
	shop_id bigint NOT NULL,
	id bigint NOT NULL, -- of the contract
	line text NOT NULL,
	customer_folded text NOT NULL, -- address, a line feed, name
	status text NOT NULL,
	delivery_interval text NOT NULL,
	delivery_count bigint NOT NULL,
	prepaid boolean NOT NULL,
	imported boolean NOT NULL,
	order_amount bigint NOT NULL,
	created_at bigint NOT NULL,
	customer_id bigint NOT NULL,
	PRIMARY KEY (shop_id, id),
	FOREIGN KEY (shop_id, id) REFERENCES contracts (shop_id, id)
);
INSERT INTO contract_facets (shop_id, id, line, customer_folded, status, delivery_interval, delivery_count, prepaid, imported, order_amount, created_at, customer_id)
SELECT shop_id, id, line, replace(email_folded, char(10), ' ') || char(10) || name_folded, status, delivery_interval, delivery_count, billing_count <> delivery_count,
	imported_id <> '', order_amount, created_at, customer_id FROM contracts;
CREATE INDEX contract_facets_by_creation ON contract_facets (shop_id, line, created_at, id);
CREATE INDEX contract_facets_by_status ON contract_facets (shop_id, line, status, created_at, id);
CREATE INDEX contract_facets_by_interval ON contract_facets (shop_id, line, delivery_interval, delivery_count, created_at, id);
CREATE INDEX contract_facets_prepaid ON contract_facets (shop_id, line, created_at, id) WHERE prepaid;
CREATE INDEX contract_facets_imported ON contract_facets (shop_id, line, created_at, id) WHERE imported;
CREATE INDEX contract_facets_by_amount ON contract_facets (shop_id, line, order_amount, id);
CREATE INDEX contract_facets_by_customer ON contract_facets (shop_id, line, customer_id, status, id);
