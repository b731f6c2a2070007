-- What is sold, the contracts of subscribers, and their orders.

-- A group of plan options: a selling plan group of the platform.
CREATE TABLE plan_groups (
	shop_id bigint NOT NULL REFERENCES shops (id),
	id bigint NOT NULL,
	platform_id bigint NOT NULL, -- 0 until the platform has it
	line text NOT NULL, -- SUBSCRIPTION or MEMBERSHIP
	name {{.BinaryText}} NOT NULL,
	terms text NOT NULL, -- JSON: its attributes other than the options
	state {{.BinaryText}} NOT NULL,
	pending text NOT NULL, -- JSON: the change in progress at the platform; empty: none
	due_at bigint, -- when a job completes the pending change
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id)
);
CREATE INDEX plan_groups_due ON plan_groups (shop_id, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX plan_groups_due_shops ON plan_groups (due_at, shop_id) WHERE due_at IS NOT NULL;
{{.RowSecurity "plan_groups"}}

-- An option of a plan group; id is the platform's of the selling plan.
CREATE TABLE plan_options (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	group_id bigint NOT NULL,
	position bigint NOT NULL,
	terms text NOT NULL, -- JSON
	PRIMARY KEY (shop_id, id),
	FOREIGN KEY (shop_id, group_id) REFERENCES plan_groups (shop_id, id)
);
CREATE INDEX plan_options_by_group ON plan_options (shop_id, group_id, position);
{{.RowSecurity "plan_options"}}

-- An option that was removed: the platform may report later what was ordered on it before.
CREATE TABLE removed_plan_options (
	shop_id bigint NOT NULL,
	id bigint NOT NULL, -- of the selling plan
	terms text NOT NULL, -- JSON
	PRIMARY KEY (shop_id, id)
);
{{.RowSecurity "removed_plan_options"}}

-- A product or variant that is sold on a group's options.
CREATE TABLE plan_items (
	shop_id bigint NOT NULL,
	group_id bigint NOT NULL,
	kind {{.BinaryText}} NOT NULL, -- says whether item_id is a product or a variant
	item_id bigint NOT NULL,
	title text NOT NULL,
	PRIMARY KEY (shop_id, group_id, kind, item_id),
	FOREIGN KEY (shop_id, group_id) REFERENCES plan_groups (shop_id, id)
);
CREATE INDEX plan_items_by_item ON plan_items (shop_id, kind, item_id);
{{.RowSecurity "plan_items"}}

-- A delivery profile that the service made.
CREATE TABLE delivery_profiles (
	shop_id bigint NOT NULL REFERENCES shops (id),
	id bigint NOT NULL,
	platform_id bigint, -- NULL until the platform has it
	name text NOT NULL,
	plan_groups text NOT NULL, -- JSON
	pending text NOT NULL, -- JSON: the change in progress at the platform; empty: none
	busy_until bigint NOT NULL, -- lease of the process that makes the change
	due_at bigint, -- when a job completes the pending change
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id),
	UNIQUE (shop_id, platform_id)
);
CREATE INDEX delivery_profiles_due ON delivery_profiles (due_at, shop_id) WHERE due_at IS NOT NULL;
{{.RowSecurity "delivery_profiles"}}

-- A bundle, from which subscribers fill a box.
CREATE TABLE bundles (
	shop_id bigint NOT NULL REFERENCES shops (id),
	id bigint NOT NULL,
	line text NOT NULL,
	settings text NOT NULL, -- JSON
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id)
);
{{.RowSecurity "bundles"}}

