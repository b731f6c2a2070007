-- +goose Up
-- What people wish of single orders to come, as JSON, while the contract has no
-- queue of them.
ALTER TABLE contracts ADD COLUMN wishes text NOT NULL DEFAULT '';
-- Until when somebody is changing the contract, alone.
ALTER TABLE contracts ADD COLUMN changing_until bigint NOT NULL DEFAULT 0;
