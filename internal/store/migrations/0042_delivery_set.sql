{{.AllShops}}
-- Whether a person has set what delivery costs: it stays where the contract's orders go somewhere else.
ALTER TABLE contracts ADD COLUMN delivery_set boolean NOT NULL DEFAULT false;
