-- +goose Up
-- Servers of merchants that are told what happens. Secrets are sealed.
CREATE TABLE webhook_endpoints (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	url text NOT NULL,
	types text NOT NULL,
	secret text NOT NULL,
	old_secret text NOT NULL,
	old_till bigint NOT NULL,
	enabled boolean NOT NULL,
	reason text NOT NULL,
	failing_since bigint NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id)
);

-- What they are told, each once. A body is made when it is first needed, and sealed.
CREATE TABLE webhook_messages (
	shop_id bigint NOT NULL,
	id text COLLATE "C" NOT NULL,
	type text NOT NULL,
	line text NOT NULL,
	contract_id bigint NOT NULL,
	attempt_id bigint NOT NULL,
	at bigint NOT NULL,
	body text NOT NULL,
	expires_at bigint NOT NULL,
	PRIMARY KEY (shop_id, id)
);
CREATE INDEX webhook_messages_unwritten ON webhook_messages (shop_id, at) WHERE body = '';
CREATE INDEX webhook_messages_expired ON webhook_messages (shop_id, expires_at);

CREATE TABLE webhook_deliveries (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	endpoint_id bigint NOT NULL,
	message_id text COLLATE "C" NOT NULL,
	type text NOT NULL,
	contract_id bigint NOT NULL,
	at bigint NOT NULL,
	status text COLLATE "C" NOT NULL,
	tries bigint NOT NULL,
	due_at bigint,
	tried_at bigint NOT NULL,
	code bigint NOT NULL,
	error text NOT NULL,
	took bigint NOT NULL,
	answer text NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id),
	FOREIGN KEY (shop_id, endpoint_id) REFERENCES webhook_endpoints (shop_id, id) ON DELETE CASCADE,
	FOREIGN KEY (shop_id, message_id) REFERENCES webhook_messages (shop_id, id) ON DELETE CASCADE
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (due_at, shop_id) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_next ON webhook_deliveries (shop_id, endpoint_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (shop_id, endpoint_id, contract_id, at, id) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_of ON webhook_deliveries (shop_id, endpoint_id, at, id);
CREATE INDEX webhook_deliveries_message ON webhook_deliveries (shop_id, message_id);
CREATE INDEX webhook_deliveries_listed ON webhook_deliveries (shop_id, at, id);
