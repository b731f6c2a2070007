-- +goose Up
-- What orders cost besides their lines: discounts, and prices that change with the
-- orders, as JSON. All contracts are read anew, so that those that are there
-- already have them too.
ALTER TABLE contracts ADD COLUMN pricing text NOT NULL DEFAULT '';
ALTER TABLE contracts ADD COLUMN discounts text NOT NULL DEFAULT '';
UPDATE shops SET reconciled_at = 0, reconcile_at = 1;
