-- +goose Up
-- Addresses and names in one text, in which parts are looked for.
ALTER TABLE contract_facets ADD COLUMN customer_folded text NOT NULL GENERATED ALWAYS AS (email_folded || char(10) || name_folded) VIRTUAL;
