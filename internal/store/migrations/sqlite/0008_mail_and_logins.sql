-- +goose Up
-- E-mails that wait to be sent, and what became of them. The words are sealed:
-- some of them open something.
CREATE TABLE messages (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	kind text NOT NULL,
	recipient text NOT NULL,
	from_name text NOT NULL,
	subject text NOT NULL,
	body text NOT NULL,
	contract_id bigint NOT NULL,
	source text NOT NULL,
	actor text NOT NULL,
	client_ip text NOT NULL,
	dedupe_key text NOT NULL,
	status text NOT NULL,
	due_at bigint,
	expires_at bigint NOT NULL,
	tries bigint NOT NULL,
	last_error text NOT NULL,
	created_at bigint NOT NULL,
	sent_at bigint NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id),
	UNIQUE (shop_id, dedupe_key)
);
CREATE INDEX messages_due ON messages (shop_id, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX messages_due_shops ON messages (due_at, shop_id) WHERE due_at IS NOT NULL;

-- What lets subscribers in, by the hashes of what they hold.
CREATE TABLE portal_links (
	shop_id bigint NOT NULL,
	hash text NOT NULL,
	customer_id bigint NOT NULL,
	contract_id bigint NOT NULL,
	created_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	used_at bigint NOT NULL,
	PRIMARY KEY (shop_id, hash)
);
CREATE INDEX portal_links_expired ON portal_links (shop_id, expires_at);

CREATE TABLE portal_sessions (
	shop_id bigint NOT NULL,
	hash text NOT NULL,
	customer_id bigint NOT NULL,
	via text NOT NULL,
	created_at bigint NOT NULL,
	seen_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	PRIMARY KEY (shop_id, hash)
);
CREATE INDEX portal_sessions_expired ON portal_sessions (shop_id, expires_at);

-- When links were asked for lately, by the hash of an address or a client.
CREATE TABLE portal_throttles (
	shop_id bigint NOT NULL,
	subject text NOT NULL,
	times text NOT NULL,
	expires_at bigint NOT NULL,
	PRIMARY KEY (shop_id, subject)
);
CREATE INDEX portal_throttles_expired ON portal_throttles (shop_id, expires_at);
