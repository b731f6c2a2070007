-- The permission that a shop has given to an app, and its tokens.
CREATE TABLE platform_connections (
	shop_id bigint NOT NULL REFERENCES shops (id),
	app {{.BinaryText}} NOT NULL,
	access_token text NOT NULL, -- encrypted, like the other two; empty: no permission was given
	expires_at bigint NOT NULL,
	refresh_token text NOT NULL,
	refresh_expires_at bigint NOT NULL,
	previous_token text NOT NULL, -- refresh token from which the other two came
	migrating boolean NOT NULL, -- access_token never expires and will be exchanged
	scopes text NOT NULL, -- granted, separated by commas, like asked
	asked text NOT NULL, -- of the last consent page that were not all granted
	granted_at bigint NOT NULL,
	renewed_at bigint NOT NULL,
	holder text NOT NULL, -- process that refreshes until held_until; empty: none
	held_until bigint NOT NULL,
	failures bigint NOT NULL, -- refreshes in a row
	retry_at bigint NOT NULL,
	refused text NOT NULL, -- why the platform does not accept the refresh token; empty: it does
	PRIMARY KEY (shop_id, app)
);
{{.RowSecurity "platform_connections"}}

-- States of installations that were used. One may come before its shop is known, so that the
-- table is no shop's own.
CREATE TABLE oauth_states (
	state text NOT NULL PRIMARY KEY, -- SHA-256, hexadecimal
	expires_at bigint NOT NULL
);
CREATE INDEX oauth_states_age ON oauth_states (expires_at);
