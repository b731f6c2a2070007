-- +goose Up
-- When the queue of a contract's upcoming attempts was made or changed last; 0 where
-- that was before anybody noted it.
ALTER TABLE contracts ADD COLUMN queue_updated_at bigint NOT NULL DEFAULT 0;
