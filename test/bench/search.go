package main

import (
	"context"
	"fmt"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// How often each question of search is asked.
const searchRuns = 40

// question is a search and the condition that a person would write for it.
type question struct {
	name   string
	filter contract.Filter
	where  string
}

func (d database) questions(of shop.ID) []question {
	// The shop is written out: with shop_id = c.shop_id the subquery would depend
	// on the row, and take seconds.
	lines := fmt.Sprintf("c.id IN (SELECT contract_id FROM contract_lines WHERE shop_id = %d AND ", of)
	terms := func(kind, part string) string {
		in := fmt.Sprintf("c.id IN (SELECT contract_id FROM search_terms WHERE shop_id = %d AND kind = '%s' AND term LIKE '%%%s%%'", of, kind, part)
		if d.kind == "sqlite" && len(part) >= 3 { // its index of parts is a table, and knows no shorter ones
			in += fmt.Sprintf(` AND id IN (SELECT rowid FROM search_parts WHERE search_parts MATCH '"%s"')`, part)
		}
		return in + ")"
	}
	day := epoch().AddDate(0, 0, 30)
	weekly, yes, low, high := cadence.Week, true, int64(20_000), int64(20_500)
	from, to := day.UnixMilli(), day.AddDate(0, 0, 1).UnixMilli()
	return []question{
		{"none", contract.Filter{}, "true"},
		{"created", contract.Filter{CreatedFrom: day, CreatedTo: day.AddDate(0, 0, 1)}, fmt.Sprintf("c.created_at BETWEEN %d AND %d", from, to)},
		{"updated", contract.Filter{UpdatedFrom: day, UpdatedTo: day.AddDate(0, 0, 1)}, fmt.Sprintf("c.updated_at BETWEEN %d AND %d", from, to)},
		{"next_date", contract.Filter{NextFrom: day, NextTo: day.AddDate(0, 0, 1)}, fmt.Sprintf("c.next_billing_date BETWEEN %d AND %d", from, to)},
		{"id_part", contract.Filter{IDPart: "00777"}, terms("number", "00777")},
		{"customer_part", contract.Filter{CustomerPart: "turing77"}, terms("customer", "turing77")},
		{"customer_part_short", contract.Filter{CustomerPart: "99"}, terms("customer", "99")},
		{"order_part", contract.Filter{OrderPart: "#7777"}, terms("order", "#7777")},
		{"status", contract.Filter{Status: contract.Paused}, "c.status = 'PAUSED'"},
		{"interval", contract.Filter{DeliveryInterval: &weekly, DeliveryCount: 2}, fmt.Sprintf("c.delivery_interval = '%s' AND c.delivery_count = 2", weekly)},
		{"prepaid", contract.Filter{Prepaid: &yes}, "(c.billing_interval <> c.delivery_interval OR c.billing_count <> c.delivery_count)"},
		{"imported", contract.Filter{Imported: &yes}, "c.imported_id <> ''"},
		{"product", contract.Filter{ProductID: 3050}, lines + "product_id = 3050)"},
		{"variant", contract.Filter{VariantID: 4500}, lines + "variant_id = 4500)"},
		{"selling_plan", contract.Filter{SellingPlanID: 6005}, lines + "selling_plan_id = 6005)"},
		{"amount", contract.Filter{MinAmount: &low, MaxAmount: &high}, fmt.Sprintf("c.order_amount BETWEEN %d AND %d", low, high)},
		{"customer_id", contract.Filter{CustomerID: 10_000_777}, "c.customer_id = 10000777"},
		{"customer_email", contract.Filter{CustomerEmail: "Ada.Lovelace56@example.com"}, "c.email_folded = 'ada.lovelace56@example.com'"},
	}
}

// search asks every question of the contract search of a large store that has
// others beside it. A question is a page of twenty and the exact count; the bare
// one is the same two statements, read into nothing.
func search(ctx context.Context, s settings) error {
	for _, kind := range s.databases {
		if err := s.searchOn(ctx, kind); err != nil {
			return fmt.Errorf("on %s: %w", kind, err)
		}
	}
	return nil
}

func (s settings) searchOn(ctx context.Context, kind string) error {
	d, err := s.fresh(ctx, kind)
	if err != nil {
		return err
	}
	defer d.drop()
	db, err := d.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	large, err := addShop(ctx, db, 1, s.contracts)
	if err != nil {
		return err
	}
	for i := range 4 {
		if _, err := addShop(ctx, db, 2+i, s.contracts/50); err != nil {
			return err
		}
	}
	if err := d.analyze(ctx); err != nil {
		return err
	}
	for _, q := range d.questions(large) {
		if err := s.ask(ctx, d, db, large, q); err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
	}
	return nil
}

func (s settings) ask(ctx context.Context, d database, in contract.Directory, of shop.ID, q question) error {
	q.filter.Line = shop.Subscriptions
	found := 0
	p50, p99, err := times(searchRuns, func() error {
		list, n, err := in.Search(ctx, of, q.filter, page.Request{Size: contract.DefaultPage})
		if err == nil && len(list) != min(n, contract.DefaultPage) {
			err = fmt.Errorf("%d contracts on the page of %d", len(list), n)
		}
		found = n
		return err
	})
	if err != nil {
		return err
	}
	where := fmt.Sprintf(" FROM contracts AS c WHERE c.shop_id = %d AND c.line = '%s' AND %s", of, shop.Subscriptions, q.where)
	counted := 0
	count50, count99, err := times(searchRuns, func() error {
		return d.bare.QueryRowContext(ctx, "SELECT COUNT(*)"+where).Scan(&counted)
	})
	if err != nil {
		return err
	}
	page50, _, err := times(searchRuns, func() error {
		return drain(ctx, d, fmt.Sprintf("SELECT c.*%s ORDER BY c.created_at, c.id LIMIT %d", where, contract.DefaultPage))
	})
	if err != nil {
		return err
	}
	if found != counted {
		return fmt.Errorf("the service finds %d contracts, bare SQL %d", found, counted)
	}
	s.print("search db=%s contracts=%d filter=%s found=%d p50_ms=%.2f p99_ms=%.2f count_p50_ms=%.2f count_p99_ms=%.2f limit_p50_ms=%.2f ratio=%.2f",
		d.kind, s.contracts, q.name, found, ms(p50), ms(p99), ms(count50), ms(count99), ms(count50+page50), ms(count50+page50)/ms(p50))
	return nil
}

// drain reads all rows of a question.
func drain(ctx context.Context, d database, query string) error {
	found, err := d.bare.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer found.Close()
	columns, err := found.Columns()
	if err != nil {
		return err
	}
	values := make([]any, len(columns))
	for i := range values {
		values[i] = new(any)
	}
	for found.Next() {
		if err := found.Scan(values...); err != nil {
			return err
		}
	}
	return found.Err()
}
