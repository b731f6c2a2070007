-- +goose Up
-- How far an attempt's order has been made what it should be: JSON, mostly empty.
ALTER TABLE attempts ADD COLUMN preparation text NOT NULL DEFAULT '';
-- How many one-time products wait for an order of the contract, so that contracts
-- without any cost nothing.
ALTER TABLE contracts ADD COLUMN one_offs bigint NOT NULL DEFAULT 0;

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
	done boolean NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id),
	UNIQUE (shop_id, contract_id, cycle, variant_id),
	FOREIGN KEY (shop_id, contract_id) REFERENCES contracts (shop_id, id)
);

CREATE TABLE swap_rules (
	shop_id bigint NOT NULL REFERENCES shops (id),
	id bigint NOT NULL,
	line text NOT NULL,
	name text NOT NULL,
	sources text NOT NULL, -- JSON
	destinations text NOT NULL, -- JSON
	first_order boolean NOT NULL,
	every_order boolean NOT NULL,
	cycle bigint NOT NULL,
	sequence bigint NOT NULL,
	carry boolean NOT NULL,
	discount text NOT NULL,
	shifts boolean NOT NULL,
	shift_days bigint NOT NULL,
	silent boolean NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id)
);

-- Which rules that act once for a contract have acted.
CREATE TABLE swap_uses (
	shop_id bigint NOT NULL,
	contract_id bigint NOT NULL,
	rule_id bigint NOT NULL,
	PRIMARY KEY (shop_id, contract_id, rule_id),
	FOREIGN KEY (shop_id, contract_id) REFERENCES contracts (shop_id, id),
	FOREIGN KEY (shop_id, rule_id) REFERENCES swap_rules (shop_id, id)
);

-- Tags and notes that orders and customers are still to get.
CREATE TABLE marks (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	target text NOT NULL,
	contract_id bigint NOT NULL,
	attempt_id bigint NOT NULL,
	tags text NOT NULL, -- JSON
	note text NOT NULL,
	due_at bigint,
	failures bigint NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id),
	FOREIGN KEY (shop_id, contract_id) REFERENCES contracts (shop_id, id)
);
CREATE INDEX marks_due ON marks (shop_id, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX marks_due_shops ON marks (due_at, shop_id) WHERE due_at IS NOT NULL;