-- A rule that swaps products of upcoming orders.
CREATE TABLE swap_rules (
	shop_id bigint NOT NULL REFERENCES shops (id),
	id bigint NOT NULL,
	line text NOT NULL,
	name text NOT NULL,
	sources text NOT NULL, -- JSON
	destinations text NOT NULL, -- JSON
	first_order boolean NOT NULL, -- it applies to the first order too
	every_order boolean NOT NULL, -- it applies to every order, not once for a contract
	cycle bigint NOT NULL, -- with every_order the first one, else the only one; 0: any
	sequence bigint NOT NULL, -- in which rules are evaluated
	carry_discount boolean NOT NULL, -- the new product keeps the existing discount
	discount text NOT NULL,
	shifts boolean NOT NULL, -- the orders after the swap move by shift_days
	shift_days bigint NOT NULL,
	no_email boolean NOT NULL, -- to the customer
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id)
);
{{.RowSecurity "swap_rules"}}

-- A subscription contract. The texts that begin their comment with JSON are empty for "none".
CREATE TABLE contracts (
	shop_id bigint NOT NULL REFERENCES shops (id),
	id bigint NOT NULL, -- the platform's
	line text NOT NULL, -- SUBSCRIPTION or MEMBERSHIP
	revision bigint NOT NULL, -- bits of the platform's unsigned number
	status {{.BinaryText}} NOT NULL,
	currency text NOT NULL,

	customer_id bigint NOT NULL,
	customer_email text NOT NULL,
	customer_first_name text NOT NULL,
	customer_last_name text NOT NULL,
	customer_name text NOT NULL,
	customer_phone text NOT NULL,
	email_folded {{.BinaryText}} NOT NULL, -- in lower case
	name_folded {{.BinaryText}} NOT NULL,

	billing_interval text NOT NULL,
	billing_count bigint NOT NULL,
	billing_anchors text NOT NULL, -- JSON
	delivery_interval text NOT NULL,
	delivery_count bigint NOT NULL,
	delivery_anchors text NOT NULL, -- JSON
	max_cycles bigint NOT NULL, -- orders after which it ends; 0: no end
	min_cycles bigint NOT NULL, -- orders to which the subscriber committed
	auto_charge boolean NOT NULL,

	lines text NOT NULL, -- JSON
	order_amount bigint NOT NULL, -- of the lines, in thousandths of the main unit
	pricing text NOT NULL, -- JSON: prices by cycle of the platform's policies, by line
	plan_pricing text NOT NULL, -- JSON: prices by order of our plans, by line
	priced boolean NOT NULL, -- prices of its lines change with the orders
	discounts text NOT NULL, -- JSON
	note text NOT NULL,
	attributes text NOT NULL, -- JSON
	payment_method {{.BinaryText}} NOT NULL, -- graph id; empty: none
	payment_usable boolean NOT NULL, -- there is one and it is not revoked
	card {{.BinaryText}} NOT NULL, -- JSON: what tells the card behind the payment method from another
	billing_country text NOT NULL,
	delivery_country text NOT NULL,
	delivery_price bigint NOT NULL,

	origin text NOT NULL,
	origin_order_id bigint NOT NULL, -- 0: none
	origin_order_name {{.BinaryText}} NOT NULL,
	first_amount bigint NOT NULL, -- of the lines when the contract came; -1: not known
	imported_id text NOT NULL, -- of a contract that was imported, else empty
	split_from bigint NOT NULL, -- contract that it was split from, or restarts; 0: none
	earlier_orders bigint NOT NULL, -- of what it was split from, for prices by order
	split text NOT NULL, -- JSON: a split in progress

	-- The calendar of its orders.
	series_cycle bigint NOT NULL, -- with which its queue begins
	series_start bigint NOT NULL, -- date of that cycle
	series_passed bigint NOT NULL, -- dates of the calendar before that cycle
	series_moved boolean NOT NULL, -- a person chose the start
	later_series text NOT NULL, -- JSON: series that begin with later orders
	passed_cycles bigint NOT NULL, -- cycles of the platform that were never orders, and count towards no limit
	next_billing_date bigint NOT NULL, -- of the earliest attempt to come
	queue_updated_at bigint NOT NULL, -- when the upcoming attempts changed last; 0: not known
	overrides text NOT NULL, -- JSON: notes and dates of certain orders to come that are in no queue
	notify_at bigint, -- when the next order is published to webhook endpoints
	notified_for bigint NOT NULL DEFAULT 0, -- date for which that is done
	one_offs bigint NOT NULL, -- one-time products of orders to come

	-- Changes that are scheduled or in progress.
	pending_change text NOT NULL, -- JSON: a change that is scheduled
	amend_at bigint, -- when a scheduled change is due
	in_flight_edits text NOT NULL, -- JSON: edits that are being sent to the platform
	changing_until bigint NOT NULL, -- lease of the caller that changes it
	moving text NOT NULL, -- JSON: a status change in progress
	pause text NOT NULL, -- JSON
	ending text NOT NULL, -- JSON: a scheduled cancellation
	trial text NOT NULL, -- JSON: the free trial with which it began
	dunning text NOT NULL, -- JSON: the order that could not be charged and is not given up
	lifelong boolean NOT NULL, -- paid once for life: no renewals
	expire_at bigint NOT NULL, -- when it expires, or expired
	cancellation_feedback text NOT NULL,
	cancellation_note text NOT NULL,
	cancelled_order_date bigint NOT NULL, -- date of the next order that a cancellation removed

	-- Results.
	orders bigint NOT NULL, -- successful renewals
	lifetime bigint NOT NULL, -- sum of them
	last_payment text NOT NULL, -- SUCCEEDED, FAILED or empty
	last_order_id bigint NOT NULL,
	last_order_name text NOT NULL,
	last_order_at bigint NOT NULL,
	last_order_amount bigint NOT NULL, -- that was charged
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	activated_at bigint NOT NULL,
	paused_at bigint NOT NULL,
	cancelled_at bigint NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id)
);
CREATE INDEX contracts_by_creation ON contracts (shop_id, created_at, id);
-- With line and id in them these two are all that a search reads.
CREATE INDEX contracts_by_update ON contracts (shop_id, updated_at, line, id);
CREATE INDEX contracts_by_date ON contracts (shop_id, next_billing_date, line, id);
CREATE INDEX contracts_by_customer ON contracts (shop_id, customer_id);
CREATE INDEX contracts_by_email ON contracts (shop_id, email_folded);
CREATE INDEX contracts_by_payment_method ON contracts (shop_id, payment_method) WHERE payment_method <> '';
CREATE INDEX contracts_to_amend ON contracts (shop_id, amend_at, id) WHERE amend_at IS NOT NULL;
CREATE INDEX contracts_to_amend_shops ON contracts (amend_at, shop_id) WHERE amend_at IS NOT NULL;
CREATE INDEX contracts_in_dunning ON contracts (shop_id, id) WHERE dunning <> '';
CREATE INDEX contracts_unnotified ON contracts (shop_id, notify_at, id) WHERE notify_at IS NOT NULL AND notified_for <> next_billing_date;
-- Contracts that run and have no order to come.
CREATE INDEX contracts_without_orders ON contracts (shop_id, id) WHERE status = 'ACTIVE' AND next_billing_date = 0;
{{.RowSecurity "contracts"}}
{{- if .Postgres}}
-- What billing writes is soon vacuumed, so that its indexes can be read alone.
ALTER TABLE contracts SET (autovacuum_vacuum_scale_factor = 0.02);
{{- end}}

