-- +goose Up
-- The permission that a store has given to an app, and its tokens.
CREATE TABLE platform_connections (
	shop_id bigint NOT NULL REFERENCES shops (id),
	app text COLLATE "C" NOT NULL,
	access_token text NOT NULL,
	expires_at bigint NOT NULL,
	refresh_token text NOT NULL,
	refresh_expires_at bigint NOT NULL,
	previous_token text NOT NULL,
	migrating boolean NOT NULL,
	scopes text NOT NULL,
	asked text NOT NULL,
	granted_at bigint NOT NULL,
	renewed_at bigint NOT NULL,
	holder text NOT NULL,
	held_until bigint NOT NULL,
	failures bigint NOT NULL,
	retry_at bigint NOT NULL,
	refused text NOT NULL,
	PRIMARY KEY (shop_id, app)
);

SELECT wall_off('platform_connections');

-- States of installations that were used. A state may come before its store is known.
CREATE TABLE oauth_states (
	state text NOT NULL PRIMARY KEY,
	expires_at bigint NOT NULL
);
CREATE INDEX oauth_states_age ON oauth_states (expires_at);
