-- +goose Up
-- Charges that were declined: the case of an order is kept with its attempt, and
-- what its contract knows of it with the contract. Both are JSON.
ALTER TABLE attempts ADD COLUMN dunning text NOT NULL DEFAULT '';
ALTER TABLE contracts ADD COLUMN dunning text NOT NULL DEFAULT '';
CREATE INDEX contracts_in_dunning ON contracts (shop_id, id) WHERE dunning <> '';

-- Tries that count against a payment method: those that were declined, and all
-- retries.
CREATE TABLE card_tries (
	shop_id bigint NOT NULL REFERENCES shops (id),
	id bigint NOT NULL,
	payment_method text NOT NULL,
	tried_at bigint NOT NULL,
	by_plan boolean NOT NULL,
	PRIMARY KEY (shop_id, id)
);
CREATE INDEX card_tries_by_method ON card_tries (shop_id, payment_method, tried_at);
