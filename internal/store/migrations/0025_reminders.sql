{{.AllShops}}
ALTER TABLE contracts ADD COLUMN remind_at bigint; -- when the customer is first reminded of the next order
ALTER TABLE contracts ADD COLUMN reminded_for bigint NOT NULL DEFAULT 0; -- date for which that is done
ALTER TABLE contracts ADD COLUMN card_remind_at bigint; -- when the customer is first told that the card expires
ALTER TABLE contracts ADD COLUMN card_reminded_for bigint NOT NULL DEFAULT 0; -- instant of card_remind_at for which that is done
UPDATE contracts SET remind_at = notify_at WHERE notify_at IS NOT NULL;
CREATE INDEX contracts_unreminded ON contracts (shop_id, remind_at, id) WHERE remind_at IS NOT NULL AND reminded_for <> next_billing_date;
CREATE INDEX contracts_with_expiring_card ON contracts (shop_id, card_remind_at, id) WHERE card_remind_at IS NOT NULL AND card_reminded_for <> card_remind_at;

ALTER TABLE messages ADD COLUMN attempt_id bigint NOT NULL DEFAULT 0;
ALTER TABLE messages ADD COLUMN customer_id bigint NOT NULL DEFAULT 0;
CREATE INDEX messages_by_recipient ON messages (shop_id, recipient, sent_at);
CREATE INDEX messages_waiting ON messages (shop_id, recipient, due_at) WHERE due_at IS NOT NULL;
