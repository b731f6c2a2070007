-- Moves of contracts that merchants have in CSV files.
ALTER TABLE moves ADD COLUMN file text NOT NULL DEFAULT ''; -- JSON: its name, header and mapping; empty: the contracts come from another service

-- Their content, until contracts are moved.
CREATE TABLE move_files (
	shop_id bigint NOT NULL,
	move_id bigint NOT NULL,
	part bigint NOT NULL, -- from 0
	content text NOT NULL, -- compressed and sealed
	PRIMARY KEY (shop_id, move_id, part)
){{.WithoutRowID}};
{{.RowSecurity "move_files"}}

-- Contracts that came from elsewhere are found by what named them there.
CREATE INDEX contracts_by_imported ON contracts (shop_id, imported_id) WHERE imported_id <> '';
