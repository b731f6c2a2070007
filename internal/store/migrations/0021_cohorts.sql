{{.AllShops}}
-- Recovery of one plan group is counted from the orders that were declined in the period.
CREATE INDEX order_outcomes_failed ON order_outcomes (shop_id, plan_group_id, failed_day) WHERE failed_day > 0;

-- What an order paid belongs to the cohort of its subscriber, not to the month of its contract.
UPDATE order_outcomes SET cohort = COALESCE((
	SELECT s.cohort FROM contract_history AS h JOIN subscribers AS s ON s.shop_id = h.shop_id AND s.customer_id = h.customer_id
	WHERE h.shop_id = order_outcomes.shop_id AND h.contract_id = order_outcomes.contract_id AND h.valid_to = 0
), 0);

-- Rows with a currency have its subscribers too: each when its first contract in it was ACTIVE.
DELETE FROM cohort_months WHERE currency <> '';
INSERT INTO cohort_months (shop_id, cohort, month, currency, joined, change, revenue)
SELECT a.shop_id, a.cohort, {{if .Postgres}}EXTRACT(YEAR FROM DATE '1970-01-01' + a.day::integer)::bigint * 12 + EXTRACT(MONTH FROM DATE '1970-01-01' + a.day::integer)::bigint - 1
{{- else}}CAST(strftime('%Y', a.day * 86400, 'unixepoch') AS integer) * 12 + CAST(strftime('%m', a.day * 86400, 'unixepoch') AS integer) - 1{{end}} AS in_month, a.currency, SUM(a.joined), 0, SUM(a.revenue)
FROM (
	SELECT o.shop_id, o.cohort, o.paid_day AS day, o.currency, 0 AS joined, o.paid_amount AS revenue
	FROM order_outcomes AS o WHERE o.paid_day > 0 AND o.cohort <> 0
	UNION ALL
	SELECT h.shop_id, s.cohort, h.day, h.currency, 1, 0
	FROM contract_history AS h JOIN subscribers AS s ON s.shop_id = h.shop_id AND s.customer_id = h.customer_id
	JOIN (
		SELECT f.shop_id, MIN(f.id) AS id FROM contract_history AS f WHERE f.status = 'ACTIVE' GROUP BY f.shop_id, f.customer_id, f.currency
	) AS first ON first.shop_id = h.shop_id AND first.id = h.id
	WHERE s.cohort <> 0
) AS a
GROUP BY a.shop_id, a.cohort, in_month, a.currency;
