-- Conventions: instants are UTC milliseconds and 0 stands for none, save where
-- an index needs NULL; amounts are whole minor units. Every key begins with the
-- shop. The columns are those of the schema for PostgreSQL.

-- +goose Up
-- What the installation is: one row, so that a sandbox is never taken for more.
CREATE TABLE installation (
	id bigint PRIMARY KEY CHECK (id = 1),
	kind text NOT NULL
);

-- Numbers are handed out in blocks, so that rows know theirs before they are
-- written.
CREATE TABLE id_blocks (
	name text PRIMARY KEY,
	next bigint NOT NULL
);
INSERT INTO id_blocks (name, next) VALUES ('row', 1), ('shop', 1);

CREATE TABLE shops (
	id bigint PRIMARY KEY,
	domain text NOT NULL UNIQUE,
	platform_id bigint NOT NULL,
	token text NOT NULL,
	time_zone text NOT NULL,
	currency text NOT NULL,
	order_hour bigint NOT NULL,
	order_minute bigint NOT NULL,
	connected boolean NOT NULL,
	settings text NOT NULL,
	reconciled_at bigint NOT NULL,
	reconcile_at bigint NOT NULL,
	created_at bigint NOT NULL,
	version bigint NOT NULL
);

CREATE TABLE api_keys (
	shop_id bigint NOT NULL REFERENCES shops (id),
	id bigint NOT NULL,
	name text NOT NULL,
	hint text NOT NULL,
	hash text NOT NULL,
	scopes text NOT NULL,
	created_at bigint NOT NULL,
	last_used_at bigint NOT NULL,
	revoked_at bigint NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id),
	UNIQUE (shop_id, hash)
);
-- The one question that is asked before the shop is known.
CREATE INDEX api_keys_by_hash ON api_keys (hash);

CREATE TABLE contracts (
	shop_id bigint NOT NULL REFERENCES shops (id),
	id bigint NOT NULL,
	line text NOT NULL,
	revision bigint NOT NULL,
	status text NOT NULL,
	currency text NOT NULL,
	customer_id bigint NOT NULL,
	customer_email text NOT NULL,
	customer_first_name text NOT NULL,
	customer_last_name text NOT NULL,
	customer_name text NOT NULL,
	customer_phone text NOT NULL,
	email_folded text NOT NULL,
	name_folded text NOT NULL,
	billing_interval text NOT NULL,
	billing_count bigint NOT NULL,
	billing_anchors text NOT NULL,
	delivery_interval text NOT NULL,
	delivery_count bigint NOT NULL,
	delivery_anchors text NOT NULL,
	lines text NOT NULL,
	order_amount bigint NOT NULL, -- of the lines, in thousandths of the main unit
	origin_order_id bigint NOT NULL,
	origin_order_name text NOT NULL,
	payment_method text NOT NULL,
	payment_usable boolean NOT NULL,
	billing_country text NOT NULL,
	delivery_country text NOT NULL,
	delivery_price bigint NOT NULL,
	note text NOT NULL,
	attributes text NOT NULL,
	imported_id text NOT NULL,
	last_payment text NOT NULL,
	series_cycle bigint NOT NULL,
	series_start bigint NOT NULL,
	next_billing_date bigint NOT NULL,
	max_cycles bigint NOT NULL,
	min_cycles bigint NOT NULL,
	auto_charge boolean NOT NULL,
	orders bigint NOT NULL,
	lifetime bigint NOT NULL,
	last_order_id bigint NOT NULL,
	last_order text NOT NULL,
	last_order_at bigint NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	activated_at bigint NOT NULL,
	paused_at bigint NOT NULL,
	cancelled_at bigint NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id)
);
CREATE INDEX contracts_by_creation ON contracts (shop_id, created_at, id);
CREATE INDEX contracts_by_update ON contracts (shop_id, updated_at);
CREATE INDEX contracts_by_date ON contracts (shop_id, next_billing_date);
CREATE INDEX contracts_by_customer ON contracts (shop_id, customer_id);
CREATE INDEX contracts_by_email ON contracts (shop_id, email_folded);
CREATE INDEX contracts_by_payment_method ON contracts (shop_id, payment_method) WHERE payment_method <> '';

-- By which products contracts are found; the lines themselves are in contracts.
CREATE TABLE contract_lines (
	shop_id bigint NOT NULL,
	contract_id bigint NOT NULL,
	position bigint NOT NULL,
	product_id bigint NOT NULL,
	variant_id bigint NOT NULL,
	selling_plan_id bigint NOT NULL,
	PRIMARY KEY (shop_id, contract_id, position),
	FOREIGN KEY (shop_id, contract_id) REFERENCES contracts (shop_id, id)
);
CREATE INDEX contract_lines_by_product ON contract_lines (shop_id, product_id);
CREATE INDEX contract_lines_by_variant ON contract_lines (shop_id, variant_id);
CREATE INDEX contract_lines_by_selling_plan ON contract_lines (shop_id, selling_plan_id);

