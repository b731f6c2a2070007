-- +goose Up
-- Whether a person chose where a contract's series starts.
ALTER TABLE contracts ADD COLUMN series_moved boolean NOT NULL DEFAULT false;

-- Orders that no longer wait, for reports over all contracts.
CREATE INDEX attempts_past ON attempts (shop_id, status, billing_date, id) WHERE status <> 'QUEUED';

-- By what contracts are found, sorted and counted, save for what billing changes:
-- rows are narrow and seldom written, so that its indexes can be many and are
-- nearly always all that a question reads.
CREATE TABLE contract_facets (
	shop_id bigint NOT NULL,
	id bigint NOT NULL, -- of the contract
	line text NOT NULL,
	status text NOT NULL,
	delivery_interval text NOT NULL,
	delivery_count bigint NOT NULL,
	prepaid boolean NOT NULL,
	imported boolean NOT NULL,
	order_amount bigint NOT NULL,
	created_at bigint NOT NULL,
	customer_id bigint NOT NULL,
	name_folded text NOT NULL,
	email_folded text NOT NULL,
	PRIMARY KEY (shop_id, id),
	FOREIGN KEY (shop_id, id) REFERENCES contracts (shop_id, id)
);
INSERT INTO contract_facets (shop_id, id, line, status, delivery_interval, delivery_count, prepaid, imported, order_amount, created_at, customer_id, name_folded, email_folded)
SELECT shop_id, id, line, status, delivery_interval, delivery_count, billing_interval <> delivery_interval OR billing_count <> delivery_count, imported_id <> '',
	order_amount, created_at, customer_id, name_folded, email_folded FROM contracts;
CREATE INDEX contract_facets_by_creation ON contract_facets (shop_id, line, created_at, id);
CREATE INDEX contract_facets_by_status ON contract_facets (shop_id, line, status, created_at, id);
CREATE INDEX contract_facets_by_interval ON contract_facets (shop_id, line, delivery_interval, delivery_count, created_at, id);
CREATE INDEX contract_facets_prepaid ON contract_facets (shop_id, line, created_at, id) WHERE prepaid;
CREATE INDEX contract_facets_imported ON contract_facets (shop_id, line, created_at, id) WHERE imported;
CREATE INDEX contract_facets_by_amount ON contract_facets (shop_id, line, order_amount, id);
CREATE INDEX contract_facets_by_customer ON contract_facets (shop_id, line, customer_id, status, id);
CREATE INDEX contract_facets_by_email ON contract_facets (shop_id, line, email_folded, id);

-- How many contracts share the facets that have few values.
CREATE TABLE contract_counts (
	shop_id bigint NOT NULL,
	line text NOT NULL,
	status text NOT NULL,
	delivery_interval text NOT NULL,
	delivery_count bigint NOT NULL,
	prepaid boolean NOT NULL,
	imported boolean NOT NULL,
	n bigint NOT NULL,
	PRIMARY KEY (shop_id, line, status, delivery_interval, delivery_count, prepaid, imported)
);
INSERT INTO contract_counts (shop_id, line, status, delivery_interval, delivery_count, prepaid, imported, n)
SELECT shop_id, line, status, delivery_interval, delivery_count, prepaid, imported, COUNT(*) FROM contract_facets
	GROUP BY shop_id, line, status, delivery_interval, delivery_count, prepaid, imported;

-- Rises with every change of what the contracts of a line are found by, so that
-- a number that was counted is known to be still true.
CREATE TABLE search_versions (
	shop_id bigint NOT NULL,
	line text NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, line)
);

-- The line decides which host shows a contract: with it in the index, products
-- are counted without reading contracts.
ALTER TABLE contract_lines ADD COLUMN line text NOT NULL DEFAULT '';
UPDATE contract_lines SET line = (SELECT c.line FROM contracts AS c WHERE c.shop_id = contract_lines.shop_id AND c.id = contract_lines.contract_id);
DROP INDEX contract_lines_by_product;
DROP INDEX contract_lines_by_variant;
DROP INDEX contract_lines_by_selling_plan;
CREATE INDEX contract_lines_by_product ON contract_lines (shop_id, product_id, line, contract_id);
CREATE INDEX contract_lines_by_variant ON contract_lines (shop_id, variant_id, line, contract_id);
CREATE INDEX contract_lines_by_selling_plan ON contract_lines (shop_id, selling_plan_id, line, contract_id);

-- The same for what billing changes.
DROP INDEX contracts_by_update;
DROP INDEX contracts_by_date;
CREATE INDEX contracts_by_update ON contracts (shop_id, updated_at, line, id);
CREATE INDEX contracts_by_date ON contracts (shop_id, next_billing_date, line, id);
