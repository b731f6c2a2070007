-- +goose Up
-- The names under which PostgreSQL reads tables in which parts of texts are looked up.
CREATE VIEW own_contract_facets AS SELECT * FROM contract_facets;
CREATE VIEW own_customer_counts AS SELECT * FROM customer_counts;
CREATE VIEW own_search_terms AS SELECT * FROM search_terms;
