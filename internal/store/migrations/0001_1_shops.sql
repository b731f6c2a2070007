-- The installation, its shops and whoever calls on their behalf.
--
-- Conventions of all tables: instants are UTC milliseconds and 0 stands for none, except where
-- an index needs NULL; amounts are whole minor units of the currency; every key of a shop's table
-- begins with shop_id; version rises with every change of a row, and a write names the version
-- that it read. What is in double braces is in migrations.go.

{{- if .Postgres}}

CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- enable_row_security keeps the rows of shops apart: a statement finds and writes the rows of the
-- shop that its transaction names in the setting perennial.shop, and no others, whatever its
-- conditions are. One that looks across shops sets perennial.scope to 'all'. Where neither is set
-- nothing is found. FORCE binds the owner of the tables too.
--
-- Each setting is read once for a statement. The planner takes IS NOT NULL for true of nearly
-- every row, and so estimates as many rows as the statement's own condition leaves; a comparison
-- would count the shop twice.
CREATE FUNCTION enable_row_security(of regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	own constant text := $own$(NULLIF(shop_id = (SELECT NULLIF(current_setting('perennial.shop', true), '')::bigint)
		OR (SELECT current_setting('perennial.scope', true) = 'all'), false) IS NOT NULL)$own$;
BEGIN
	EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', of);
	EXECUTE format('CREATE POLICY own_shop ON %s USING %s WITH CHECK %s', of, own, own);
END $$;

-- create_search_view makes the view through which a table is read in which parts of texts are
-- looked for. Behind a policy no index serves LIKE, since PostgreSQL does not let a comparison
-- that might tell what it sees look at rows before the policy has. The view has the condition
-- instead, and the policy lets it read all rows: no statement reads the table itself.
CREATE FUNCTION create_search_view(of regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE POLICY read_by_view ON %s FOR SELECT USING (true)', of);
	EXECUTE format('CREATE VIEW own_%s AS SELECT * FROM %s WHERE shop_id = NULLIF(current_setting(''perennial.shop'', true), '''')::bigint', of, of);
END $$;

-- reject_change is the trigger of tables that are append-only.
CREATE FUNCTION reject_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$;
{{- end}}

-- What this database is: one row, so that a sandbox is never mistaken for production.
CREATE TABLE installation (
	id bigint PRIMARY KEY CHECK (id = 1),
	kind text NOT NULL,
	place text NOT NULL DEFAULT '', -- of the database; a copy is elsewhere
	host text NOT NULL DEFAULT '' -- that last served it
);

-- The next number of a sequence. Nodes take numbers in blocks, so that rows have theirs before
-- they are written.
CREATE TABLE id_blocks (
	name text PRIMARY KEY,
	next bigint NOT NULL
);
INSERT INTO id_blocks (name, next) VALUES ('row', 1), ('shop', 1);

-- The row that a node writes to check that the database can be written to.
CREATE TABLE probes (
	id bigint NOT NULL PRIMARY KEY CHECK (id = 1),
	written_at bigint NOT NULL
);

-- A shop.
CREATE TABLE shops (
	id bigint PRIMARY KEY,
	domain {{.BinaryText}} NOT NULL UNIQUE, -- <store>.myshopify.com
	platform_id bigint NOT NULL,
	token text NOT NULL, -- encrypted
	time_zone text NOT NULL, -- IANA name
	currency text NOT NULL,
	order_hour bigint NOT NULL, -- local hour and minute at which orders are charged
	order_minute bigint NOT NULL,
	connected boolean NOT NULL,
	settings text NOT NULL, -- JSON
	subscribe_error {{.BinaryText}} NOT NULL, -- why the platform refuses the webhook subscription; empty: it does not
	catalogue bigint NOT NULL, -- incremented with every change of plan groups and bundles
	-- Reconciliation.
	reconciled_at bigint NOT NULL, -- the last one covers what changed before
	reconcile_at bigint NOT NULL, -- when the next one is due
	reading text NOT NULL, -- JSON: how far one in progress has come; empty: none
	-- Guards against charging wrongly.
	frozen_at bigint NOT NULL, -- nothing is charged until an operator lifts the freeze
	confirm_by bigint NOT NULL, -- nothing is charged from here on until the platform confirms the epoch
	held_until bigint NOT NULL, -- charges are put off until then, because nearly all were declined
	check_at bigint NOT NULL, -- when the platform's epoch and charges are read next
	guard text NOT NULL, -- JSON: what no query looks for
	created_at bigint NOT NULL,
	version bigint NOT NULL
);

-- How the charges of a shop went in a short slot of time.
CREATE TABLE charge_stats (
	shop_id bigint NOT NULL REFERENCES shops (id),
	slot bigint NOT NULL, -- instant at which it begins
	sent bigint NOT NULL,
	ended bigint NOT NULL, -- with a known outcome
	paid bigint NOT NULL,
	declined bigint NOT NULL, -- for the first time, or by the gateway's fault
	gateway bigint NOT NULL, -- of those declined, by the gateway's fault
	PRIMARY KEY (shop_id, slot)
);
{{.RowSecurity "charge_stats"}}

-- A difference between the platform's charges and ours.
CREATE TABLE findings (
	shop_id bigint NOT NULL REFERENCES shops (id),
	id bigint NOT NULL,
	kind text NOT NULL,
	contract_id bigint NOT NULL,
	cycle bigint NOT NULL, -- 0: none
	object text NOT NULL, -- graph id, where contract and cycle do not identify it
	what text NOT NULL,
	first_seen_at bigint NOT NULL,
	last_seen_at bigint NOT NULL,
	resolved_at bigint NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id),
	UNIQUE (shop_id, kind, contract_id, cycle, object)
);
CREATE INDEX findings_open ON findings (shop_id, kind, id) WHERE resolved_at = 0;
{{.RowSecurity "findings"}}

-- An API key: a merchant's, or the token of a partner's connection.
CREATE TABLE api_keys (
	shop_id bigint NOT NULL REFERENCES shops (id),
	id bigint NOT NULL,
	name text NOT NULL,
	hint text NOT NULL, -- last characters of the key
	hash {{.BinaryText}} NOT NULL, -- hexadecimal
	scopes text NOT NULL, -- separated by spaces
	app {{.BinaryText}} NOT NULL, -- partner application; empty: a merchant's key
	connection_id bigint NOT NULL, -- 0: a merchant's key
	created_at bigint NOT NULL,
	last_used_at bigint NOT NULL,
	revoked_at bigint NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id),
	UNIQUE (shop_id, hash)
);
-- Read before the shop is known.
CREATE INDEX api_keys_by_hash ON api_keys (hash);
{{.RowSecurity "api_keys"}}

-- The response to a request with an idempotency key, or the claim of the process that carries
-- the request out: then status is 0. A row counts until it expires.
CREATE TABLE idempotency_keys (
	shop_id bigint NOT NULL,
	name {{.BinaryText}} NOT NULL, -- hexadecimal, like fingerprint
	fingerprint text NOT NULL, -- of the request
	token text NOT NULL, -- of the claim
	claimed_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	status bigint NOT NULL, -- HTTP status
	header text NOT NULL, -- JSON
	body text NOT NULL,
	PRIMARY KEY (shop_id, name)
);
CREATE INDEX idempotency_keys_expired ON idempotency_keys (shop_id, expires_at);
{{.RowSecurity "idempotency_keys"}}

-- A partner's application, which belongs to no shop.
CREATE TABLE partner_apps (
	id {{.BinaryText}} PRIMARY KEY,
	name text NOT NULL,
	base_url text NOT NULL,
	contact text NOT NULL,
	about text NOT NULL,
	scopes text NOT NULL, -- separated by spaces
	status text NOT NULL,
	secret_hash text NOT NULL,
	old_secret_hash text NOT NULL,
	old_secret_until bigint NOT NULL,
	key_hash {{.BinaryText}} NOT NULL,
	old_key_hash {{.BinaryText}} NOT NULL,
	old_key_until bigint NOT NULL,
	signing text NOT NULL, -- secret that signs calls to the application, encrypted
	last_used_at bigint NOT NULL,
	created_at bigint NOT NULL,
	version bigint NOT NULL
);

-- A connection of a partner's application with a shop.
CREATE TABLE partner_connections (
	shop_id bigint NOT NULL REFERENCES shops (id),
	id bigint NOT NULL,
	app {{.BinaryText}} NOT NULL,
	state {{.BinaryText}} NOT NULL,
	direction text NOT NULL,
	scopes text NOT NULL, -- asked for while PENDING, then granted; separated by spaces
	wanted text NOT NULL, -- scopes that a connected application asks for in addition
	requested_by text NOT NULL,
	requested_at bigint NOT NULL,
	expires_at bigint NOT NULL, -- until when the merchant can decide
	decided_by text NOT NULL,
	decided_at bigint NOT NULL,
	ended_at bigint NOT NULL,
	end_reason text NOT NULL,
	return_url text NOT NULL,
	client_state text NOT NULL, -- the application's, returned with every call
	code_hash {{.BinaryText}} NOT NULL, -- of the code that can be exchanged, hexadecimal; empty: none
	code_until bigint NOT NULL,
	key_id bigint NOT NULL, -- api_keys.id of the token; 0: none
	token_at bigint NOT NULL, -- when the token was handed out
	notification text NOT NULL, -- that the application has not received
	call_id text NOT NULL, -- the same in all tries of a notification
	call_at bigint NOT NULL, -- when it is sent next
	tries bigint NOT NULL, -- that failed
	failure text NOT NULL, -- of the last try
	due_at bigint,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id)
);
-- An application has one open connection with a shop.
CREATE UNIQUE INDEX partner_connections_open ON partner_connections (shop_id, app) WHERE state IN ('PENDING', 'CONNECTED');
CREATE INDEX partner_connections_due ON partner_connections (shop_id, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX partner_connections_due_shops ON partner_connections (due_at, shop_id) WHERE due_at IS NOT NULL;
-- Read before the shop is known.
CREATE INDEX partner_connections_by_app ON partner_connections (app, id);
CREATE INDEX partner_connections_by_code ON partner_connections (code_hash) WHERE code_hash <> '';
{{.RowSecurity "partner_connections"}}

-- How often an application called on a day.
CREATE TABLE partner_calls (
	shop_id bigint NOT NULL,
	app {{.BinaryText}} NOT NULL,
	connection_id bigint NOT NULL, -- 0: with a merchant's key
	day bigint NOT NULL, -- its midnight UTC
	calls bigint NOT NULL,
	errors bigint NOT NULL,
	last_at bigint NOT NULL,
	PRIMARY KEY (shop_id, app, connection_id, day)
);
{{.RowSecurity "partner_calls"}}

{{- if .Postgres}}

-- A bucket of the rate limit, which all nodes share: a shop's own has the key 0. Buckets may be
-- lost with the server: then they are full again.
CREATE UNLOGGED TABLE rate_buckets (
	shop_id bigint NOT NULL,
	key_id bigint NOT NULL,
	tokens double precision NOT NULL,
	filled_at bigint NOT NULL, -- microseconds of this server's clock
	PRIMARY KEY (shop_id, key_id)
) WITH (fillfactor = 50);
{{.RowSecurity "rate_buckets"}}

-- rate_take gives tokens back to the shop's bucket and the key's, fills both up by the time that
-- passed, and takes as many as are wanted and both hold. It returns how many that were, and what
-- is left in the emptier one. Rows are locked in the order of their keys, the shop's first, so
-- that transactions do not deadlock.
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
{{- end}}
