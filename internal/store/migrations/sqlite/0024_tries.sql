-- +goose Up
-- All tries that count against a payment method count alike.
ALTER TABLE card_tries DROP COLUMN by_plan;
