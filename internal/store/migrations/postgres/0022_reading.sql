-- +goose Up
-- How far a reconciliation has come that has not ended, as JSON: the next one goes
-- on from there.
ALTER TABLE shops ADD COLUMN reading text NOT NULL DEFAULT '';
