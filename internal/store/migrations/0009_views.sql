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

-- Orders that are queued are summed by day from these two alone.
CREATE INDEX attempts_queued ON attempts (shop_id, due_at, contract_id) WHERE due_at IS NOT NULL AND status = 'QUEUED';
CREATE INDEX contract_history_amounts ON contract_history (shop_id, contract_id, currency, order_amount) WHERE valid_to = 0;

-- Contracts that end soon: a cancellation is scheduled, or the last order was made.
CREATE INDEX contracts_ending ON contracts (shop_id, id) WHERE status IN ('ACTIVE', 'PAUSED') AND (ending <> '' OR expire_at > 0);
