-- +goose Up
-- Requests that move points and may come again, each written by the transaction that
-- moves them. A row counts until it expires.
CREATE TABLE loyalty_requests (
	shop_id bigint NOT NULL,
	request text COLLATE "C" NOT NULL,
	asked_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	PRIMARY KEY (shop_id, request)
);
CREATE INDEX loyalty_requests_expired ON loyalty_requests (shop_id, expires_at);
