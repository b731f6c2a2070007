-- +goose Up
-- Where a contract came from, and what was said when it was cancelled.
ALTER TABLE contracts ADD COLUMN origin text NOT NULL DEFAULT 'STORE_FRONT';
ALTER TABLE contracts ADD COLUMN split_from bigint NOT NULL DEFAULT 0;
ALTER TABLE contracts ADD COLUMN cancellation_feedback text NOT NULL DEFAULT '';
ALTER TABLE contracts ADD COLUMN cancellation_note text NOT NULL DEFAULT '';
-- A split that is under way, as JSON; empty when there is none.
ALTER TABLE contracts ADD COLUMN split text NOT NULL DEFAULT '';
-- A change that waits for its day, as JSON, and when the service must act on the
-- contract by itself.
ALTER TABLE contracts ADD COLUMN pending_change text NOT NULL DEFAULT '';
ALTER TABLE contracts ADD COLUMN amend_at bigint;
CREATE INDEX contracts_to_amend ON contracts (shop_id, amend_at, id) WHERE amend_at IS NOT NULL;
CREATE INDEX contracts_to_amend_shops ON contracts (amend_at, shop_id) WHERE amend_at IS NOT NULL;
-- Prices of its lines change with the orders.
ALTER TABLE contracts ADD COLUMN priced boolean NOT NULL DEFAULT false;
