-- Versions of a store's flow of cancelling. They never change.
CREATE TABLE cancel_flows (
	shop_id bigint NOT NULL,
	version bigint NOT NULL,
	mode {{.BinaryText}} NOT NULL,
	instructions text NOT NULL,
	support text NOT NULL, -- an e-mail address or an https address; empty: none
	hold_back bigint NOT NULL, -- percent of the customers
	budget bigint NOT NULL, -- for discounts in 30 days, in minor units; 0: no discount is offered
	currency {{.BinaryText}} NOT NULL, -- of the budget
	reasons text NOT NULL, -- JSON, with their offers
	published_at bigint NOT NULL,
	published_by text NOT NULL,
	PRIMARY KEY (shop_id, version)
);
{{.RowSecurity "cancel_flows"}}
{{.AppendOnly "cancel_flows"}}

-- A customer's way through a flow of cancelling.
CREATE TABLE cancel_sessions (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	contract_id bigint NOT NULL,
	customer_id bigint NOT NULL,
	flow_version bigint NOT NULL, -- 0: the flow of a store that has published none
	step {{.BinaryText}} NOT NULL,
	outcome {{.BinaryText}} NOT NULL, -- empty until it ends
	action {{.BinaryText}} NOT NULL, -- the retention action that it ended with
	reason {{.BinaryText}} NOT NULL, -- key; empty: not said
	comment text NOT NULL,
	offer text NOT NULL, -- JSON, as it was made or held back; empty: none
	offer_kind {{.BinaryText}} NOT NULL, -- of offer
	offer_currency {{.BinaryText}} NOT NULL, -- of offer_cost
	offer_cost bigint NOT NULL, -- what a discount comes to over its orders, in minor units
	arm {{.BinaryText}} NOT NULL, -- of the comparison; empty: not in it
	moves text NOT NULL, -- JSON, the steps that were taken
	plan_group_id bigint NOT NULL, -- of the contract when it began; 0: none of the store's
	orders bigint NOT NULL, -- that the contract had completed then
	started_at bigint NOT NULL,
	offered_at bigint NOT NULL, -- 0: no offer was shown
	accepted_at bigint NOT NULL, -- 0: none was accepted
	due_at bigint, -- when it ends without its customer; NULL: it has ended
	ended_at bigint NOT NULL, -- 0: it has not
	lost_at bigint NOT NULL, -- when the contract ended for good; 0: it has not
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id),
	FOREIGN KEY (shop_id, contract_id) REFERENCES contracts (shop_id, id)
);
{{.RowSecurity "cancel_sessions"}}
CREATE UNIQUE INDEX cancel_sessions_open ON cancel_sessions (shop_id, contract_id) WHERE due_at IS NOT NULL;
CREATE INDEX cancel_sessions_due ON cancel_sessions (due_at, shop_id) WHERE due_at IS NOT NULL;
CREATE INDEX cancel_sessions_by_customer ON cancel_sessions (shop_id, customer_id, started_at);
CREATE INDEX cancel_sessions_by_start ON cancel_sessions (shop_id, started_at, id);
CREATE INDEX cancel_sessions_that_last ON cancel_sessions (shop_id, contract_id) WHERE lost_at = 0;
CREATE INDEX cancel_sessions_with_comments ON cancel_sessions (shop_id, started_at, id) WHERE comment <> '';
CREATE INDEX cancel_sessions_with_discounts ON cancel_sessions (shop_id, accepted_at) WHERE offer_cost > 0;
