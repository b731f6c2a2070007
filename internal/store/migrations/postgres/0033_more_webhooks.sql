-- +goose Up
-- What messages about members tell of: the customer, and the member, transaction,
-- reward or store credit. One customer's follow each other, as one contract's do.
ALTER TABLE webhook_messages ADD COLUMN customer_id bigint NOT NULL DEFAULT 0;
ALTER TABLE webhook_messages ADD COLUMN record_id bigint NOT NULL DEFAULT 0;
ALTER TABLE webhook_deliveries ADD COLUMN customer_id bigint NOT NULL DEFAULT 0;
DROP INDEX webhook_deliveries_waiting;
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (shop_id, endpoint_id, contract_id, customer_id, at, id) WHERE due_at IS NOT NULL;

-- When the next order of a contract is announced, and the date for which that is
-- done. It is done only where an endpoint asks for it.
ALTER TABLE contracts ADD COLUMN announce_at bigint;
ALTER TABLE contracts ADD COLUMN announced_for bigint NOT NULL DEFAULT 0;
ALTER TABLE attempts ADD COLUMN announced boolean NOT NULL DEFAULT false;
ALTER TABLE webhook_endpoints ADD COLUMN announces boolean NOT NULL DEFAULT false;
UPDATE contracts SET announce_at = next_billing_date -
	CASE WHEN billing_interval = 'DAY' AND billing_count <= 7 OR billing_interval = 'WEEK' AND billing_count = 1 THEN 86400000 ELSE 259200000 END
	WHERE status = 'ACTIVE' AND auto_charge AND next_billing_date > 0;
CREATE INDEX contracts_unannounced ON contracts (shop_id, announce_at, id) WHERE announce_at IS NOT NULL AND announced_for <> next_billing_date;
CREATE INDEX webhook_endpoints_announcing ON webhook_endpoints (shop_id) WHERE enabled AND announces;
