ALTER TABLE api_keys ADD COLUMN tail text NOT NULL DEFAULT ''; -- last characters of the key; empty: not kept
ALTER TABLE api_keys ADD COLUMN created_by text NOT NULL DEFAULT ''; -- empty: not known

-- The requests of API keys and of partners' tokens, for a week.
CREATE TABLE api_requests (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	at bigint NOT NULL,
	key_id bigint NOT NULL,
	key_name text NOT NULL,
	app {{.BinaryText}} NOT NULL, -- partner application; empty: none
	method text NOT NULL,
	path text NOT NULL,
	parameters text NOT NULL, -- names of those in the query, separated by spaces
	status bigint NOT NULL, -- HTTP status
	took_ms bigint NOT NULL,
	request_id text NOT NULL,
	expires_at bigint NOT NULL,
	PRIMARY KEY (shop_id, id)
);
{{.RowSecurity "api_requests"}}
CREATE INDEX api_requests_newest ON api_requests (shop_id, at, id);
CREATE INDEX api_requests_by_key ON api_requests (shop_id, key_id, at, id);
CREATE INDEX api_requests_failed ON api_requests (shop_id, at, id) WHERE status >= 400;
CREATE INDEX api_requests_refused ON api_requests (shop_id, status, at) WHERE status IN (403, 429);
CREATE INDEX api_requests_expired ON api_requests (expires_at, shop_id);
