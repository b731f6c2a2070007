-- Since when the orders of a store wait for the merchant's confirmation; 0: they do not.
ALTER TABLE shops ADD COLUMN awaits_merchant bigint NOT NULL DEFAULT 0;
-- Where the merchant is told what needs their attention; empty: not known.
ALTER TABLE shops ADD COLUMN owner_email text NOT NULL DEFAULT '';

-- How far the first reading of a store's contracts has come, one row for each connection.
CREATE TABLE first_syncs (
	shop_id bigint NOT NULL REFERENCES shops (id),
	started_at bigint NOT NULL,
	stage text NOT NULL,
	stage_at bigint NOT NULL,
	done bigint NOT NULL, -- contracts, like total; total is 0 until it is known
	total bigint NOT NULL,
	worked bigint NOT NULL, -- milliseconds in which contracts were read, without pauses
	noted_at bigint NOT NULL,
	finished_at bigint NOT NULL,
	owner text NOT NULL, -- run of a process that reads until lease_until; empty: none
	lease_until bigint NOT NULL,
	failure text NOT NULL, -- why the last try ended early; empty: it did not
	away_since bigint NOT NULL, -- when the connection before it ended; 0: there was none
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, started_at)
);
{{.RowSecurity "first_syncs"}}

-- What the platform asks for under the laws of data protection.
CREATE TABLE privacy_requests (
	shop_id bigint NOT NULL REFERENCES shops (id),
	id bigint NOT NULL,
	kind text NOT NULL,
	customer_id bigint NOT NULL, -- 0: all of the store
	received_at bigint NOT NULL,
	due_by bigint NOT NULL,
	due_at bigint, -- when the service does something about it next
	ready_at bigint NOT NULL,
	downloaded_at bigint NOT NULL,
	reminded_at bigint NOT NULL,
	closed_at bigint NOT NULL,
	records bigint NOT NULL, -- of an export, when it was collected first
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id)
);
{{.RowSecurity "privacy_requests"}}
CREATE INDEX privacy_requests_due ON privacy_requests (due_at, shop_id) WHERE due_at IS NOT NULL;
