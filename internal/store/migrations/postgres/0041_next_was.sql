-- +goose Up
-- When the order was to come that a cancellation took away; 0 where none did, or where it
-- was before this column.
ALTER TABLE contracts ADD COLUMN next_was bigint NOT NULL DEFAULT 0;
