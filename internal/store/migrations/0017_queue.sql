{{.AllShops}}
-- The orders that are queued and charged automatically, summed by the quarter of an hour in
-- which they fall due: every day of every time zone begins with one. Each counts with the
-- expected amount of its contract, in contract_history.
CREATE TABLE queue_quarters (
	shop_id bigint NOT NULL,
	quarter bigint NOT NULL, -- of an hour, counted from 1970-01-01 in UTC
	currency {{.BinaryText}} NOT NULL,
	plan_group_id bigint NOT NULL, -- 0: none of the store's
	cycle bigint NOT NULL, -- 13 stands for all later ones
	orders bigint NOT NULL,
	amount bigint NOT NULL, -- minor units
	PRIMARY KEY (shop_id, quarter, currency, plan_group_id, cycle)
){{.WithoutRowID}};
{{.RowSecurity "queue_quarters"}}

INSERT INTO queue_quarters (shop_id, quarter, currency, plan_group_id, cycle, orders, amount)
SELECT a.shop_id, a.due_at / 900000, h.currency, h.plan_group_id, CASE WHEN a.cycle > 13 THEN 13 ELSE a.cycle END AS up_to, COUNT(*), SUM(h.order_amount)
FROM attempts AS a JOIN contract_history AS h ON h.shop_id = a.shop_id AND h.contract_id = a.contract_id AND h.valid_to = 0
WHERE a.due_at IS NOT NULL AND a.status = 'QUEUED'
GROUP BY a.shop_id, a.due_at / 900000, h.currency, h.plan_group_id, up_to;
