-- Messages are numbered by what they are about, say who caused them, and are events of the stores that read these.

ALTER TABLE webhook_messages ADD COLUMN sequence bigint NOT NULL DEFAULT 0; -- among the messages about its contract or customer; 0: about none
ALTER TABLE webhook_messages ADD COLUMN cause_source {{.BinaryText}} NOT NULL DEFAULT ''; -- as in activity
ALTER TABLE webhook_messages ADD COLUMN cause_by {{.BinaryText}} NOT NULL DEFAULT '';
-- What orders the messages that committed since positions were given last: the database's number of
-- the transaction, and the number that the message got from its node.
ALTER TABLE webhook_messages ADD COLUMN tx_id bigint NOT NULL DEFAULT 0;
ALTER TABLE webhook_messages ADD COLUMN added bigint NOT NULL DEFAULT 0;
{{if .Postgres}}ALTER TABLE webhook_messages ALTER COLUMN tx_id SET DEFAULT txid_current();{{end}}
-- Place among the shop's events. 0: none; with place_at: its body is rendered first. -1: it gets the next one.
ALTER TABLE webhook_messages ADD COLUMN position bigint NOT NULL DEFAULT 0;
ALTER TABLE webhook_messages ADD COLUMN place_at bigint; -- when a body or a position is tried next; NULL: it waits for neither
CREATE UNIQUE INDEX webhook_messages_positions ON webhook_messages (shop_id, position) WHERE position > 0;
CREATE INDEX webhook_messages_place ON webhook_messages (place_at, shop_id) WHERE place_at IS NOT NULL;
CREATE INDEX webhook_messages_unplaced ON webhook_messages (shop_id, contract_id, customer_id, sequence) WHERE place_at IS NOT NULL;

-- The last number of the messages about a contract or a customer; the other id is 0.
CREATE TABLE webhook_sequences (
	shop_id bigint NOT NULL,
	contract_id bigint NOT NULL,
	customer_id bigint NOT NULL,
	last bigint NOT NULL,
	PRIMARY KEY (shop_id, contract_id, customer_id)
){{.WithoutRowID}};
{{.RowSecurity "webhook_sequences"}}

-- The events of a store that has read them.
CREATE TABLE event_feeds (
	shop_id bigint NOT NULL PRIMARY KEY,
	generation bigint NOT NULL, -- how often the store began to read
	ready boolean NOT NULL, -- transactions that began before it was opened have ended
	position bigint NOT NULL, -- of the last event
	floor bigint NOT NULL, -- events up to this position are no longer kept
	close_at bigint -- when it ends unless it is read; NULL: it has ended
);
CREATE INDEX event_feeds_close ON event_feeds (close_at, shop_id) WHERE close_at IS NOT NULL;
{{.RowSecurity "event_feeds"}}

-- Deliveries to an endpoint that are sent again: those after (replay_at, replay_id) and up to the
-- instant replay_until; 0: none.
ALTER TABLE webhook_endpoints ADD COLUMN replay_at bigint NOT NULL DEFAULT 0;
ALTER TABLE webhook_endpoints ADD COLUMN replay_id bigint NOT NULL DEFAULT 0;
ALTER TABLE webhook_endpoints ADD COLUMN replay_until bigint NOT NULL DEFAULT 0;
