-- +goose Up
-- How prices of lines change with the orders by the plans on which they came, as JSON: a
-- contract keeps what it took from its plan. All contracts are read anew, so that those
-- that are there already have it too.
ALTER TABLE contracts ADD COLUMN plan_pricing text NOT NULL DEFAULT '';
UPDATE shops SET reconciled_at = 0, reconcile_at = 1;
