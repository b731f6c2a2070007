-- +goose Up
-- What was paid of late is compared with the platform's books, and nothing else is
-- read for that.
CREATE INDEX attempts_paid ON attempts (shop_id, updated_at, id) WHERE status = 'SUCCESS';
