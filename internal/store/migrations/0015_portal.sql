-- What merchants have set about the portal of their store.
CREATE TABLE portal_settings (
	shop_id bigint NOT NULL,
	settings text NOT NULL, -- JSON; empty: the default ones
	updated_at bigint NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id)
);
{{.RowSecurity "portal_settings"}}

-- What subscribers have set about the portal and about e-mails.
CREATE TABLE portal_preferences (
	shop_id bigint NOT NULL,
	customer_id bigint NOT NULL,
	language text NOT NULL,
	mails_off text NOT NULL, -- kinds of e-mail that the subscriber does not want
	updated_at bigint NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, customer_id)
);
{{.RowSecurity "portal_preferences"}}
