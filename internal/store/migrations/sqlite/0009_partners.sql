-- +goose Up
-- Tokens of partners' connections are keys too. Both columns are empty for a
-- merchant's key.
ALTER TABLE api_keys ADD COLUMN app text NOT NULL DEFAULT '';
ALTER TABLE api_keys ADD COLUMN connection_id bigint NOT NULL DEFAULT 0;

-- Applications of partners, which belong to no shop.
CREATE TABLE partner_apps (
	id text PRIMARY KEY,
	name text NOT NULL,
	base_url text NOT NULL,
	contact text NOT NULL,
	about text NOT NULL,
	scopes text NOT NULL,
	status text NOT NULL,
	secret_hash text NOT NULL,
	old_secret_hash text NOT NULL,
	old_secret_until bigint NOT NULL,
	key_hash text NOT NULL,
	old_key_hash text NOT NULL,
	old_key_until bigint NOT NULL,
	signing text NOT NULL,
	last_used_at bigint NOT NULL,
	created_at bigint NOT NULL,
	version bigint NOT NULL
);

CREATE TABLE partner_connections (
	shop_id bigint NOT NULL REFERENCES shops (id),
	id bigint NOT NULL,
	app text NOT NULL,
	state text NOT NULL,
	direction text NOT NULL,
	scopes text NOT NULL,
	wanted text NOT NULL,
	requested_by text NOT NULL,
	requested_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	decided_by text NOT NULL,
	decided_at bigint NOT NULL,
	ended_at bigint NOT NULL,
	end_reason text NOT NULL,
	return_url text NOT NULL,
	client_state text NOT NULL,
	code_hash text NOT NULL,
	code_until bigint NOT NULL,
	key_id bigint NOT NULL,
	key_at bigint NOT NULL,
	owed text NOT NULL,
	call_id text NOT NULL,
	call_at bigint NOT NULL,
	tries bigint NOT NULL,
	failure text NOT NULL,
	due_at bigint,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id)
);
-- An application has one connection with a store at a time.
CREATE UNIQUE INDEX partner_connections_open ON partner_connections (shop_id, app) WHERE state IN ('PENDING', 'CONNECTED');
CREATE INDEX partner_connections_due ON partner_connections (shop_id, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX partner_connections_due_shops ON partner_connections (due_at, shop_id) WHERE due_at IS NOT NULL;
-- What applications ask for before the shop is known.
CREATE INDEX partner_connections_by_app ON partner_connections (app, id);
CREATE INDEX partner_connections_by_code ON partner_connections (code_hash) WHERE code_hash <> '';

-- How often applications called, by day. Connection 0 means with a merchant's key.
CREATE TABLE partner_calls (
	shop_id bigint NOT NULL,
	app text NOT NULL,
	connection_id bigint NOT NULL,
	day bigint NOT NULL,
	calls bigint NOT NULL,
	errors bigint NOT NULL,
	last_at bigint NOT NULL,
	PRIMARY KEY (shop_id, app, connection_id, day)
);
