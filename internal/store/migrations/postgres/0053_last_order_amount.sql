-- +goose Up
-- What the last renewal order was charged, in the smallest unit of the contract's currency.
ALTER TABLE contracts ADD COLUMN last_order_amount bigint NOT NULL DEFAULT 0;
UPDATE contracts SET last_order_amount = COALESCE((
	SELECT a.amount FROM attempts a
	WHERE a.shop_id = contracts.shop_id AND a.contract_id = contracts.id AND a.order_id = contracts.last_order_id AND a.status = 'SUCCESS'
	ORDER BY a.cycle DESC LIMIT 1), 0)
WHERE last_order_id <> 0;
