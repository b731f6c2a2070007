-- +goose Up
-- What the platform asks for under the laws of data protection.
CREATE TABLE privacy_requests (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	kind text NOT NULL,
	customer_id bigint NOT NULL,
	received_at bigint NOT NULL,
	due_by bigint NOT NULL,
	due_at bigint, -- when the service does something about it next
	ready_at bigint NOT NULL,
	downloaded_at bigint NOT NULL,
	reminded_at bigint NOT NULL,
	closed_at bigint NOT NULL,
	records bigint NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id),
	FOREIGN KEY (shop_id) REFERENCES shops (id)
);
CREATE INDEX privacy_requests_due ON privacy_requests (due_at, shop_id) WHERE due_at IS NOT NULL;
CREATE INDEX privacy_requests_open ON privacy_requests (due_by, shop_id) WHERE closed_at = 0;
