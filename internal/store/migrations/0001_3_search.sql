-- What contracts are found, sorted and counted by.

-- By what a contract is found, sorted and counted, except for what billing changes: rows are
-- narrow and seldom written, so that they can have many indexes, and an index is nearly always
-- all that a query reads. Parts of texts are looked for in customer_folded, near the beginning
-- of the row.
CREATE TABLE contract_facets (
	shop_id bigint NOT NULL,
	id bigint NOT NULL, -- of the contract
	line {{.BinaryText}} NOT NULL,
	customer_folded {{.BinaryText}} NOT NULL, -- address, a line feed, name; cut to 500 characters when long
	status {{.BinaryText}} NOT NULL,
	delivery_interval {{.BinaryText}} NOT NULL,
	delivery_count bigint NOT NULL,
	prepaid boolean NOT NULL, -- billed and delivered in different numbers of intervals
	imported boolean NOT NULL,
	order_amount bigint NOT NULL,
	created_at bigint NOT NULL,
	customer_id bigint NOT NULL,
	PRIMARY KEY (shop_id, id),
	FOREIGN KEY (shop_id, id) REFERENCES contracts (shop_id, id)
);
CREATE INDEX contract_facets_by_creation ON contract_facets (shop_id, line, created_at, id);
CREATE INDEX contract_facets_by_status ON contract_facets (shop_id, line, status, created_at, id);
CREATE INDEX contract_facets_by_interval ON contract_facets (shop_id, line, delivery_interval, delivery_count, created_at, id);
CREATE INDEX contract_facets_prepaid ON contract_facets (shop_id, line, created_at, id) WHERE prepaid;
CREATE INDEX contract_facets_imported ON contract_facets (shop_id, line, created_at, id) WHERE imported;
CREATE INDEX contract_facets_by_amount ON contract_facets (shop_id, line, order_amount, id);
CREATE INDEX contract_facets_by_customer ON contract_facets (shop_id, line, customer_id, status, id);
{{.RowSecurity "contract_facets"}}
{{.SearchView "contract_facets"}}

-- How many contracts share the facets that have few values.
CREATE TABLE contract_counts (
	shop_id bigint NOT NULL,
	line {{.BinaryText}} NOT NULL,
	status {{.BinaryText}} NOT NULL,
	delivery_interval {{.BinaryText}} NOT NULL,
	delivery_count bigint NOT NULL,
	prepaid boolean NOT NULL,
	imported boolean NOT NULL,
	n bigint NOT NULL,
	PRIMARY KEY (shop_id, line, status, delivery_interval, delivery_count, prepaid, imported)
);
{{.RowSecurity "contract_counts"}}

-- How many contracts share a customer's text, in which parts of texts are counted.
CREATE TABLE customer_counts (
	shop_id bigint NOT NULL,
	line {{.BinaryText}} NOT NULL,
	customer_folded {{.BinaryText}} NOT NULL, -- as in contract_facets
	n integer NOT NULL,
	PRIMARY KEY (shop_id, line, customer_folded)
){{.WithoutRowID}};
CREATE INDEX customer_counts_empty ON customer_counts (shop_id) WHERE n = 0;
{{.RowSecurity "customer_counts"}}
{{.SearchView "customer_counts"}}

-- How many contracts share an amount, in which bounds of amounts are counted.
CREATE TABLE amount_counts (
	shop_id bigint NOT NULL,
	line {{.BinaryText}} NOT NULL,
	order_amount bigint NOT NULL,
	n integer NOT NULL,
	PRIMARY KEY (shop_id, line, order_amount)
){{.WithoutRowID}};
CREATE INDEX amount_counts_empty ON amount_counts (shop_id) WHERE n = 0;
{{.RowSecurity "amount_counts"}}

-- A text by parts of which a contract is found, in lower case. Terms have a table of their own
-- because their index is expensive and billing changes none of them.
CREATE TABLE search_terms (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	contract_id bigint NOT NULL,
	kind {{.BinaryText}} NOT NULL,
	term {{.BinaryText}} NOT NULL,
	PRIMARY KEY (shop_id, id),
	UNIQUE (shop_id, contract_id, kind, term),
	FOREIGN KEY (shop_id, contract_id) REFERENCES contracts (shop_id, id)
);
{{.RowSecurity "search_terms"}}
{{.SearchView "search_terms"}}

-- The number of changes of what the contracts of a line are found by: a count that was made is
-- valid until it rises.
CREATE TABLE search_versions (
	shop_id bigint NOT NULL,
	line {{.BinaryText}} NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, line)
);
{{.RowSecurity "search_versions"}}

-- The indexes of parts of texts.
{{- if .Postgres}}
CREATE INDEX contract_facets_by_part ON contract_facets USING gin (customer_folded gin_trgm_ops);
CREATE INDEX customer_counts_by_part ON customer_counts USING gin (customer_folded gin_trgm_ops);
-- An index for each kind of term, whose parts are unlike.
CREATE INDEX search_terms_by_number ON search_terms USING gin (term gin_trgm_ops) WHERE kind = 'number';
CREATE INDEX search_terms_by_order ON search_terms USING gin (term gin_trgm_ops) WHERE kind = 'order';
{{- else}}
-- Of three characters and more; rowid is the id of the term.
CREATE VIRTUAL TABLE search_parts USING fts5 (term, content = '', contentless_delete = 1, detail = full, tokenize = 'trigram');
CREATE TRIGGER search_terms_added AFTER INSERT ON search_terms BEGIN
	INSERT INTO search_parts (rowid, term) VALUES (new.id, new.term);
END;
CREATE TRIGGER search_terms_removed AFTER DELETE ON search_terms BEGIN
	DELETE FROM search_parts WHERE rowid = old.id;
END;
{{- end}}
