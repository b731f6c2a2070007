-- +goose Up
-- The log of one contract, in the order in which it is read: without the number, SQLite
-- reads the whole log of the store to find it in order.
DROP INDEX activity_by_entity;
CREATE INDEX activity_by_entity ON activity (shop_id, entity_id, recorded_at, id);
