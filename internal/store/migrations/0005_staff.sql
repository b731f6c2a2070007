-- Users of the dashboard. They belong to no one store: shop_staff says to which.
CREATE TABLE users (
	id bigint NOT NULL PRIMARY KEY,
	email {{.BinaryText}} NOT NULL, -- lower case; empty for a user that only the platform knows
	name text NOT NULL,
	password text NOT NULL, -- argon2id; empty: none
	totp_secret text NOT NULL, -- encrypted; empty: off
	totp_step bigint NOT NULL,
	recovery text NOT NULL, -- hashes of the codes that are left, with spaces between
	created_at bigint NOT NULL,
	version bigint NOT NULL
);
CREATE UNIQUE INDEX users_by_email ON users (email) WHERE email <> '';

-- Users who are signed in, or who still have to bring the second factor.
CREATE TABLE user_sessions (
	hash {{.BinaryText}} NOT NULL PRIMARY KEY, -- SHA-256, hexadecimal
	user_id bigint NOT NULL,
	pending boolean NOT NULL, -- the second factor is missing
	client_ip text NOT NULL,
	agent text NOT NULL,
	created_at bigint NOT NULL,
	seen_at bigint NOT NULL,
	expires_at bigint NOT NULL
);
CREATE INDEX user_sessions_of ON user_sessions (user_id, seen_at);
CREATE INDEX user_sessions_expired ON user_sessions (expires_at);

-- Links with which users set a new password.
CREATE TABLE user_resets (
	hash {{.BinaryText}} NOT NULL PRIMARY KEY, -- SHA-256, hexadecimal
	user_id bigint NOT NULL,
	expires_at bigint NOT NULL
);
CREATE INDEX user_resets_of ON user_resets (user_id);

-- What was tried lately, by the hash of an account or a client.
CREATE TABLE user_throttles (
	subject {{.BinaryText}} NOT NULL PRIMARY KEY,
	times text NOT NULL, -- milliseconds, with spaces between
	expires_at bigint NOT NULL
);
CREATE INDEX user_throttles_expired ON user_throttles (expires_at);

-- Who belongs to a store, or did.
CREATE TABLE shop_staff (
	shop_id bigint NOT NULL,
	user_id bigint NOT NULL,
	role {{.BinaryText}} NOT NULL,
	platform_user {{.BinaryText}} NOT NULL, -- the platform's id of the user in the store; empty: not known
	added_by text NOT NULL,
	created_at bigint NOT NULL,
	removed_at bigint NOT NULL, -- 0: belongs to the store
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, user_id)
);
{{.RowSecurity "shop_staff"}}
CREATE UNIQUE INDEX shop_staff_by_platform_user ON shop_staff (shop_id, platform_user) WHERE platform_user <> '';
CREATE INDEX shop_staff_of_user ON shop_staff (user_id);

-- Invitations to become a user of a store.
CREATE TABLE staff_invitations (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	email {{.BinaryText}} NOT NULL, -- lower case
	role {{.BinaryText}} NOT NULL,
	hash {{.BinaryText}} NOT NULL,
	invited_by text NOT NULL,
	created_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	ended_at bigint NOT NULL, -- 0: open
	PRIMARY KEY (shop_id, id)
);
{{.RowSecurity "staff_invitations"}}
CREATE UNIQUE INDEX staff_invitations_by_hash ON staff_invitations (shop_id, hash);
CREATE INDEX staff_invitations_by_email ON staff_invitations (shop_id, email);

-- When a step of the setup of a store was first seen to work.
CREATE TABLE setup_marks (
	shop_id bigint NOT NULL,
	step {{.BinaryText}} NOT NULL,
	at bigint NOT NULL,
	PRIMARY KEY (shop_id, step)
);
{{.RowSecurity "setup_marks"}}
