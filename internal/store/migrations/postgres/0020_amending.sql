-- +goose Up
-- Changes of a contract that are on their way to the platform: until they are
-- answered, an event is not taken for the word that somebody else has made them.
ALTER TABLE contracts ADD COLUMN amending text NOT NULL DEFAULT '';
