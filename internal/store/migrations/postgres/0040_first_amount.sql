-- +goose Up
-- What the lines of a contract cost when it came, for which its first order earns points;
-- -1 of those that are there already: nobody knows.
ALTER TABLE contracts ADD COLUMN first_amount bigint NOT NULL DEFAULT -1;
