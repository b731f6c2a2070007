-- How a merchant has the portal look. No row: as the product does.
CREATE TABLE portal_designs (
	shop_id bigint NOT NULL PRIMARY KEY,
	design text NOT NULL,
	updated_at bigint NOT NULL,
	version bigint NOT NULL
){{.WithoutRowID}};
{{.RowSecurity "portal_designs"}}

-- Logos: the one that a design names, and the one before it for the pages that are open.
CREATE TABLE portal_logos (
	shop_id bigint NOT NULL,
	hash {{.BinaryText}} NOT NULL, -- of the picture
	picture text NOT NULL, -- PNG in base64
	PRIMARY KEY (shop_id, hash)
);
{{.RowSecurity "portal_logos"}}
