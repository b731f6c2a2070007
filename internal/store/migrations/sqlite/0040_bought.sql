-- +goose Up
-- What the lines of a contract cost when it came, for which its first order earns points;
-- -1 of those that are there already: nobody knows.
ALTER TABLE contracts ADD COLUMN first_amount bigint NOT NULL DEFAULT -1;

-- Options of plans that were removed: the platform may tell later of what was bought on
-- them before.
CREATE TABLE removed_plan_options (
	shop_id bigint NOT NULL,
	id bigint NOT NULL, -- of the selling plan
	terms text NOT NULL,
	PRIMARY KEY (shop_id, id)
);
