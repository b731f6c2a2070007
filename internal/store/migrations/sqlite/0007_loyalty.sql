-- +goose Up
CREATE TABLE loyalty_programs (
	shop_id bigint NOT NULL REFERENCES shops (id),
	id bigint NOT NULL CHECK (id = 1),
	active boolean NOT NULL,
	started_at bigint NOT NULL,
	terms text NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id)
);

-- Points are hundredths. The sums are what the entries add up to.
CREATE TABLE loyalty_accounts (
	shop_id bigint NOT NULL REFERENCES shops (id),
	id bigint NOT NULL,
	customer_id bigint NOT NULL,
	email text NOT NULL,
	email_folded text NOT NULL,
	first_name text NOT NULL,
	last_name text NOT NULL,
	status text NOT NULL,
	born text NOT NULL,
	referral_code text NOT NULL,
	enrolled_at bigint NOT NULL,
	active_at bigint NOT NULL,
	available bigint NOT NULL,
	pending bigint NOT NULL,
	credited bigint NOT NULL,
	spent bigint NOT NULL,
	expired bigint NOT NULL,
	earned bigint NOT NULL,
	debt bigint NOT NULL,
	activities bigint NOT NULL,
	rewarded text NOT NULL,
	order_spent bigint NOT NULL,
	credit bigint NOT NULL,
	currency text NOT NULL,
	seq bigint NOT NULL,
	due_at bigint,
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

CREATE TABLE loyalty_entries (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	account_id bigint NOT NULL,
	seq bigint NOT NULL,
	kind text NOT NULL,
	pending bigint NOT NULL,
	available bigint NOT NULL,
	lot bigint NOT NULL,
	whole boolean NOT NULL,
	absorbed bigint NOT NULL,
	source_type text NOT NULL,
	source_id text NOT NULL,
	rule_id bigint NOT NULL,
	reward_id bigint NOT NULL,
	available_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	description text NOT NULL,
	note text NOT NULL,
	actor text NOT NULL,
	occurred_at bigint NOT NULL,
	recorded_at bigint NOT NULL,
	PRIMARY KEY (shop_id, id),
	UNIQUE (shop_id, account_id, seq),
	UNIQUE (shop_id, source_type, source_id, kind, rule_id),
	FOREIGN KEY (shop_id, account_id) REFERENCES loyalty_accounts (shop_id, id)
);

-- Where points came from and went to. A lot is named by the entry that made it.
CREATE TABLE loyalty_uses (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	account_id bigint NOT NULL,
	entry bigint NOT NULL,
	lot bigint NOT NULL,
	role text NOT NULL,
	points bigint NOT NULL CHECK (points > 0),
	PRIMARY KEY (shop_id, id),
	FOREIGN KEY (shop_id, account_id) REFERENCES loyalty_accounts (shop_id, id)
);
CREATE INDEX loyalty_uses_by_entry ON loyalty_uses (shop_id, account_id, entry);

-- What entries and uses make of each lot: it can be computed anew from them.
CREATE TABLE loyalty_lots (
	shop_id bigint NOT NULL,
	account_id bigint NOT NULL,
	seq bigint NOT NULL,
	source_type text NOT NULL,
	source_id text NOT NULL,
	rule_id bigint NOT NULL,
	points bigint NOT NULL,
	waits boolean NOT NULL,
	available_from bigint NOT NULL,
	expires_at bigint NOT NULL,
	rest bigint NOT NULL CHECK (rest >= 0),
	expired bigint NOT NULL,
	reversed bigint NOT NULL,
	absorbed bigint NOT NULL,
	PRIMARY KEY (shop_id, account_id, seq),
	FOREIGN KEY (shop_id, account_id) REFERENCES loyalty_accounts (shop_id, id)
);
CREATE INDEX loyalty_lots_open ON loyalty_lots (shop_id, account_id, seq) WHERE waits OR rest > 0;

-- What was ordered and may earn points. A row that waits has a due instant.
CREATE TABLE loyalty_facts (
	shop_id bigint NOT NULL REFERENCES shops (id),
	source_type text NOT NULL,
	source_id bigint NOT NULL,
	occurred_at bigint NOT NULL,
	due_at bigint,
	PRIMARY KEY (shop_id, source_type, source_id)
);
CREATE INDEX loyalty_facts_due ON loyalty_facts (shop_id, due_at, source_id) WHERE due_at IS NOT NULL;
CREATE INDEX loyalty_facts_due_shops ON loyalty_facts (due_at, shop_id) WHERE due_at IS NOT NULL;

CREATE TABLE loyalty_rewards (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	account_id bigint NOT NULL,
	customer_id bigint NOT NULL,
	rule_id bigint NOT NULL,
	type text NOT NULL,
	state text NOT NULL,
	code text NOT NULL,
	platform_id text NOT NULL,
	description text NOT NULL,
	points bigint NOT NULL,
	value bigint NOT NULL,
	percent bigint NOT NULL,
	min_purchase bigint NOT NULL,
	currency text NOT NULL,
	combines boolean NOT NULL,
	entry_id bigint NOT NULL,
	entry_seq bigint NOT NULL,
	order_id bigint NOT NULL,
	order_name text NOT NULL,
	uses bigint NOT NULL,
	failures bigint NOT NULL,
	reason text NOT NULL,
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

CREATE TABLE loyalty_credits (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	account_id bigint NOT NULL,
	source_type text NOT NULL,
	source_id text NOT NULL,
	amount bigint NOT NULL,
	currency text NOT NULL,
	note text NOT NULL,
	actor text NOT NULL,
	recorded_at bigint NOT NULL,
	PRIMARY KEY (shop_id, id),
	UNIQUE (shop_id, source_type, source_id),
	FOREIGN KEY (shop_id, account_id) REFERENCES loyalty_accounts (shop_id, id)
);

-- The ledger is only ever added to.
-- +goose StatementBegin
CREATE TRIGGER loyalty_entries_no_update BEFORE UPDATE ON loyalty_entries BEGIN
	SELECT RAISE(ABORT, 'the loyalty ledger is only ever added to');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER loyalty_entries_no_delete BEFORE DELETE ON loyalty_entries BEGIN
	SELECT RAISE(ABORT, 'the loyalty ledger is only ever added to');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER loyalty_uses_no_update BEFORE UPDATE ON loyalty_uses BEGIN
	SELECT RAISE(ABORT, 'the loyalty ledger is only ever added to');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER loyalty_uses_no_delete BEFORE DELETE ON loyalty_uses BEGIN
	SELECT RAISE(ABORT, 'the loyalty ledger is only ever added to');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER loyalty_credits_no_update BEFORE UPDATE ON loyalty_credits BEGIN
	SELECT RAISE(ABORT, 'the loyalty ledger is only ever added to');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER loyalty_credits_no_delete BEFORE DELETE ON loyalty_credits BEGIN
	SELECT RAISE(ABORT, 'the loyalty ledger is only ever added to');
END;
-- +goose StatementEnd
