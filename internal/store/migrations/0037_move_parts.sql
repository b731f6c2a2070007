-- What a store has beside contracts, in its moves.
ALTER TABLE moves ADD COLUMN loyalty text NOT NULL DEFAULT ''; -- address of the other service's loyalty; empty: it has none
ALTER TABLE moves ADD COLUMN parts_source bigint NOT NULL DEFAULT 0; -- which of the lists is read next
ALTER TABLE moves ADD COLUMN parts_page bigint NOT NULL DEFAULT 0; -- of it
ALTER TABLE moves ADD COLUMN parts_began_at bigint NOT NULL DEFAULT 0; -- when reading began
ALTER TABLE moves ADD COLUMN parts_read_at bigint NOT NULL DEFAULT 0; -- when all were read
ALTER TABLE moves ADD COLUMN parts_make boolean NOT NULL DEFAULT false; -- those that go are made once all were read
ALTER TABLE moves ADD COLUMN parts_declined boolean NOT NULL DEFAULT false; -- contracts are moved without those that are not made

CREATE TABLE move_parts (
	shop_id bigint NOT NULL,
	move_id bigint NOT NULL,
	kind {{.BinaryText}} NOT NULL,
	line {{.BinaryText}} NOT NULL, -- empty: of no line
	there_id {{.BinaryText}} NOT NULL, -- at the service that is left; empty: all of the kind
	name text NOT NULL,
	here_id bigint NOT NULL, -- 0: it is not made
	customer_id bigint NOT NULL, -- 0: none, or not known
	stage {{.BinaryText}} NOT NULL,
	fit {{.BinaryText}} NOT NULL, -- empty: not known yet
	findings text NOT NULL, -- JSON
	reason text NOT NULL, -- why it could not be made
	data text NOT NULL, -- JSON: as it was read last
	plans text NOT NULL, -- JSON: of a plan group, its selling plans here by those there
	unread boolean NOT NULL, -- it is read next
	filed boolean NOT NULL, -- it comes from a file
	seen_at bigint NOT NULL, -- when it was listed last
	begun_at bigint NOT NULL, -- when its making began
	made_at bigint NOT NULL,
	PRIMARY KEY (shop_id, move_id, kind, line, there_id)
){{.WithoutRowID}};
{{.RowSecurity "move_parts"}}
CREATE INDEX move_parts_unread ON move_parts (shop_id, move_id, kind, line, there_id) WHERE unread;
CREATE INDEX move_parts_by_stage ON move_parts (shop_id, move_id, stage, kind, line, there_id);
CREATE INDEX move_parts_by_customer ON move_parts (shop_id, customer_id) WHERE customer_id > 0;