-- By which product, variant and plan a contract is found; the lines themselves are in contracts.
CREATE TABLE contract_lines (
	shop_id bigint NOT NULL,
	contract_id bigint NOT NULL,
	position bigint NOT NULL,
	product_id bigint NOT NULL,
	variant_id bigint NOT NULL,
	selling_plan_id bigint NOT NULL,
	line {{.BinaryText}} NOT NULL, -- of the contract: the indexes are all that a count reads
	PRIMARY KEY (shop_id, contract_id, position),
	FOREIGN KEY (shop_id, contract_id) REFERENCES contracts (shop_id, id)
);
CREATE INDEX contract_lines_by_product ON contract_lines (shop_id, product_id, line, contract_id);
CREATE INDEX contract_lines_by_variant ON contract_lines (shop_id, variant_id, line, contract_id);
CREATE INDEX contract_lines_by_selling_plan ON contract_lines (shop_id, selling_plan_id, line, contract_id);
{{.RowSecurity "contract_lines"}}

-- A billing attempt: the order of one cycle of a contract.
CREATE TABLE attempts (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	contract_id bigint NOT NULL,
	cycle bigint NOT NULL, -- the platform's index, from 1
	status {{.BinaryText}} NOT NULL,
	billing_date bigint NOT NULL, -- when the order is due
	moved boolean NOT NULL, -- a person chose the date
	due_at bigint, -- when the service must act on it
	publish_at bigint, -- when to publish a skip, an unskip or a date at the platform
	publish_lease_until bigint NOT NULL, -- lease of the worker that publishes it
	notified boolean NOT NULL DEFAULT false, -- it was published to webhook endpoints
	-- The present try to charge it.
	try bigint NOT NULL, -- from 1; 0 before the first
	key {{.BinaryText}} NOT NULL, -- idempotency key
	first_sent_at bigint NOT NULL,
	sent_at bigint NOT NULL,
	failures bigint NOT NULL, -- calls that found the platform unreachable
	polls bigint NOT NULL, -- questions that found it still pending
	manual boolean NOT NULL, -- a person asked for it
	attempted_at bigint NOT NULL, -- when it was started
	platform_id text NOT NULL, -- graph id
	error_code text NOT NULL, -- of the last failure
	error_message text NOT NULL,
	action_url text NOT NULL, -- where the customer authenticates
	dunning text NOT NULL, -- JSON: the case of its declines; empty: none
	-- The order.
	order_id bigint NOT NULL,
	order_name text NOT NULL,
	amount bigint NOT NULL, -- charged or, of a skipped order, what it would have been
	currency text NOT NULL,
	lines text NOT NULL, -- JSON: as they were charged, skipped or prepared; empty before
	note text NOT NULL,
	flags text NOT NULL, -- JSON: an integrator's
	preparation text NOT NULL, -- JSON: how far the order is prepared
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
CREATE INDEX attempts_publishing ON attempts (shop_id, contract_id) WHERE publish_lease_until > 0;
CREATE INDEX attempts_by_key ON attempts (shop_id, key) WHERE key <> '';
-- What a contract still has before it, without its past.
CREATE INDEX attempts_open ON attempts (shop_id, contract_id, cycle)
	WHERE status IN ('QUEUED', 'REQUESTING', 'PROGRESS', 'SECURITY_CHALLENGE', 'SHOPIFY_EXCEPTION');
-- For reports over all contracts.
CREATE INDEX attempts_past ON attempts (shop_id, status, billing_date, id) WHERE status <> 'QUEUED';
-- Compared with the platform's charges.
CREATE INDEX attempts_successful ON attempts (shop_id, updated_at, id) WHERE status = 'SUCCESS';
-- Given up while the platform still had them open, so that a customer may yet confirm them.
CREATE INDEX attempts_abandoned ON attempts (shop_id, updated_at, id) WHERE error_code IN ('CHALLENGE_EXPIRED', 'EARLIER_CHARGE_OPEN');
{{.RowSecurity "attempts"}}

-- A charge that was asked for to be made at once; their number is limited.
CREATE TABLE charge_requests (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	contract_id bigint NOT NULL,
	requested_at bigint NOT NULL,
	PRIMARY KEY (shop_id, id),
	FOREIGN KEY (shop_id, contract_id) REFERENCES contracts (shop_id, id)
);
CREATE INDEX charge_requests_by_contract ON charge_requests (shop_id, contract_id, requested_at);
{{.RowSecurity "charge_requests"}}

-- A try that counts against a payment method: one that was declined, or any retry.
CREATE TABLE card_tries (
	shop_id bigint NOT NULL REFERENCES shops (id),
	id bigint NOT NULL,
	payment_method text NOT NULL,
	tried_at bigint NOT NULL,
	PRIMARY KEY (shop_id, id)
);
CREATE INDEX card_tries_by_method ON card_tries (shop_id, payment_method, tried_at);
{{.RowSecurity "card_tries"}}

-- A one-time product that goes with an order to come.
CREATE TABLE one_offs (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	contract_id bigint NOT NULL,
	cycle bigint NOT NULL,
	variant_id bigint NOT NULL,
	product_id bigint NOT NULL,
	handle text NOT NULL,
	product_handle text NOT NULL,
	sku text NOT NULL,
	title text NOT NULL,
	product_title text NOT NULL,
	image text NOT NULL,
	taxable boolean NOT NULL,
	price bigint NOT NULL,
	currency text NOT NULL,
	quantity bigint NOT NULL,
	done boolean NOT NULL, -- its order is made
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id),
	UNIQUE (shop_id, contract_id, cycle, variant_id),
	FOREIGN KEY (shop_id, contract_id) REFERENCES contracts (shop_id, id)
);
{{.RowSecurity "one_offs"}}

