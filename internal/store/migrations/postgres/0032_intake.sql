-- +goose Up
-- Contracts of the platform's that cannot be taken over, and why.
CREATE TABLE unread_contracts (
	shop_id bigint NOT NULL,
	contract_id bigint NOT NULL,
	reason text COLLATE "C" NOT NULL,
	since_at bigint NOT NULL,
	seen_at bigint NOT NULL,
	PRIMARY KEY (shop_id, contract_id)
);
-- Why the platform tells a store's events to nobody; empty: it tells them.
ALTER TABLE shops ADD COLUMN unheard text COLLATE "C" NOT NULL DEFAULT '';
-- What tells the card behind a contract's payment method from another; empty: not known.
ALTER TABLE contracts ADD COLUMN card text COLLATE "C" NOT NULL DEFAULT '';
