-- +goose Up
-- A contract that was split off goes on with the orders of the one that it was split from,
-- by which plans count their prices. Of those that were made before, nobody knows how many
-- there were: they count as having had one, as they have until now.
ALTER TABLE contracts ADD COLUMN earlier_orders bigint NOT NULL DEFAULT 0;
UPDATE contracts SET earlier_orders = 1 WHERE split_from <> 0 AND origin_order_id = 0;
