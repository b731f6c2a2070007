package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/perennialhq/perennial/internal/domain/shop"
	wire "github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
)

// addLargeShop adds a store with contracts that PostgreSQL generates, in
// seconds: much like those of storedContract, and one in fifty imported. The
// indexes are made afterwards, and all is left as it is after a vacuum.
func (d database) addLargeShop(ctx context.Context, db *store.DB, number, contracts int) (shop.ID, error) {
	made := shop.Shop{
		Domain: fmt.Sprintf("stored-%d.myshopify.com", number), PlatformID: int64(number), Token: wire.Token("token"), TimeZone: "UTC",
		Currency: "USD", OrderHour: 9, Connected: true, CreatedAt: epoch(), ReconcileAt: epoch().AddDate(100, 0, 0),
	}
	if err := db.Shops().AddShop(ctx, &made); err != nil {
		return 0, err
	}
	later, err := d.withoutIndexes(ctx)
	if err != nil {
		return 0, err
	}
	statements := []string{
		fmt.Sprintf(largeContracts, made.ID, number*10_000_000, epoch().UnixMilli(), contracts-1, firstPlan, storedPlans),
		fmt.Sprintf(`INSERT INTO contract_facets (shop_id, id, line, status, delivery_interval, delivery_count, prepaid, imported, order_amount, created_at, customer_id, customer_folded)
			SELECT shop_id, id, line, status, delivery_interval, delivery_count, billing_count <> delivery_count, imported_id <> '',
			order_amount, created_at, customer_id, email_folded || E'\n' || name_folded FROM contracts WHERE shop_id = %d`, made.ID),
		fmt.Sprintf(`INSERT INTO contract_counts (shop_id, line, status, delivery_interval, delivery_count, prepaid, imported, n)
			SELECT shop_id, line, status, delivery_interval, delivery_count, prepaid, imported, COUNT(*) FROM contract_facets WHERE shop_id = %d GROUP BY 1, 2, 3, 4, 5, 6, 7`, made.ID),
		fmt.Sprintf(`INSERT INTO customer_counts (shop_id, line, customer_folded, n)
			SELECT shop_id, line, customer_folded, COUNT(*) FROM contract_facets WHERE shop_id = %d GROUP BY 1, 2, 3`, made.ID),
		fmt.Sprintf(`INSERT INTO amount_counts (shop_id, line, order_amount, n)
			SELECT shop_id, line, order_amount, COUNT(*) FROM contract_facets WHERE shop_id = %d GROUP BY 1, 2, 3`, made.ID),
		fmt.Sprintf("INSERT INTO search_versions (shop_id, line, version) SELECT DISTINCT shop_id, line, 1 FROM contract_counts WHERE shop_id = %d", made.ID),
		fmt.Sprintf(`INSERT INTO contract_lines (shop_id, contract_id, position, product_id, variant_id, selling_plan_id, line)
			SELECT shop_id, id, 1, 3001 + i %% 200, 4001 + i %% 1000, %d + i %% %d, line FROM (SELECT *, id - %d - 1 AS i FROM contract_facets WHERE shop_id = %d) AS f`,
			firstPlan, storedPlans, number*10_000_000, made.ID),
		fmt.Sprintf(`INSERT INTO search_terms (shop_id, id, contract_id, kind, term)
			SELECT c.shop_id, -2 * c.id - k, c.id, (ARRAY['number', 'order'])[k + 1], (ARRAY[c.id::text, lower(c.origin_order_name)])[k + 1]
			FROM contracts AS c, generate_series(0, 1) AS k WHERE c.shop_id = %d`, made.ID),
	}
	for _, s := range append(append(statements, later...), "VACUUM ANALYZE") {
		if _, err := d.bare.ExecContext(ctx, s); err != nil {
			return 0, fmt.Errorf("%.60s: %w", s, err)
		}
	}
	return made.ID, nil
}

