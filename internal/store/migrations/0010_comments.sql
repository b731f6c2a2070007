-- What users of the dashboard note about contracts. Customers and clients of the API never see it.
CREATE TABLE contract_comments (
	shop_id bigint NOT NULL,
	id bigint NOT NULL,
	contract_id bigint NOT NULL,
	author text NOT NULL, -- as the activity log names actors
	body text NOT NULL,
	created_at bigint NOT NULL,
	PRIMARY KEY (shop_id, id)
);
CREATE INDEX contract_comments_by_contract ON contract_comments (shop_id, contract_id, created_at, id);
{{.RowSecurity "contract_comments"}}

CREATE INDEX messages_by_contract ON messages (shop_id, contract_id, created_at, id);

-- The user of the dashboard who opens the portal as the customer; empty: the customer.
ALTER TABLE portal_links ADD COLUMN opened_by text NOT NULL DEFAULT '';
ALTER TABLE portal_sessions ADD COLUMN opened_by text NOT NULL DEFAULT '';
