-- What comes in from the platform and goes out to customers and merchants, and the activity log.

-- An entry of the activity log.
CREATE TABLE activity (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	entity_id bigint NOT NULL,
	entity_type {{.BinaryText}} NOT NULL,
	event {{.BinaryText}} NOT NULL,
	status {{.BinaryText}} NOT NULL,
	source {{.BinaryText}} NOT NULL,
	actor {{.BinaryText}} NOT NULL,
	client_ip {{.BinaryText}} NOT NULL,
	recorded_at bigint NOT NULL,
	info {{.BinaryText}} NOT NULL, -- JSON
	PRIMARY KEY (shop_id, id)
);
CREATE INDEX activity_by_time ON activity (shop_id, recorded_at, id);
-- In the order in which the log of an entity is read: without id, SQLite reads the whole log.
CREATE INDEX activity_by_entity ON activity (shop_id, entity_id, recorded_at, id);
{{.RowSecurity "activity"}}

-- A webhook of the platform that was received.
CREATE TABLE inbox (
	shop_id bigint NOT NULL,
	id {{.BinaryText}} NOT NULL, -- the platform's
	topic text NOT NULL,
	triggered_at bigint NOT NULL,
	api_version text NOT NULL,
	contract_id bigint NOT NULL,
	revision bigint NOT NULL, -- of the contract; bits of the platform's unsigned number
	attempt text NOT NULL, -- graph id of the platform's billing attempt
	key text NOT NULL, -- idempotency key of it
	cycle bigint NOT NULL,
	payment_method text NOT NULL,
	customer_id bigint NOT NULL,
	kept_customer_id bigint NOT NULL, -- into which customer_id was merged; 0: not merged
	received_at bigint NOT NULL,
	due_at bigint, -- NULL: it is finished
	finished_at bigint,
	failures bigint NOT NULL,
	reason text NOT NULL, -- of the last failure
	PRIMARY KEY (shop_id, id)
);
CREATE INDEX inbox_due ON inbox (shop_id, due_at, received_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX inbox_due_shops ON inbox (due_at, shop_id) WHERE due_at IS NOT NULL;
CREATE INDEX inbox_finished ON inbox (shop_id, finished_at) WHERE finished_at IS NOT NULL;
{{.RowSecurity "inbox"}}

-- The topics and the shop with which a signed body was received first: the platform signs
-- neither. A signature counts for one shop of all, so that the table is no shop's own.
CREATE TABLE webhook_signatures (
	signature text NOT NULL PRIMARY KEY,
	family text NOT NULL, -- of topics
	shop_id bigint NOT NULL,
	received_at bigint NOT NULL
);
CREATE INDEX webhook_signatures_age ON webhook_signatures (shop_id, received_at);

-- An e-mail to be sent, or that was.
CREATE TABLE messages (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	kind text NOT NULL,
	recipient text NOT NULL,
	from_name text NOT NULL,
	subject text NOT NULL,
	body text NOT NULL, -- JSON, encrypted: it may hold links that sign in; empty once it is removed
	contract_id bigint NOT NULL,
	source text NOT NULL,
	actor text NOT NULL,
	client_ip text NOT NULL,
	dedupe_key {{.BinaryText}} NOT NULL,
	status {{.BinaryText}} NOT NULL,
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
{{.RowSecurity "messages"}}

-- A link that signs a subscriber in to the portal.
CREATE TABLE portal_links (
	shop_id bigint NOT NULL,
	hash {{.BinaryText}} NOT NULL,
	customer_id bigint NOT NULL,
	contract_id bigint NOT NULL,
	created_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	used_at bigint NOT NULL,
	PRIMARY KEY (shop_id, hash)
);
CREATE INDEX portal_links_expired ON portal_links (shop_id, expires_at);
{{.RowSecurity "portal_links"}}

-- A session of a subscriber in the portal.
CREATE TABLE portal_sessions (
	shop_id bigint NOT NULL,
	hash {{.BinaryText}} NOT NULL, -- of the cookie
	customer_id bigint NOT NULL,
	via text NOT NULL, -- how the subscriber signed in
	created_at bigint NOT NULL,
	seen_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	PRIMARY KEY (shop_id, hash)
);
CREATE INDEX portal_sessions_expired ON portal_sessions (shop_id, expires_at);
{{.RowSecurity "portal_sessions"}}

-- When an address or a client asked for links lately.
CREATE TABLE portal_throttles (
	shop_id bigint NOT NULL,
	subject {{.BinaryText}} NOT NULL, -- hash of the address or the client
	times text NOT NULL,
	expires_at bigint NOT NULL,
	PRIMARY KEY (shop_id, subject)
);
CREATE INDEX portal_throttles_expired ON portal_throttles (shop_id, expires_at);
{{.RowSecurity "portal_throttles"}}

-- A merchant's server that receives webhooks.
CREATE TABLE webhook_endpoints (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	url text NOT NULL,
	types text NOT NULL, -- separated by spaces
	secret text NOT NULL, -- encrypted
	old_secret text NOT NULL, -- before the last rotation, encrypted
	old_secret_until bigint NOT NULL,
	enabled boolean NOT NULL,
	upcoming_orders boolean NOT NULL, -- one of types is for upcoming orders
	reason text NOT NULL, -- why the service disabled it
	failing_since bigint NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id)
);
CREATE INDEX webhook_endpoints_of_upcoming_orders ON webhook_endpoints (shop_id) WHERE enabled AND upcoming_orders;
{{.RowSecurity "webhook_endpoints"}}

-- A message to endpoints. Numbers are 0 where it is about no such thing.
CREATE TABLE webhook_messages (
	shop_id bigint NOT NULL,
	id {{.BinaryText}} NOT NULL,
	type text NOT NULL,
	line text NOT NULL,
	contract_id bigint NOT NULL,
	attempt_id bigint NOT NULL,
	customer_id bigint NOT NULL,
	record_id bigint NOT NULL, -- of the account, entry, reward or store credit, by type
	at bigint NOT NULL, -- when it happened
	body text NOT NULL, -- encrypted; empty until it is rendered
	expires_at bigint NOT NULL,
	PRIMARY KEY (shop_id, id)
);
CREATE INDEX webhook_messages_unrendered ON webhook_messages (shop_id, at) WHERE body = '';
CREATE INDEX webhook_messages_expired ON webhook_messages (shop_id, expires_at);
{{.RowSecurity "webhook_messages"}}

-- A message for one endpoint, and what became of it.
CREATE TABLE webhook_deliveries (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	endpoint_id bigint NOT NULL,
	message_id {{.BinaryText}} NOT NULL,
	type text NOT NULL,
	contract_id bigint NOT NULL,
	customer_id bigint NOT NULL,
	at bigint NOT NULL, -- when it happened
	status {{.BinaryText}} NOT NULL,
	tries bigint NOT NULL,
	due_at bigint, -- of the next try; NULL: no more tries
	tried_at bigint NOT NULL,
	status_code bigint NOT NULL, -- HTTP status of the last response; 0: no response
	error text NOT NULL,
	duration_ms bigint NOT NULL, -- of the last try
	response text NOT NULL, -- first bytes of the last response
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id),
	FOREIGN KEY (shop_id, endpoint_id) REFERENCES webhook_endpoints (shop_id, id) ON DELETE CASCADE,
	FOREIGN KEY (shop_id, message_id) REFERENCES webhook_messages (shop_id, id) ON DELETE CASCADE
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (due_at, shop_id) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_next ON webhook_deliveries (shop_id, endpoint_id, due_at) WHERE due_at IS NOT NULL;
-- Deliveries to an endpoint about the same contract or customer are sent in order.
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (shop_id, endpoint_id, contract_id, customer_id, at, id) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_by_endpoint ON webhook_deliveries (shop_id, endpoint_id, at, id);
CREATE INDEX webhook_deliveries_by_message ON webhook_deliveries (shop_id, message_id);
CREATE INDEX webhook_deliveries_by_time ON webhook_deliveries (shop_id, at, id);
{{.RowSecurity "webhook_deliveries"}}
