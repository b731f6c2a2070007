-- The import of an archive into a store, and which of its types are imported.
CREATE TABLE archive_imports (
	shop_id bigint NOT NULL REFERENCES shops (id),
	archive {{.BinaryText}} NOT NULL, -- SHA-256 of its manifest, hexadecimal
	type {{.BinaryText}} NOT NULL, -- empty: the whole import
	records bigint NOT NULL,
	began_at bigint NOT NULL,
	ended_at bigint NOT NULL, -- 0: it has not
	PRIMARY KEY (shop_id, archive, type)
);
CREATE UNIQUE INDEX archive_imports_one ON archive_imports (shop_id) WHERE type = '';
{{.RowSecurity "archive_imports"}}
