-- What a merchant writes in place of the product's e-mails: every version that was published.
CREATE TABLE mail_templates (
	shop_id bigint NOT NULL,
	kind {{.BinaryText}} NOT NULL,
	language {{.BinaryText}} NOT NULL, -- tag of a language of the catalogue
	version bigint NOT NULL, -- from 1
	live boolean NOT NULL, -- it is sent
	subject text NOT NULL,
	preheader text NOT NULL,
	heading text NOT NULL,
	body text NOT NULL,
	button text NOT NULL,
	author text NOT NULL,
	published_at bigint NOT NULL,
	PRIMARY KEY (shop_id, kind, language, version)
);
CREATE UNIQUE INDEX mail_templates_live ON mail_templates (shop_id, kind, language) WHERE live;
{{.RowSecurity "mail_templates"}}