-- That a rule which swaps once for a contract has done so.
CREATE TABLE swap_uses (
	shop_id bigint NOT NULL,
	contract_id bigint NOT NULL,
	rule_id bigint NOT NULL,
	PRIMARY KEY (shop_id, contract_id, rule_id),
	FOREIGN KEY (shop_id, contract_id) REFERENCES contracts (shop_id, id),
	FOREIGN KEY (shop_id, rule_id) REFERENCES swap_rules (shop_id, id)
);
{{.RowSecurity "swap_uses"}}

-- Tags and a note that an order or a customer at the platform is still to get.
CREATE TABLE annotations (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	target text NOT NULL, -- graph id
	contract_id bigint NOT NULL,
	attempt_id bigint NOT NULL, -- 0: not about an attempt's order
	tags text NOT NULL, -- JSON
	note text NOT NULL,
	due_at bigint,
	failures bigint NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id),
	FOREIGN KEY (shop_id, contract_id) REFERENCES contracts (shop_id, id)
);
CREATE INDEX annotations_due ON annotations (shop_id, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX annotations_due_shops ON annotations (due_at, shop_id) WHERE due_at IS NOT NULL;
{{.RowSecurity "annotations"}}

-- What a subscriber did and said when thinking of cancelling.
CREATE TABLE retention_activities (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	contract_id bigint NOT NULL,
	customer_id bigint NOT NULL,
	occurred_at bigint NOT NULL,
	action text NOT NULL,
	reason text NOT NULL,
	discount text NOT NULL, -- that was shown
	info text NOT NULL,
	PRIMARY KEY (shop_id, id),
	FOREIGN KEY (shop_id, contract_id) REFERENCES contracts (shop_id, id)
);
CREATE INDEX retention_activities_by_contract ON retention_activities (shop_id, contract_id, id);
{{.RowSecurity "retention_activities"}}

-- A request that makes a contract and may be repeated. A row counts until it expires.
CREATE TABLE contract_creations (
	shop_id bigint NOT NULL,
	request {{.BinaryText}} NOT NULL,
	requested_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	contract_id bigint NOT NULL, -- that was made; 0: not known yet
	PRIMARY KEY (shop_id, request)
);
CREATE INDEX contract_creations_expired ON contract_creations (shop_id, expires_at);
{{.RowSecurity "contract_creations"}}

-- A contract of the platform that cannot be read.
CREATE TABLE unread_contracts (
	shop_id bigint NOT NULL,
	contract_id bigint NOT NULL,
	reason {{.BinaryText}} NOT NULL,
	since_at bigint NOT NULL, -- first failure
	seen_at bigint NOT NULL, -- last failure
	PRIMARY KEY (shop_id, contract_id)
);
{{.RowSecurity "unread_contracts"}}
