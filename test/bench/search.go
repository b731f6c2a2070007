package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

// How often each question of search is asked, and how often bare SQL asks it of a
// large store, where it may take seconds.
const (
	searchRuns = 200 // the second longest is the 99th percentile
	largeRuns  = 3
)

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
	customer := func(part string) string {
		if d.kind == "sqlite" {
			return terms("customer", part)
		}
		return fmt.Sprintf("(c.name_folded LIKE '%%%[1]s%%' OR c.email_folded LIKE '%%%[1]s%%')", part)
	}
	day := epoch().AddDate(0, 0, 30)
	weekly, yes, no, low, high := cadence.Week, true, false, int64(20_000), int64(20_500)
	from, to := day.UnixMilli(), day.AddDate(0, 0, 1).UnixMilli()
	return []question{
		{"none", contract.Filter{}, "true"},
		{"created", contract.Filter{CreatedFrom: day, CreatedTo: day.AddDate(0, 0, 1)}, fmt.Sprintf("c.created_at BETWEEN %d AND %d", from, to)},
		{"updated", contract.Filter{UpdatedFrom: day, UpdatedTo: day.AddDate(0, 0, 1)}, fmt.Sprintf("c.updated_at BETWEEN %d AND %d", from, to)},
		{"next_date", contract.Filter{NextFrom: day, NextTo: day.AddDate(0, 0, 1)}, fmt.Sprintf("c.next_billing_date BETWEEN %d AND %d", from, to)},
		{"id_part", contract.Filter{IDPart: "00777"}, terms("number", "00777")},
		{"customer_part", contract.Filter{CustomerPart: "turing77"}, customer("turing77")},
		{"customer_part_short", contract.Filter{CustomerPart: "99"}, customer("99")},
		{"customer_part_of_all", contract.Filter{CustomerPart: "example"}, customer("example")},
		{"order_part", contract.Filter{OrderPart: "#7777"}, terms("order", "#7777")},
		{"status", contract.Filter{Status: contract.Paused}, "c.status = 'PAUSED'"},
		{"status_of_most", contract.Filter{Status: contract.Active}, "c.status = 'ACTIVE'"},
		{"status_not_prepaid", contract.Filter{Status: contract.Active, Prepaid: &no}, "c.status = 'ACTIVE' AND c.billing_count = c.delivery_count"},
		{"interval", contract.Filter{DeliveryInterval: &weekly, DeliveryCount: 2}, fmt.Sprintf("c.delivery_interval = '%s' AND c.delivery_count = 2", weekly)},
		{"prepaid", contract.Filter{Prepaid: &yes}, "c.billing_count <> c.delivery_count"},
		{"imported", contract.Filter{Imported: &yes}, "c.imported_id <> ''"},
		{"product", contract.Filter{ProductID: 3050}, lines + "product_id = 3050)"},
		{"variant", contract.Filter{VariantID: 4500}, lines + "variant_id = 4500)"},
		{"selling_plan", contract.Filter{SellingPlanID: 6005}, lines + "selling_plan_id = 6005)"},
		{"amount", contract.Filter{MinAmount: &low, MaxAmount: &high}, fmt.Sprintf("c.order_amount BETWEEN %d AND %d", low, high)},
		{"amount_of_most", contract.Filter{MinAmount: &low}, fmt.Sprintf("c.order_amount >= %d", low)},
		{"customer_id", contract.Filter{CustomerID: 10_000_777}, "c.customer_id = 10000777"},
		{"customer_email", contract.Filter{CustomerEmail: "Ada.Lovelace56@example.com"}, "c.email_folded = 'ada.lovelace56@example.com'"},
	}
}

// Goals of search with a million contracts: how long a page and its count may
// take when the count is remembered, and how long when it is not.
const (
	goalKnown   = 50 * time.Millisecond
	goalCounted = 100 * time.Millisecond
)

