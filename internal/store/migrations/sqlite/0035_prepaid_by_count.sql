-- +goose Up
-- Contracts are found as prepaid by how many intervals they are billed and delivered in,
-- whatever the intervals are.
UPDATE contract_facets SET prepaid = false WHERE prepaid AND EXISTS (
	SELECT 1 FROM contracts AS c WHERE c.shop_id = contract_facets.shop_id AND c.id = contract_facets.id AND c.billing_count = c.delivery_count
);
DELETE FROM contract_counts;
INSERT INTO contract_counts (shop_id, line, status, delivery_interval, delivery_count, prepaid, imported, n)
SELECT shop_id, line, status, delivery_interval, delivery_count, prepaid, imported, COUNT(*) FROM contract_facets
	GROUP BY shop_id, line, status, delivery_interval, delivery_count, prepaid, imported;
