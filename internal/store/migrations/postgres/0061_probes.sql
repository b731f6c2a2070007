-- +goose Up
-- What a node writes to see whether the database can be written to.
CREATE TABLE probes (
	id bigint NOT NULL PRIMARY KEY CHECK (id = 1),
	written_at bigint NOT NULL
);
