-- Sign-ins with an account at the store that have begun at the platform.
CREATE TABLE portal_account_sign_ins (
	shop_id bigint NOT NULL,
	state {{.BinaryText}} NOT NULL, -- hash of what the platform gives back
	browser {{.BinaryText}} NOT NULL, -- hash of the browser's cookie
	nonce text NOT NULL, -- sealed, like the verifier; empty after the use
	verifier text NOT NULL,
	created_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	used_at bigint NOT NULL,
	PRIMARY KEY (shop_id, state)
);
CREATE INDEX portal_account_sign_ins_expired ON portal_account_sign_ins (shop_id, expires_at);
{{.RowSecurity "portal_account_sign_ins"}}

-- With which a subscriber signs out at the platform, sealed; empty: they did not sign in there.
ALTER TABLE portal_sessions ADD COLUMN id_token text NOT NULL DEFAULT '';

-- The secret of the store's client of customer accounts, sealed. Its id is among the settings.
ALTER TABLE portal_settings ADD COLUMN account_secret text NOT NULL DEFAULT '';
