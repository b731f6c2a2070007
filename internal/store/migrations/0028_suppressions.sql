-- Addresses to which stores send no e-mails any more.
CREATE TABLE suppressions (
	shop_id bigint NOT NULL,
	address_hash {{.BinaryText}} NOT NULL, -- SHA-256 of the address in lower case
	hint text NOT NULL, -- the address, masked; empty once its owner was erased
	reason {{.BinaryText}} NOT NULL,
	source text NOT NULL,
	at bigint NOT NULL,
	PRIMARY KEY (shop_id, address_hash)
);
CREATE INDEX suppressions_by_time ON suppressions (shop_id, at);
{{.RowSecurity "suppressions"}}
ALTER TABLE messages ADD COLUMN mail_id {{.BinaryText}} NOT NULL DEFAULT ''; -- local part of the Message-ID; empty: not sent
CREATE INDEX messages_by_mail_id ON messages (mail_id) WHERE mail_id <> '';
