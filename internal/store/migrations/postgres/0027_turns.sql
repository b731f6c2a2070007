-- +goose Up
-- Where later orders begin a contract's series anew, while others wait before them.
-- JSON; empty: nowhere.
ALTER TABLE contracts ADD COLUMN turns text NOT NULL DEFAULT '';