// largeContracts makes contracts. Its values are the shop, the number before the
// first contract's, the epoch in milliseconds, the last contract's place, the first
// selling plan and how many there are.
const largeContracts = `INSERT INTO contracts (shop_id, id, line, revision, status, currency, customer_id, customer_email, customer_first_name, customer_last_name, customer_name,
	customer_phone, email_folded, name_folded, billing_interval, billing_count, billing_anchors, delivery_interval, delivery_count, delivery_anchors, lines, order_amount,
	origin_order_id, origin_order_name, payment_method, payment_usable, billing_country, delivery_country, delivery_price, note, attributes, imported_id, last_payment,
	series_cycle, series_start, next_billing_date, max_cycles, min_cycles, auto_charge, orders, lifetime, last_order_id, last_order_name, last_order_at,
	created_at, updated_at, activated_at, paused_at, cancelled_at, version,
	card, pricing, plan_pricing, priced, discounts, origin, first_amount, split_from, earlier_orders, split, series_passed, series_moved, later_series, passed_cycles,
	queue_updated_at, overrides, one_offs, pending_change, in_flight_edits, changing_until, moving, pause, ending, trial, dunning, lifelong, expire_at,
	cancellation_feedback, cancellation_note, cancelled_order_date, last_order_amount)
SELECT %[1]d, %[2]d + i + 1, 'SUBSCRIPTION', 1, (ARRAY['ACTIVE', 'ACTIVE', 'ACTIVE', 'PAUSED', 'CANCELLED'])[i %% 5 + 1], 'USD', %[2]d + i / 2 + 1,
	first || '.' || last || '@example.com', first, last, first || ' ' || last, '', lower(first || '.' || last || '@example.com'), lower(first || ' ' || last),
	every, 1 + i %% 3, '', CASE WHEN i %% 20 = 0 THEN 'WEEK' ELSE every END, CASE WHEN i %% 20 = 0 THEN 4 ELSE 1 + i %% 3 END, '',
	format('[{"id":"gid://shopify/SubscriptionLine/%%s","product":%%s,"variant":%%s,"sku":"SKU","title":"Coffee","quantity":%%s,"price":%%s,"currency":"USD","plan":%%s,"planName":"Every month"}]',
		i, 3001 + i %% 200, 4001 + i %% 1000, 1 + i %% 3, 500 + i %% 5000, %[5]d + i %% %[6]d),
	(500 + i %% 5000) * (1 + i %% 3) * 10, i + 1, '#' || 1001 + i, 'gid://shopify/CustomerPaymentMethod/' || i, true, '', 'US', 0, '', '',
	CASE WHEN i %% 50 = 7 THEN 'old-' || i ELSE '' END, '', 1, created, created + 2592000000, 0, 0, true, 0, 0, 0, '', 0, created, created + 3600000, 0, 0, 0, 1,
	'', '', '', false, '', 'STORE_FRONT', -1, 0, 0, '', 0, false, '', 0,
	0, '', 0, '', '', 0, '', '', '', '', '', false, 0, '', '', 0, 0
FROM (SELECT i, (ARRAY['Ada', 'Grace', 'Alan', 'Edsger', 'Barbara', 'Donald', 'Frances', 'Tony'])[i / 2 %% 8 + 1] AS first,
	(ARRAY['Lovelace', 'Hopper', 'Turing', 'Dijkstra', 'Liskov', 'Knuth', 'Allen'])[i / 2 %% 7 + 1] || i / 2 AS last,
	(ARRAY['WEEK', 'MONTH'])[i %% 2 + 1] AS every, %[3]d + i * 60000::bigint AS created FROM generate_series(0, %[4]d) AS i) AS made`

// withoutIndexes drops the indexes and foreign keys of what the search reads and
// returns the statements that make them again.
func (d database) withoutIndexes(ctx context.Context) (again []string, err error) {
	const tables = "'contracts', 'contract_facets', 'customer_counts', 'contract_lines', 'search_terms'"
	rows, err := d.bare.QueryContext(ctx, `
		SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', c.conrelid::regclass, c.conname), format('ALTER TABLE %s ADD CONSTRAINT %I %s', c.conrelid::regclass, c.conname, pg_get_constraintdef(c.oid))
			FROM pg_constraint AS c WHERE c.contype = 'f' AND c.conrelid::regclass::text IN (`+tables+`)
		UNION ALL
		SELECT format('DROP INDEX %I', x.indexname), x.indexdef FROM pg_indexes AS x WHERE x.tablename IN (`+tables+`) AND x.schemaname = 'public'
			AND NOT EXISTS (SELECT 1 FROM pg_constraint AS c WHERE c.conname = x.indexname)`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var drop []string
	for rows.Next() {
		var one, other string
		if err := rows.Scan(&one, &other); err != nil {
			return nil, err
		}
		drop, again = append(drop, one), append(again, other)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	for _, s := range drop {
		if _, err := d.bare.ExecContext(ctx, s); err != nil {
			return nil, fmt.Errorf("%s: %w", s, err)
		}
	}
	return again, nil
}
