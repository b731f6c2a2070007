-- +goose Up
-- Rises with every change of the shop's plan groups and bundles, so that what was read of
-- them is known to be as they are.
ALTER TABLE shops ADD COLUMN catalogue bigint NOT NULL DEFAULT 0;
