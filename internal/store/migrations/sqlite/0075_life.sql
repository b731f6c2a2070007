-- +goose Up
-- Since when the orders of a store wait for the merchant's confirmation; 0: they do not.
ALTER TABLE shops ADD COLUMN awaits_merchant bigint NOT NULL DEFAULT 0;
-- Where the merchant is told what needs their attention; empty: not known.
ALTER TABLE shops ADD COLUMN owner_email text NOT NULL DEFAULT '';
