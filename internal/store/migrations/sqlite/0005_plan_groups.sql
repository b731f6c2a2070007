-- +goose Up
-- Groups of plan options. While the platform is being told of a change, pending
-- holds it and due_at says when a repair looks at it.
CREATE TABLE plan_groups (
	shop_id bigint NOT NULL REFERENCES shops (id),
	id bigint NOT NULL,
	platform_id bigint NOT NULL,
	line text NOT NULL,
	name text NOT NULL,
	terms text NOT NULL,
	state text NOT NULL,
	pending text NOT NULL,
	due_at bigint,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id)
);
CREATE INDEX plan_groups_due ON plan_groups (shop_id, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX plan_groups_due_shops ON plan_groups (due_at, shop_id) WHERE due_at IS NOT NULL;

-- The options, by the platform's number of their selling plan.
CREATE TABLE plan_options (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	group_id bigint NOT NULL,
	position bigint NOT NULL,
	terms text NOT NULL,
	PRIMARY KEY (shop_id, id),
	FOREIGN KEY (shop_id, group_id) REFERENCES plan_groups (shop_id, id)
);
CREATE INDEX plan_options_by_group ON plan_options (shop_id, group_id, position);

-- What is sold on a group's options: kind says whether item_id is a product or a
-- variant.
CREATE TABLE plan_items (
	shop_id bigint NOT NULL,
	group_id bigint NOT NULL,
	kind text NOT NULL,
	item_id bigint NOT NULL,
	title text NOT NULL,
	PRIMARY KEY (shop_id, group_id, kind, item_id),
	FOREIGN KEY (shop_id, group_id) REFERENCES plan_groups (shop_id, id)
);
CREATE INDEX plan_items_by_item ON plan_items (shop_id, kind, item_id);
