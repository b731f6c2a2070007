-- The loyalty programme. Points are hundredths.

-- A shop's programme.
CREATE TABLE loyalty_programs (
	shop_id bigint NOT NULL REFERENCES shops (id),
	id bigint NOT NULL CHECK (id = 1),
	active boolean NOT NULL,
	started_at bigint NOT NULL,
	terms text NOT NULL, -- JSON
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id)
);
{{.RowSecurity "loyalty_programs"}}

-- A member. The sums are those of the member's entries.
CREATE TABLE loyalty_accounts (
	shop_id bigint NOT NULL REFERENCES shops (id),
	id bigint NOT NULL,
	customer_id bigint NOT NULL,
	email text NOT NULL,
	email_folded text NOT NULL, -- in lower case
	first_name text NOT NULL,
	last_name text NOT NULL,
	status text NOT NULL,
	born text NOT NULL, -- YYYY-MM-DD or empty
	referral_code {{.BinaryText}} NOT NULL,
	enrolled_at bigint NOT NULL,
	active_at bigint NOT NULL, -- when points last moved, except by expiry
	available bigint NOT NULL, -- can be spent; negative when more was reversed than was available
	pending bigint NOT NULL,
	credited bigint NOT NULL, -- ever made available, earned or added manually
	spent bigint NOT NULL, -- on rewards that were not refunded
	expired bigint NOT NULL,
	earned bigint NOT NULL, -- by activities, less what was reversed
	debt bigint NOT NULL, -- reversed points that the member no longer had
	activities bigint NOT NULL, -- that earned available points and were not reversed
	rewarded text NOT NULL, -- JSON: the same by type, with pending ones
	order_spent bigint NOT NULL, -- amount, on orders
	credit bigint NOT NULL, -- amount of store credit received
	currency text NOT NULL,
	seq bigint NOT NULL, -- of the last entry
	due_at bigint, -- when points are released or expire next
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id),
	UNIQUE (shop_id, customer_id),
	UNIQUE (shop_id, referral_code)
);
CREATE INDEX loyalty_accounts_by_email ON loyalty_accounts (shop_id, email_folded);
CREATE INDEX loyalty_accounts_by_earned ON loyalty_accounts (shop_id, earned DESC, customer_id);
CREATE INDEX loyalty_accounts_due ON loyalty_accounts (shop_id, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX loyalty_accounts_due_shops ON loyalty_accounts (due_at, shop_id) WHERE due_at IS NOT NULL;
{{.RowSecurity "loyalty_accounts"}}

-- An entry of a member's ledger.
CREATE TABLE loyalty_entries (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	account_id bigint NOT NULL,
	seq bigint NOT NULL, -- position in the ledger, from 1
	kind text NOT NULL,
	pending bigint NOT NULL, -- change of the pending points
	available bigint NOT NULL, -- change of the available points
	lot bigint NOT NULL, -- seq of the entry that created the lot concerned; 0: none
	fully_reversed boolean NOT NULL, -- the whole lot is now reversed
	absorbed bigint NOT NULL, -- points that a reversal could not deduct
	source_type {{.BinaryText}} NOT NULL,
	source_id {{.BinaryText}} NOT NULL,
	rule_id bigint NOT NULL,
	reward_id bigint NOT NULL,
	available_at bigint NOT NULL, -- of the lot; 0: by approval only
	expires_at bigint NOT NULL, -- of the lot; 0: never
	description text NOT NULL, -- for the customer
	note text NOT NULL, -- for the merchant
	actor text NOT NULL,
	occurred_at bigint NOT NULL,
	recorded_at bigint NOT NULL,
	PRIMARY KEY (shop_id, id),
	UNIQUE (shop_id, account_id, seq),
	UNIQUE (shop_id, source_type, source_id, kind, rule_id),
	FOREIGN KEY (shop_id, account_id) REFERENCES loyalty_accounts (shop_id, id)
);
{{.RowSecurity "loyalty_entries"}}
{{.AppendOnly "loyalty_entries"}}

-- From which lot an entry's points came, or to which they went.
CREATE TABLE loyalty_uses (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	account_id bigint NOT NULL,
	entry bigint NOT NULL, -- seq
	lot bigint NOT NULL, -- seq of the entry that created it; 0: none
	role text NOT NULL,
	points bigint NOT NULL CHECK (points > 0),
	PRIMARY KEY (shop_id, id),
	FOREIGN KEY (shop_id, account_id) REFERENCES loyalty_accounts (shop_id, id)
);
CREATE INDEX loyalty_uses_by_entry ON loyalty_uses (shop_id, account_id, entry);
{{.RowSecurity "loyalty_uses"}}
{{.AppendOnly "loyalty_uses"}}

-- A batch of points that were earned together. It follows from entries and uses.
CREATE TABLE loyalty_lots (
	shop_id bigint NOT NULL,
	account_id bigint NOT NULL,
	seq bigint NOT NULL, -- of the entry that created it
	source_type text NOT NULL,
	source_id text NOT NULL,
	rule_id bigint NOT NULL,
	points bigint NOT NULL,
	pending boolean NOT NULL, -- not available yet
	available_from bigint NOT NULL, -- 0: by approval only
	expires_at bigint NOT NULL, -- 0: never
	remaining bigint NOT NULL CHECK (remaining >= 0), -- can still be spent
	expired bigint NOT NULL,
	reversed bigint NOT NULL, -- with absorbed
	absorbed bigint NOT NULL, -- reversed, but not deducted
	PRIMARY KEY (shop_id, account_id, seq),
	FOREIGN KEY (shop_id, account_id) REFERENCES loyalty_accounts (shop_id, id)
);
CREATE INDEX loyalty_lots_open ON loyalty_lots (shop_id, account_id, seq) WHERE pending OR remaining > 0;
{{.RowSecurity "loyalty_lots"}}

-- What was ordered and may earn points: a renewal, the first order or the start of a contract.
CREATE TABLE loyalty_facts (
	shop_id bigint NOT NULL REFERENCES shops (id),
	source_type {{.BinaryText}} NOT NULL,
	source_id bigint NOT NULL, -- attempt or contract, by type
	occurred_at bigint NOT NULL,
	due_at bigint, -- NULL: it is finished
	PRIMARY KEY (shop_id, source_type, source_id)
);
CREATE INDEX loyalty_facts_due ON loyalty_facts (shop_id, due_at, source_id) WHERE due_at IS NOT NULL;
CREATE INDEX loyalty_facts_due_shops ON loyalty_facts (due_at, shop_id) WHERE due_at IS NOT NULL;
{{.RowSecurity "loyalty_facts"}}

-- A reward that a member spent points on.
CREATE TABLE loyalty_rewards (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	account_id bigint NOT NULL,
	payer_id bigint NOT NULL, -- member who spent the points; differs from account_id after a merge
	customer_id bigint NOT NULL,
	rule_id bigint NOT NULL,
	type text NOT NULL,
	state text NOT NULL,
	code {{.BinaryText}} NOT NULL, -- discount code; empty for store credit
	platform_id text NOT NULL, -- graph id of the discount; empty until it is issued
	description text NOT NULL,
	points bigint NOT NULL, -- spent
	value bigint NOT NULL, -- amount
	percent bigint NOT NULL,
	min_purchase bigint NOT NULL, -- amount
	currency text NOT NULL,
	combines boolean NOT NULL, -- with other discounts
	entry_id bigint NOT NULL, -- that spent the points
	entry_seq bigint NOT NULL,
	order_id bigint NOT NULL, -- that used it
	order_name text NOT NULL,
	uses bigint NOT NULL,
	failures bigint NOT NULL, -- calls to the platform that failed
	reason text NOT NULL, -- for the cancellation
	due_at bigint,
	created_at bigint NOT NULL,
	issued_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	used_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id),
	FOREIGN KEY (shop_id, account_id) REFERENCES loyalty_accounts (shop_id, id)
);
CREATE UNIQUE INDEX loyalty_rewards_by_code ON loyalty_rewards (shop_id, code) WHERE code <> '';
CREATE INDEX loyalty_rewards_by_account ON loyalty_rewards (shop_id, account_id, id);
CREATE INDEX loyalty_rewards_due ON loyalty_rewards (shop_id, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX loyalty_rewards_due_shops ON loyalty_rewards (due_at, shop_id) WHERE due_at IS NOT NULL;
{{.RowSecurity "loyalty_rewards"}}

-- Store credit that a member received.
CREATE TABLE loyalty_credits (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	account_id bigint NOT NULL,
	source_type {{.BinaryText}} NOT NULL,
	source_id {{.BinaryText}} NOT NULL,
	amount bigint NOT NULL,
	currency text NOT NULL,
	note text NOT NULL,
	actor text NOT NULL,
	recorded_at bigint NOT NULL,
	PRIMARY KEY (shop_id, id),
	UNIQUE (shop_id, source_type, source_id),
	FOREIGN KEY (shop_id, account_id) REFERENCES loyalty_accounts (shop_id, id)
);
{{.RowSecurity "loyalty_credits"}}
{{.AppendOnly "loyalty_credits"}}

-- A request that moves points and may be repeated, written by the transaction that moves them.
-- A row counts until it expires.
CREATE TABLE loyalty_requests (
	shop_id bigint NOT NULL,
	request {{.BinaryText}} NOT NULL,
	requested_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	PRIMARY KEY (shop_id, request)
);
CREATE INDEX loyalty_requests_expired ON loyalty_requests (shop_id, expires_at);
{{.RowSecurity "loyalty_requests"}}
