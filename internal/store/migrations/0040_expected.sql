{{.AllShops}}
-- What upcoming orders are expected to cost is kept with each of them: orders of one contract may
-- differ, by prices by cycle, discounts, swap rules and one-time products.
ALTER TABLE attempts ADD COLUMN expected bigint NOT NULL DEFAULT 0; -- minor units of the contract's currency, before taxes

UPDATE attempts SET expected = (
	SELECT h.order_amount + c.delivery_price FROM contract_history AS h JOIN contracts AS c ON c.shop_id = h.shop_id AND c.id = h.contract_id
	WHERE h.shop_id = attempts.shop_id AND h.contract_id = attempts.contract_id AND h.valid_to = 0
) WHERE status IN ('QUEUED', 'FAILURE') AND EXISTS (
	SELECT 1 FROM contract_history AS h JOIN contracts AS c ON c.shop_id = h.shop_id AND c.id = h.contract_id
	WHERE h.shop_id = attempts.shop_id AND h.contract_id = attempts.contract_id AND h.valid_to = 0
);

DELETE FROM queue_quarters;
INSERT INTO queue_quarters (shop_id, quarter, currency, plan_group_id, cycle, orders, amount)
SELECT a.shop_id, a.due_at / 900000, h.currency, h.plan_group_id, CASE WHEN a.cycle > 13 THEN 13 ELSE a.cycle END AS up_to, COUNT(*), SUM(a.expected)
FROM attempts AS a JOIN contract_history AS h ON h.shop_id = a.shop_id AND h.contract_id = a.contract_id AND h.valid_to = 0
WHERE a.due_at IS NOT NULL AND a.status = 'QUEUED'
GROUP BY a.shop_id, a.due_at / 900000, h.currency, h.plan_group_id, up_to;

-- The orders of these shops' contracts after one are to be priced again.
CREATE TABLE repricings (
	shop_id bigint PRIMARY KEY,
	after_contract bigint NOT NULL
){{.WithoutRowID}};
{{.RowSecurity "repricings"}}
INSERT INTO repricings (shop_id, after_contract) SELECT id, 0 FROM shops;

DROP INDEX contract_history_amounts;
ALTER TABLE contract_history DROP COLUMN order_amount;
CREATE INDEX contract_history_keys ON contract_history (shop_id, contract_id, currency, plan_group_id) WHERE valid_to = 0;
