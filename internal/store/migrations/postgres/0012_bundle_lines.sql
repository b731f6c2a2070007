-- +goose Up
-- Bundles are of one line of the business, as the contracts that are their boxes.
ALTER TABLE bundles ADD COLUMN line text NOT NULL DEFAULT 'SUBSCRIPTION';
