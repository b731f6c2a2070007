-- Searches of the list of contracts that users of the dashboard have saved.
CREATE TABLE saved_views (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	user_id bigint NOT NULL, -- who saved it
	name text NOT NULL,
	query text NOT NULL, -- query string of the list
	shared boolean NOT NULL, -- all users of the store see it
	created_at bigint NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id)
);
{{.RowSecurity "saved_views"}}

-- Contracts that end soon: a cancellation is scheduled, or the last order was made.
CREATE INDEX contracts_ending ON contracts (shop_id, id) WHERE status IN ('ACTIVE', 'PAUSED') AND (ending <> '' OR expire_at > 0);
