-- Texts of the portal that merchants have written in place of the product's own.
CREATE TABLE portal_texts (
	shop_id bigint NOT NULL,
	language {{.BinaryText}} NOT NULL, -- tag of a language of the catalogue
	text_key {{.BinaryText}} NOT NULL,
	form {{.BinaryText}} NOT NULL, -- plural form; empty: the text has none
	words text NOT NULL,
	changed_at bigint NOT NULL,
	PRIMARY KEY (shop_id, language, text_key, form)
){{.WithoutRowID}};
{{.RowSecurity "portal_texts"}}
