-- +goose Up
-- Under which topics and of which store a signed body was received: the platform signs
-- neither.
CREATE TABLE webhook_signatures (
	signature text NOT NULL PRIMARY KEY,
	family text NOT NULL,
	shop_id bigint NOT NULL,
	received_at bigint NOT NULL
);
CREATE INDEX webhook_signatures_age ON webhook_signatures (shop_id, received_at);
