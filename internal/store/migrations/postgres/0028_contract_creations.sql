-- +goose Up
-- Contracts that requests make which may come again: contract_id is 0 until it is known
-- which one was made. A row counts until it expires.
CREATE TABLE contract_creations (
	shop_id bigint NOT NULL,
	request text COLLATE "C" NOT NULL,
	asked_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	contract_id bigint NOT NULL,
	PRIMARY KEY (shop_id, request)
);
CREATE INDEX contract_creations_expired ON contract_creations (shop_id, expires_at);
