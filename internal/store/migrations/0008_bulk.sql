-- Actions on many contracts.
CREATE TABLE bulk_jobs (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	kind text NOT NULL,
	action text NOT NULL, -- JSON, with what the kind needs
	selection text NOT NULL, -- JSON; empty once its contracts are in bulk_items
	status {{.BinaryText}} NOT NULL,
	request {{.BinaryText}} NOT NULL, -- key of the request that started it
	started_by text NOT NULL,
	client_ip text NOT NULL,
	retry_of bigint NOT NULL, -- 0: none
	total bigint NOT NULL, -- contracts, like the four that follow
	collected bigint NOT NULL,
	collected_to bigint NOT NULL, -- the last one, by id
	succeeded bigint NOT NULL,
	failed bigint NOT NULL,
	created_at bigint NOT NULL,
	started_at bigint NOT NULL, -- 0: no contract was begun
	ended_at bigint NOT NULL, -- 0: it is open
	due_at bigint, -- when a worker goes on with it
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, id)
);
{{.RowSecurity "bulk_jobs"}}
CREATE UNIQUE INDEX bulk_jobs_by_request ON bulk_jobs (shop_id, request);
CREATE INDEX bulk_jobs_due ON bulk_jobs (due_at, shop_id) WHERE due_at IS NOT NULL;

-- The contracts of each action.
CREATE TABLE bulk_items (
	shop_id bigint NOT NULL,
	job_id bigint NOT NULL,
	contract_id bigint NOT NULL,
	status {{.BinaryText}} NOT NULL,
	due_at bigint, -- when it is begun, or when the lease of who began it ends; NULL: it is settled
	tries bigint NOT NULL,
	attempt_id bigint NOT NULL, -- the order that is meant; 0: none
	move_to bigint NOT NULL, -- the day that it is moved to; 0: none
	discount text NOT NULL, -- graph id of the one that is removed; empty: none
	changed boolean NOT NULL, -- set by the commit that changes the contract
	code text NOT NULL, -- why it failed; empty: it did not
	reason text NOT NULL,
	ended_at bigint NOT NULL,
	PRIMARY KEY (shop_id, job_id, contract_id)
){{.WithoutRowID}};
{{.RowSecurity "bulk_items"}}
CREATE INDEX bulk_items_due ON bulk_items (shop_id, job_id, due_at, contract_id) WHERE due_at IS NOT NULL;
CREATE INDEX bulk_items_failed ON bulk_items (shop_id, job_id, contract_id) WHERE status = 'FAILED';
