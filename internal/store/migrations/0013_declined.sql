{{.AllShops}}
-- How far the orders have come that were declined.
ALTER TABLE order_outcomes ADD COLUMN retried boolean NOT NULL DEFAULT false;
ALTER TABLE order_outcomes ADD COLUMN mailed boolean NOT NULL DEFAULT false;
ALTER TABLE order_outcomes ADD COLUMN renewed boolean NOT NULL DEFAULT false; -- the payment method changed
ALTER TABLE failure_days ADD COLUMN retried bigint NOT NULL DEFAULT 0;
ALTER TABLE failure_days ADD COLUMN retried_amount bigint NOT NULL DEFAULT 0;
ALTER TABLE failure_days ADD COLUMN mailed bigint NOT NULL DEFAULT 0;
ALTER TABLE failure_days ADD COLUMN mailed_amount bigint NOT NULL DEFAULT 0;
ALTER TABLE failure_days ADD COLUMN renewed bigint NOT NULL DEFAULT 0;
ALTER TABLE failure_days ADD COLUMN renewed_amount bigint NOT NULL DEFAULT 0;
ALTER TABLE failure_days ADD COLUMN lost bigint NOT NULL DEFAULT 0;
ALTER TABLE failure_days ADD COLUMN lost_amount bigint NOT NULL DEFAULT 0;

-- By which the unpaid orders of a class are found and counted.
ALTER TABLE contracts ADD COLUMN dunning_class {{.BinaryText}} NOT NULL DEFAULT ''; -- of dunning; empty: none
UPDATE contracts SET dunning_class = COALESCE({{if .Postgres}}dunning::json ->> 'class'{{else}}json_extract(dunning, '$.class'){{end}}, '') WHERE dunning <> '';
CREATE INDEX contracts_by_dunning_class ON contracts (shop_id, dunning_class, id) WHERE dunning <> '';

ALTER TABLE swap_rules ADD COLUMN switched_off boolean NOT NULL DEFAULT false; -- it is kept and changes no order
