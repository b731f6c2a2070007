-- Messages travel as e-mail or as SMS.
ALTER TABLE messages ADD COLUMN channel {{.BinaryText}} NOT NULL DEFAULT ''; -- sms; empty: e-mail
ALTER TABLE messages ADD COLUMN provider_id {{.BinaryText}} NOT NULL DEFAULT ''; -- of an SMS that the provider accepted
-- What the provider reported of an SMS that it accepted: delivered or failed; empty: nothing yet.
ALTER TABLE messages ADD COLUMN delivery {{.BinaryText}} NOT NULL DEFAULT '';
ALTER TABLE messages ADD COLUMN delivery_error text NOT NULL DEFAULT '';

-- The agreement of a customer to SMS to a phone number. Ended ones are kept: they prove what was
-- allowed when.
CREATE TABLE sms_consents (
	shop_id bigint NOT NULL,
	id bigint NOT NULL, -- in the order in which they were given
	customer_id bigint NOT NULL,
	phone {{.BinaryText}} NOT NULL, -- E.164
	source {{.BinaryText}} NOT NULL, -- how it was given
	client_ip text NOT NULL,
	given_at bigint NOT NULL,
	ended_at bigint NOT NULL, -- 0: it holds
	ended_by {{.BinaryText}} NOT NULL,
	PRIMARY KEY (shop_id, id)
);
CREATE UNIQUE INDEX sms_consents_held ON sms_consents (shop_id, customer_id) WHERE ended_at = 0;
CREATE INDEX sms_consents_customer ON sms_consents (shop_id, customer_id, id);
CREATE INDEX sms_consents_phone ON sms_consents (phone, shop_id);
{{.RowSecurity "sms_consents"}}
