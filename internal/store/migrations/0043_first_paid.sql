{{.AllShops}}
-- What was paid for the checkout's order, in minor units of the contract's currency; -1: not known.
ALTER TABLE contracts ADD COLUMN first_paid bigint NOT NULL DEFAULT -1;
