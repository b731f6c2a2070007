-- +goose Up
-- The customer who is there in place of customer_id after the two were merged; 0: not told of.
ALTER TABLE inbox ADD COLUMN kept_customer bigint NOT NULL DEFAULT 0;
