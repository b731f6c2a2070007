-- +goose Up
-- What keeps a store from being charged, and when the platform is asked whether
-- this installation is still the one that charges it.
ALTER TABLE shops ADD COLUMN frozen_at bigint NOT NULL DEFAULT 0;
ALTER TABLE shops ADD COLUMN confirm_by bigint NOT NULL DEFAULT 0;
ALTER TABLE shops ADD COLUMN held_until bigint NOT NULL DEFAULT 0;
ALTER TABLE shops ADD COLUMN check_at bigint NOT NULL DEFAULT 0;
ALTER TABLE shops ADD COLUMN guard text NOT NULL DEFAULT '{}';

-- Where the installation lives: a copy of its database does not live there.
ALTER TABLE installation ADD COLUMN place text NOT NULL DEFAULT '';
ALTER TABLE installation ADD COLUMN host text NOT NULL DEFAULT '';

-- How a store's charges went of late, counted by short slots of time.
CREATE TABLE charge_counts (
	shop_id bigint NOT NULL,
	slot bigint NOT NULL, -- instant at which it begins
	sent bigint NOT NULL,
	ended bigint NOT NULL,
	paid bigint NOT NULL,
	declined bigint NOT NULL,
	gateway bigint NOT NULL,
	PRIMARY KEY (shop_id, slot),
	FOREIGN KEY (shop_id) REFERENCES shops (id)
);

-- Differences between the platform's books and ours.
CREATE TABLE findings (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	kind text NOT NULL,
	contract_id bigint NOT NULL,
	cycle bigint NOT NULL,
	object text NOT NULL, -- graph id, where the contract and the cycle do not say enough
	what text NOT NULL,
	first_seen_at bigint NOT NULL,
	last_seen_at bigint NOT NULL,
	resolved_at bigint NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id),
	UNIQUE (shop_id, kind, contract_id, cycle, object),
	FOREIGN KEY (shop_id) REFERENCES shops (id)
);
CREATE INDEX findings_open ON findings (shop_id, kind, id) WHERE resolved_at = 0;

-- Contracts that run and have no order to come.
CREATE INDEX contracts_unplanned ON contracts (shop_id, id) WHERE status = 'ACTIVE' AND next_billing_date = 0;
