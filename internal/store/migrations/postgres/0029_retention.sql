-- +goose Up
-- What subscribers did and said when they thought of leaving.
CREATE TABLE retention_activities (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	contract_id bigint NOT NULL,
	customer_id bigint NOT NULL,
	done_at bigint NOT NULL,
	action text NOT NULL,
	reason text NOT NULL,
	discount text NOT NULL,
	info text NOT NULL,
	PRIMARY KEY (shop_id, id),
	FOREIGN KEY (shop_id, contract_id) REFERENCES contracts (shop_id, id)
);
CREATE INDEX retention_activities_of ON retention_activities (shop_id, contract_id, id);
