{{.AllShops}}
-- The last expiry of points that a member was reminded of, by the first and the last reminder.
ALTER TABLE loyalty_accounts ADD COLUMN reminded_first bigint NOT NULL DEFAULT 0;
ALTER TABLE loyalty_accounts ADD COLUMN reminded_last bigint NOT NULL DEFAULT 0;
-- Members become due to be reminded, too: 30 days before what they were due for, when the exact
-- instant is computed.
UPDATE loyalty_accounts SET due_at = due_at - 2592000000 WHERE due_at IS NOT NULL;
