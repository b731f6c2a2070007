-- +goose Up
-- What requests with a key of their own were answered, or the claim of who
-- carries one out: then the status is 0. A row counts until it expires.
CREATE TABLE idempotency_keys (
	shop_id bigint NOT NULL,
	name text NOT NULL,
	fingerprint text NOT NULL,
	token text NOT NULL,
	claimed_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	status bigint NOT NULL,
	header text NOT NULL,
	body text NOT NULL,
	PRIMARY KEY (shop_id, name)
);
CREATE INDEX idempotency_keys_expired ON idempotency_keys (shop_id, expires_at);
