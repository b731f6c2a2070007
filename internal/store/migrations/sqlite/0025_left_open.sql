-- +goose Up
-- Charges that were given up while the platform held them open are asked for as long
-- as somebody may still confirm them.
CREATE INDEX attempts_left_open ON attempts (shop_id, updated_at, id) WHERE error_code IN ('CHALLENGE_EXPIRED', 'EARLIER_CHARGE_OPEN');
