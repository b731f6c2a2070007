-- +goose Up
-- How many of the platform's cycles a contract has jumped over, by a pause, a free
-- trial or another calendar: they were never orders, and do not bring its end nearer.
ALTER TABLE contracts ADD COLUMN passed_cycles bigint NOT NULL DEFAULT 0;
