-- +goose Up
-- Tokens of partners' connections are keys too. Both columns are empty for a
-- merchant's key.
ALTER TABLE api_keys ADD COLUMN app text COLLATE "C" NOT NULL DEFAULT '', ADD COLUMN connection_id bigint NOT NULL DEFAULT 0;

-- Applications of partners, which belong to no shop.
CREATE TABLE partner_apps (
	id text COLLATE "C" PRIMARY KEY,
	name text NOT NULL,
	base_url text NOT NULL,
	contact text NOT NULL,
	about text NOT NULL,
	scopes text NOT NULL,
	status text NOT NULL,
	secret_hash text NOT NULL,
	old_secret_hash text NOT NULL,
	old_secret_until bigint NOT NULL,
	key_hash text COLLATE "C" NOT NULL,
	old_key_hash text COLLATE "C" NOT NULL,
	old_key_until bigint NOT NULL,
	signing text NOT NULL,
	last_used_at bigint NOT NULL,
	created_at bigint NOT NULL,
	version bigint NOT NULL
);

CREATE TABLE partner_connections (
	shop_id bigint NOT NULL REFERENCES shops (id),
	id bigint NOT NULL,
	app text COLLATE "C" NOT NULL,
	state text COLLATE "C" NOT NULL,
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
	code_hash text COLLATE "C" NOT NULL,
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
	app text COLLATE "C" NOT NULL,
	connection_id bigint NOT NULL,
	day bigint NOT NULL,
	calls bigint NOT NULL,
	errors bigint NOT NULL,
	last_at bigint NOT NULL,
	PRIMARY KEY (shop_id, app, connection_id, day)
);

-- Buckets of the rate limit, which all nodes share: a shop's own has the key 0.
-- They may be lost with the server: then they are full again. Instants are
-- microseconds of this server's clock.
CREATE UNLOGGED TABLE rate_buckets (
	shop_id bigint NOT NULL,
	key_id bigint NOT NULL,
	tokens double precision NOT NULL,
	filled_at bigint NOT NULL,
	PRIMARY KEY (shop_id, key_id)
) WITH (fillfactor = 50);

-- rate_take gives tokens back to the shop's bucket and the key's, fills both up
-- by the time that passed, and takes as many as are wanted and both hold. It
-- returns how many that were, and what is left in the emptier one. Rows are
-- locked in the order of their keys, the shop's first, so that nobody waits in a
-- circle.
-- +goose StatementBegin
CREATE FUNCTION rate_take(shop bigint, key bigint, per_second double precision, burst double precision, want bigint, back bigint,
	OUT granted bigint, OUT remains double precision) LANGUAGE plpgsql AS $$
DECLARE
	found_rows bigint;
	now_us bigint;
BEGIN
	LOOP
		PERFORM 1 FROM rate_buckets WHERE shop_id = shop AND key_id IN (0, key) ORDER BY key_id FOR UPDATE;
		GET DIAGNOSTICS found_rows = ROW_COUNT;
		EXIT WHEN found_rows = 2;
		INSERT INTO rate_buckets (shop_id, key_id, tokens, filled_at)
			SELECT shop, k, burst, 0 FROM (VALUES (0::bigint), (key)) AS t (k) ORDER BY k ON CONFLICT DO NOTHING;
	END LOOP;
	now_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
	SELECT GREATEST(0, MIN(LEAST(burst, tokens + back + GREATEST(0, now_us - filled_at) / 1000000.0 * per_second)))
		INTO remains FROM rate_buckets WHERE shop_id = shop AND key_id IN (0, key);
	granted := LEAST(want, floor(remains)::bigint);
	UPDATE rate_buckets SET tokens = LEAST(burst, tokens + back + GREATEST(0, now_us - filled_at) / 1000000.0 * per_second) - granted,
		filled_at = GREATEST(filled_at, now_us) WHERE shop_id = shop AND key_id IN (0, key);
	remains := remains - granted;
END $$;
-- +goose StatementEnd
