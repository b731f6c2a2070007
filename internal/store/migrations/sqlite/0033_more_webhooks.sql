-- +goose Up
-- What messages about members tell of: the customer, and the member, transaction,
-- reward or store credit. One customer's follow each other, as one contract's do.
ALTER TABLE webhook_messages ADD COLUMN customer_id bigint NOT NULL DEFAULT 0;
ALTER TABLE webhook_messages ADD COLUMN record_id bigint NOT NULL DEFAULT 0;
ALTER TABLE webhook_deliveries ADD COLUMN customer_id bigint NOT NULL DEFAULT 0;
DROP INDEX webhook_deliveries_waiting;
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (shop_id, endpoint_id, contract_id, customer_id, at, id) WHERE due_at IS NOT NULL;
