-- +goose Up
-- One at a time tells the platform of a contract's attempts, so that an older
-- word never comes after a newer one.
ALTER TABLE attempts ADD COLUMN telling_until bigint NOT NULL DEFAULT 0;
CREATE INDEX attempts_told ON attempts (shop_id, contract_id) WHERE telling_until > 0;
