-- +goose Up
-- How many dates of a contract's calendar come before the cycle with which its queue
-- begins: one that ran again after a pause is still counted from where it began.
ALTER TABLE contracts ADD COLUMN series_passed bigint NOT NULL DEFAULT 0;
