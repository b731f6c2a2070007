-- +goose Up
-- What a contract waits for, as JSON: a change of status that is under way, a
-- pause, a cancellation, and the free trial with which it began.
ALTER TABLE contracts ADD COLUMN moving text NOT NULL DEFAULT '';
ALTER TABLE contracts ADD COLUMN pause text NOT NULL DEFAULT '';
ALTER TABLE contracts ADD COLUMN ending text NOT NULL DEFAULT '';
ALTER TABLE contracts ADD COLUMN trial text NOT NULL DEFAULT '';
-- One payment was for good.
ALTER TABLE contracts ADD COLUMN lifelong boolean NOT NULL DEFAULT false;
-- When it expires, in milliseconds; 0: not yet.
ALTER TABLE contracts ADD COLUMN expire_at bigint NOT NULL DEFAULT 0;
