-- +goose Up
-- Delivery profiles that the service made. A row without a platform_id is being
-- made; what the platform was asked for and has not answered is in pending.
CREATE TABLE delivery_profiles (
	shop_id bigint NOT NULL REFERENCES shops (id),
	id bigint NOT NULL,
	platform_id bigint,
	name text NOT NULL,
	plan_groups text NOT NULL,
	pending text NOT NULL,
	busy_until bigint NOT NULL,
	due_at bigint,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id),
	UNIQUE (shop_id, platform_id)
);
CREATE INDEX delivery_profiles_due ON delivery_profiles (due_at, shop_id) WHERE due_at IS NOT NULL;

CREATE TABLE bundles (
	shop_id bigint NOT NULL REFERENCES shops (id),
	id bigint NOT NULL,
	settings text NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id)
);
