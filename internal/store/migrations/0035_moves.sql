-- Moves of a store's contracts from another service to this one, or the other way.
CREATE TABLE moves (
	shop_id bigint NOT NULL REFERENCES shops (id),
	id bigint NOT NULL,
	direction {{.BinaryText}} NOT NULL,
	address text NOT NULL, -- of the other service, like the next one
	memberships text NOT NULL, -- empty: it has no memberships
	api_key text NOT NULL, -- of the other service, sealed
	rate bigint NOT NULL, -- requests to it, in thousandths a second
	plans text NOT NULL, -- JSON: selling plans that take the place of others
	status {{.BinaryText}} NOT NULL,
	paused boolean NOT NULL,
	started_by text NOT NULL,
	client_ip text NOT NULL,
	line {{.BinaryText}} NOT NULL, -- that is listed
	page bigint NOT NULL, -- that is listed next
	announced bigint NOT NULL, -- contracts that the service says it has
	wave bigint NOT NULL, -- percent of the contracts that may be moved
	failures bigint NOT NULL, -- in a row
	failure text NOT NULL, -- the last one
	failed_at bigint NOT NULL, -- the first of them
	listed_at bigint NOT NULL,
	list_at bigint NOT NULL,
	since bigint NOT NULL,
	created_at bigint NOT NULL,
	read_at bigint NOT NULL,
	ended_at bigint NOT NULL,
	due_at bigint, -- when a worker goes on with it
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id)
);
{{.RowSecurity "moves"}}
CREATE INDEX moves_due ON moves (due_at, shop_id) WHERE due_at IS NOT NULL;

-- The contracts of each move.
CREATE TABLE move_items (
	shop_id bigint NOT NULL,
	move_id bigint NOT NULL,
	there_id bigint NOT NULL, -- at the service that is left
	customer_id bigint NOT NULL, -- 0: not read yet, or forgotten
	line {{.BinaryText}} NOT NULL,
	stage {{.BinaryText}} NOT NULL,
	fit {{.BinaryText}} NOT NULL, -- empty: not known yet
	failing boolean NOT NULL,
	contract text NOT NULL, -- JSON
	findings text NOT NULL, -- JSON
	next_at bigint NOT NULL, -- the next order as this service would charge it, like the three that follow; 0: none
	currency text NOT NULL,
	amount bigint NOT NULL,
	products text NOT NULL, -- JSON
	coming_here bigint NOT NULL, -- what this service would charge in the next 30 days
	coming_here_orders bigint NOT NULL,
	coming_there bigint NOT NULL, -- what the other service says that it will
	coming_there_orders bigint NOT NULL,
	round bigint NOT NULL, -- how often it was given back
	here_id bigint NOT NULL, -- at the service that it is moved to; 0: none yet
	failures bigint NOT NULL, -- in a row
	code text NOT NULL,
	reason text NOT NULL,
	since bigint NOT NULL, -- when it entered its stage
	ended_at bigint NOT NULL,
	due_at bigint, -- when a worker goes on with it
	PRIMARY KEY (shop_id, move_id, there_id)
){{.WithoutRowID}};
{{.RowSecurity "move_items"}}
CREATE INDEX move_items_due ON move_items (shop_id, move_id, due_at, there_id) WHERE due_at IS NOT NULL;
CREATE INDEX move_items_by_stage ON move_items (shop_id, move_id, stage, there_id);
CREATE INDEX move_items_by_customer ON move_items (shop_id, customer_id) WHERE customer_id > 0;

-- Orders of contracts that stayed for the time being, as planned here and as made there.
CREATE TABLE move_orders (
	shop_id bigint NOT NULL,
	move_id bigint NOT NULL,
	there_id bigint NOT NULL,
	due_on bigint NOT NULL,
	order_id bigint NOT NULL, -- 0: none was made
	verdict {{.BinaryText}} NOT NULL,
	currency text NOT NULL,
	planned bigint NOT NULL,
	charged bigint NOT NULL,
	made boolean NOT NULL, -- something was charged
	text text NOT NULL, -- what differs
	PRIMARY KEY (shop_id, move_id, there_id, due_on, order_id)
){{.WithoutRowID}};
{{.RowSecurity "move_orders"}}
CREATE INDEX move_orders_by_verdict ON move_orders (shop_id, move_id, verdict, due_on);
