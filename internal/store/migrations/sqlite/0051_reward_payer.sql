-- +goose Up
-- The member who spent the points of a reward: another one than the reward's, when they
-- were merged since.
ALTER TABLE loyalty_rewards ADD COLUMN payer_id bigint NOT NULL DEFAULT 0;
UPDATE loyalty_rewards SET payer_id = account_id;
