-- +goose Up
-- Names and addresses in one text, in which parts are looked for.
ALTER TABLE contract_facets ADD COLUMN customer_folded text NOT NULL GENERATED ALWAYS AS (name_folded || char(10) || email_folded) VIRTUAL;