-- By which texts contracts are found in part: numbers, names, addresses, orders,
-- all in lower case. They have a table of their own because their index is dear
-- and billing changes none of them.
CREATE TABLE search_terms (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	contract_id bigint NOT NULL,
	kind text NOT NULL,
	term text NOT NULL,
	PRIMARY KEY (shop_id, id),
	UNIQUE (shop_id, contract_id, kind, term),
	FOREIGN KEY (shop_id, contract_id) REFERENCES contracts (shop_id, id)
);

-- The index of parts of three characters and more; a row's number is the term's.
CREATE VIRTUAL TABLE search_parts USING fts5 (term, content = '', contentless_delete = 1, detail = full, tokenize = 'trigram');
-- +goose StatementBegin
CREATE TRIGGER search_terms_added AFTER INSERT ON search_terms BEGIN
	INSERT INTO search_parts (rowid, term) VALUES (new.id, new.term);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER search_terms_removed AFTER DELETE ON search_terms BEGIN
	DELETE FROM search_parts WHERE rowid = old.id;
END;
-- +goose StatementEnd

CREATE TABLE attempts (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	contract_id bigint NOT NULL,
	cycle bigint NOT NULL,
	status text NOT NULL,
	billing_date bigint NOT NULL,
	moved boolean NOT NULL,
	due_at bigint,
	publish_at bigint,
	try bigint NOT NULL,
	key text NOT NULL,
	first_sent_at bigint NOT NULL,
	sent_at bigint NOT NULL,
	failures bigint NOT NULL,
	polls bigint NOT NULL,
	manual boolean NOT NULL,
	attempted_at bigint NOT NULL,
	platform_id text NOT NULL,
	error_code text NOT NULL,
	error_message text NOT NULL,
	action_url text NOT NULL,
	order_id bigint NOT NULL,
	order_name text NOT NULL,
	amount bigint NOT NULL,
	currency text NOT NULL,
	lines text NOT NULL,
	note text NOT NULL,
	flags text NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id),
	UNIQUE (shop_id, contract_id, cycle),
	FOREIGN KEY (shop_id, contract_id) REFERENCES contracts (shop_id, id)
);
CREATE INDEX attempts_due ON attempts (shop_id, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX attempts_due_shops ON attempts (due_at, shop_id) WHERE due_at IS NOT NULL;
CREATE INDEX attempts_unpublished ON attempts (shop_id, publish_at, id) WHERE publish_at IS NOT NULL;
CREATE INDEX attempts_unpublished_shops ON attempts (publish_at, shop_id) WHERE publish_at IS NOT NULL;
CREATE INDEX attempts_by_key ON attempts (shop_id, key) WHERE key <> '';
-- What a contract still has before it, without its past.
CREATE INDEX attempts_open ON attempts (shop_id, contract_id, cycle)
	WHERE status IN ('QUEUED', 'REQUESTING', 'PROGRESS', 'SECURITY_CHALLENGE', 'SHOPIFY_EXCEPTION');

CREATE TABLE charge_requests (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	contract_id bigint NOT NULL,
	requested_at bigint NOT NULL,
	PRIMARY KEY (shop_id, id),
	FOREIGN KEY (shop_id, contract_id) REFERENCES contracts (shop_id, id)
);
CREATE INDEX charge_requests_by_contract ON charge_requests (shop_id, contract_id, requested_at);

CREATE TABLE activity (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	entity_id bigint NOT NULL,
	entity_type text NOT NULL,
	event text NOT NULL,
	status text NOT NULL,
	source text NOT NULL,
	actor text NOT NULL,
	client_ip text NOT NULL,
	recorded_at bigint NOT NULL,
	info text NOT NULL,
	PRIMARY KEY (shop_id, id)
);
CREATE INDEX activity_by_time ON activity (shop_id, recorded_at, id);
CREATE INDEX activity_by_entity ON activity (shop_id, entity_id, recorded_at);

CREATE TABLE inbox (
	shop_id bigint NOT NULL,
	id text NOT NULL,
	topic text NOT NULL,
	triggered_at bigint NOT NULL,
	api_version text NOT NULL,
	contract_id bigint NOT NULL,
	revision bigint NOT NULL,
	attempt text NOT NULL,
	key text NOT NULL,
	cycle bigint NOT NULL,
	payment_method text NOT NULL,
	customer_id bigint NOT NULL,
	received_at bigint NOT NULL,
	due_at bigint,
	finished_at bigint,
	failures bigint NOT NULL,
	reason text NOT NULL,
	PRIMARY KEY (shop_id, id)
);
CREATE INDEX inbox_due ON inbox (shop_id, due_at, received_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX inbox_due_shops ON inbox (due_at, shop_id) WHERE due_at IS NOT NULL;
CREATE INDEX inbox_finished ON inbox (shop_id, finished_at) WHERE finished_at IS NOT NULL;