// search asks every question of the contract search of a large store that has
// others beside it. A question is a page of twenty and the exact count. Each is
// asked as it is after a change, when the service has to count, and as it is
// asked again, as it is for the pages that follow. The bare one is two statements,
// read into nothing.
func search(ctx context.Context, s settings) error {
	for _, kind := range s.databases {
		if err := s.searchOn(ctx, kind, s.contracts, addShop); err != nil {
			return fmt.Errorf("on %s: %w", kind, err)
		}
		if kind == "postgres" && s.large > 0 {
			if err := s.searchOn(ctx, kind, s.large, nil); err != nil {
				return fmt.Errorf("on %s with %d contracts: %w", kind, s.large, err)
			}
		}
	}
	return nil
}

// searchOn asks the questions of a store with so many contracts, which fill adds
// or, when it is nil, the database itself.
func (s settings) searchOn(ctx context.Context, kind string, contracts int, fill func(ctx context.Context, db *store.DB, number, contracts int) (shop.ID, error)) error {
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
	runs := searchRuns
	if fill == nil {
		runs = largeRuns
		fill = d.addLargeShop
	}
	for i := range 4 {
		if _, err := addShop(ctx, db, 2+i, min(contracts, s.contracts)/50); err != nil {
			return err
		}
	}
	large, err := fill(ctx, db, 1, contracts)
	if err != nil {
		return err
	}
	if err := d.analyze(ctx); err != nil {
		return err
	}
	for _, q := range d.questions(large) {
		if err := s.ask(ctx, asked{d, db, large, contracts, runs}, q); err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
	}
	return nil
}

// asked is a store that is searched.
type asked struct {
	database
	in        *store.DB
	of        shop.ID
	contracts int
	bareRuns  int
}

func (s settings) ask(ctx context.Context, a asked, q question) error {
	q.filter.Line = shop.Subscriptions
	found := 0
	search := func() error {
		list, n, err := a.in.Search(ctx, a.of, q.filter, page.Request{Size: contract.DefaultPage})
		if err == nil && len(list) != min(n, contract.DefaultPage) {
			err = fmt.Errorf("%d contracts on the page of %d", len(list), n)
		}
		found = n
		return err
	}
	changed := func() error {
		_, err := a.bare.ExecContext(ctx, fmt.Sprintf("UPDATE search_versions SET version = version + 1 WHERE shop_id = %d", a.of))
		return err
	}
	_, counted99, err := timesAfter(searchRuns, changed, search)
	if err != nil {
		return err
	}
	p50, p99, err := times(searchRuns, search)
	if err != nil {
		return err
	}
	where := fmt.Sprintf(" FROM contracts AS c WHERE c.shop_id = %d AND c.line = '%s' AND %s", a.of, shop.Subscriptions, q.where)
	counted := 0
	count50, _, err := times(a.bareRuns, func() error {
		return a.bare.QueryRowContext(ctx, "SELECT COUNT(*)"+where).Scan(&counted)
	})
	if err != nil {
		return err
	}
	page50, _, err := times(a.bareRuns, func() error {
		return drain(ctx, a.database, fmt.Sprintf("SELECT c.*%s ORDER BY c.created_at, c.id LIMIT %d", where, contract.DefaultPage))
	})
	if err != nil {
		return err
	}
	if found != counted {
		return fmt.Errorf("the service finds %d contracts, bare SQL %d", found, counted)
	}
	s.print("search db=%s contracts=%d filter=%s found=%d p50_ms=%.2f p99_ms=%.2f goal=%.0f counted_p99_ms=%.2f counted_goal=%.0f limit_p50_ms=%.2f ratio=%.2f",
		a.kind, a.contracts, q.name, found, ms(p50), ms(p99), ms(goalKnown), ms(counted99), ms(goalCounted), ms(count50+page50), ms(count50+page50)/ms(p50))
	return nil
}

// timesAfter is times with something done before each run that is not measured.
func timesAfter(runs int, before, fn func() error) (p50, p99 time.Duration, err error) {
	taken := make([]time.Duration, 0, runs)
	for range runs {
		if err := before(); err != nil {
			return 0, 0, err
		}
		one, _, err := times(1, fn)
		if err != nil {
			return 0, 0, err
		}
		taken = append(taken, one)
	}
	slices.Sort(taken)
	return taken[len(taken)/2], taken[len(taken)*99/100], nil
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
