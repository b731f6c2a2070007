package store_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

const (
	planned  = 20_000 // contracts
	rareness = 400    // one contract in so many has a rare value
)

// rareContract returns a contract that is like all others but in one thing, which
// depends on its number.
func rareContract(i int) contract.Contract {
	month := contract.Policy{Interval: cadence.Month, Count: 1}
	at := start.Add(time.Duration(i) * time.Minute)
	c := contract.Contract{
		ID: contract.ID(1_000_000 + i), Line: shop.Subscriptions, Status: contract.Active, Currency: "EUR", Billing: month, Delivery: month,
		Customer: contract.Customer{ID: int64(i), Name: fmt.Sprintf("Customer %d", i), Email: fmt.Sprintf("c%d@example.com", i)},
		Lines: []contract.LineItem{{
			ID: "gid://shopify/SubscriptionLine/1", ProductID: int64(1 + i%rareness), VariantID: int64(1 + i%rareness), SellingPlanID: int64(1 + i%rareness), Quantity: 1,
			Price: money.Amount{Minor: int64(1000 + i%rareness), Currency: "EUR"},
		}},
		OriginOrderName: fmt.Sprintf("#%d", 1000+i), CreatedAt: at, UpdatedAt: at, NextBillingDate: at,
	}
	switch i % rareness {
	case 1:
		c.Status = contract.Expired
	case 2:
		c.Delivery.Count, c.Billing.Count = 7, 7
	case 3:
		c.Billing.Count = 6
	case 4:
		c.ImportedID = fmt.Sprint("old-", i)
	}
	return c
}

// plan is a node of PostgreSQL's plan with what it did.
type plan struct {
	Node     string  `json:"Node Type"`
	Relation string  `json:"Relation Name"`
	Index    string  `json:"Index Name"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Filtered float64 `json:"Rows Removed by Filter"`
	Recheck  float64 `json:"Rows Removed by Index Recheck"`
	Plans    []plan
}

// looked returns how many rows or index entries the plan looked at, and the names
// of tables that it read from end to end.
func (p plan) looked() (rows float64, whole []string) {
	if strings.Contains(p.Node, "Scan") {
		rows = (p.Rows + p.Filtered + p.Recheck) * p.Loops
	}
	if p.Node == "Seq Scan" {
		whole = append(whole, p.Relation)
	}
	for _, under := range p.Plans {
		more, others := under.looked()
		rows, whole = rows+more, append(whole, others...)
	}
	return rows, whole
}

// TestPostgresSearchesUseIndexes asks for rare values by every filter
// and counts what was looked at. A plan that reads a table, or walks through all
// of a shop's contracts, looks at them all.
func TestPostgresSearchesUseIndexes(t *testing.T) {
	t.Parallel()
	db := storetest.Postgres(t)
	s := shop.Shop{Domain: "planned.myshopify.com"}
	if err := db.Shops().AddShop(t.Context(), &s); err != nil {
		t.Fatal(err)
	}
	for from := 0; from < planned; from += 1000 {
		var list []contract.Contract
		for i := range 1000 {
			list = append(list, rareContract(from+i))
		}
		err := db.Update(t.Context(), s.ID, func(tx *store.Tx) error {
			return tx.PutContracts(t.Context(), append([]contract.Contract(nil), list...))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Raw().ExecContext(t.Context(), "VACUUM ANALYZE"); err != nil {
		t.Fatal(err)
	}
	yes := true
	month := cadence.Month
	from, to := start.Add(10_000*time.Minute), start.Add(10_050*time.Minute)
	price := int64(10_070)
	for name, f := range map[string]contract.Filter{
		"created":               {CreatedFrom: from, CreatedTo: to},
		"updated":               {UpdatedFrom: from, UpdatedTo: to},
		"next date":             {NextFrom: from, NextTo: to},
		"number":                {IDPart: "01234"},
		"customer":              {CustomerPart: "mer 1234"},
		"address":               {CustomerPart: "c1234"},
		"order":                 {OrderPart: "#1234"},
		"status":                {Status: contract.Expired},
		"interval":              {DeliveryInterval: &month, DeliveryCount: 7},
		"prepaid":               {Prepaid: &yes},
		"imported":              {Imported: &yes},
		"product":               {ProductID: 77},
		"variant":               {VariantID: 77},
		"selling plan":          {SellingPlanID: 77},
		"amount":                {MinAmount: &price, MaxAmount: &price},
		"customer id":           {CustomerID: 4711},
		"whole address":         {CustomerEmail: "c4711@example.com"},
		"updated, of a status":  {UpdatedFrom: from, UpdatedTo: to, Status: contract.Active},
		"product, of a status":  {ProductID: 77, Status: contract.Active},
		"prepaid, of a product": {ProductID: 4, Prepaid: &yes},
	} {
		t.Run(name, func(t *testing.T) {
			f.Line = shop.Subscriptions
			for _, sorted := range []string{"created_at", "next_billing_date"} {
				p := page.Request{Size: 20, Sort: []page.Sort{{Field: sorted}}}
				if _, total, err := db.Search(t.Context(), s.ID, f, p); err != nil || total == 0 || total > 100 {
					t.Fatalf("finds %d, %v", total, err)
				}
				queries, err := db.SearchQueries(t.Context(), s.ID, f, p)
				if err != nil {
					t.Fatal(err)
				}
				for which, q := range queries {
					if rows, whole, text := explain(t, db, s.ID, q); rows > planned/20 || len(whole) > 0 {
						t.Errorf("the %s by %s looks at %.0f rows and reads all of %v:\n%s\n%s", which, sorted, rows, whole, q, text)
					}
				}
			}
		})
	}
	t.Run("a part of every customer's name", func(t *testing.T) { // a page of many hits is found by walking
		for _, sorted := range []string{"created_at", "updated_at"} {
			p := page.Request{Size: 20, Sort: []page.Sort{{Field: sorted}}}
			queries, err := db.SearchQueries(t.Context(), s.ID, contract.Filter{Line: shop.Subscriptions, CustomerPart: "customer"}, p)
			if err != nil {
				t.Fatal(err)
			}
			if rows, whole, text := explain(t, db, s.ID, queries["page"]); rows > planned/20 || len(whole) > 0 {
				t.Errorf("by %s it looks at %.0f rows and reads all of %v:\n%s", sorted, rows, whole, text)
			}
		}
	})
}

// explain runs a query of a shop on PostgreSQL and returns what its plan looked at.
func explain(t *testing.T, db *store.DB, of shop.ID, q any) (rows float64, whole []string, text string) {
	t.Helper()
	if err := db.In(of).NewRaw("EXPLAIN (ANALYZE, FORMAT JSON) ?", q).Scan(t.Context(), &text); err != nil {
		t.Fatal(err)
	}
	var explained []struct{ Plan plan }
	if err := json.Unmarshal([]byte(text), &explained); err != nil {
		t.Fatal(err)
	}
	rows, whole = explained[0].Plan.looked()
	return rows, whole, text
}

// PostgreSQL knows nothing yet of tables that were just filled, as by a store's first
// import: what it takes for empty it reads from end to end, again and again.
func TestQueueQueriesUseIndexWithoutStatistics(t *testing.T) {
	t.Parallel()
	db := storetest.Postgres(t)
	s := shop.Shop{Domain: "planned.myshopify.com"}
	if err := db.Shops().AddShop(t.Context(), &s); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Raw().ExecContext(t.Context(), "ALTER TABLE attempts SET (autovacuum_enabled = false); ALTER TABLE contracts SET (autovacuum_enabled = false)"); err != nil {
		t.Fatal(err)
	}
	const contracts, each, asked = 600, 6, 20
	var of []contract.ID
	err := db.Update(t.Context(), s.ID, func(tx *store.Tx) error {
		var list []contract.Contract
		var queued []billing.Attempt
		for i := range contracts {
			c := rareContract(i)
			list, of = append(list, c), append(of, c.ID)
			for cycle := range each {
				queued = append(queued, billing.Attempt{Contract: c.ID, Cycle: 1 + cycle, Status: billing.Queued, BillingDate: c.NextBillingDate.AddDate(0, cycle, 0), CreatedAt: start, UpdatedAt: start})
			}
		}
		if err := tx.PutContracts(t.Context(), list); err != nil {
			return err
		}
		return tx.PutAttempts(t.Context(), queued)
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), s.ID, func(tx *store.Tx) error {
		queues, err := tx.Queues(t.Context(), of[:asked])
		if err != nil {
			return err
		}
		if len(queues) != asked || queues[of[0]].Waiting != each {
			t.Errorf("found %d queues, the first of %d orders", len(queues), queues[of[0]].Waiting)
		}
		looked, err := tx.Looked(t.Context(), "attempts")
		if limit := 2 * asked * each; looked == 0 || looked > limit {
			t.Errorf("looked at %d attempts of %d, want at most %d", looked, contracts*each, limit)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// queryLog keeps the text of every query.
type queryLog struct{ queries []string }

func (l *queryLog) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context { return ctx }

func (l *queryLog) AfterQuery(_ context.Context, q *bun.QueryEvent) {
	if strings.HasPrefix(q.Query, "SELECT") {
		l.queries = append(l.queries, q.Query)
	}
}

// TestSQLiteDueQueriesUseIndexes asks as the engine does, over and over, and
// reads SQLite's plans: which index it takes it decides by the text alone, once
// the tables were analyzed.
func TestSQLiteDueQueriesUseIndexes(t *testing.T) {
	t.Parallel()
	o := storetest.SQLiteOptions(t)
	storetest.SQLiteFile(t, o.URL)
	raw, err := sql.Open("sqlite", o.URL)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := raw.ExecContext(t.Context(), "ANALYZE"); err != nil {
		t.Fatal(err)
	}
	if err := raw.Close(); err != nil {
		t.Fatal(err)
	}
	db := storetest.Open(t, o)
	s := shop.Shop{Domain: "planned.myshopify.com"}
	if err := db.Shops().AddShop(t.Context(), &s); err != nil {
		t.Fatal(err)
	}
	c := rareContract(0)
	c.AutoCharge = true
	if err := db.Update(t.Context(), s.ID, func(tx *store.Tx) error { return tx.PutContracts(t.Context(), []contract.Contract{c}) }); err != nil {
		t.Fatal(err)
	}
	var l queryLog
	db.Watch(&l)
	in := func(ask func(ctx context.Context, tx *store.Tx) error) func() error {
		return func() error {
			return db.Update(t.Context(), s.ID, func(tx *store.Tx) error { return ask(t.Context(), tx) })
		}
	}
	shops := func(find func(ctx context.Context, now time.Time, limit int) ([]shop.ID, error)) func() error {
		return func() error {
			_, err := find(t.Context(), start, 10)
			return err
		}
	}
	for name, ask := range map[string]func() error{
		"shops with due attempts":         shops(db.Shops().DueShops),
		"shops with unpublished attempts": shops(db.Shops().UnpublishedShops),
		"shops with events":               shops(db.Shops().PendingInboxShops),
		"shops with contracts to change":  shops(db.Shops().ShopsToAmend),
		"shops with messages":             shops(db.Shops().DueMessageShops),
		"shops with webhooks":             shops(db.Shops().DueWebhookShops),
		"shops with new events":           shops(db.Shops().DueEventShops),
		"shops with unread events":        shops(db.Shops().EndedFeedShops),
		"shops with orders to announce":   shops(db.Shops().UpcomingOrderShops),
		"orders to announce": in(func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.UpcomingOrders(ctx, start, 10)
			return err
		}),
		"the next instant": func() error { _, _, err := db.Shops().NextDue(t.Context(), start); return err },
		"due attempts":     in(func(ctx context.Context, tx *store.Tx) error { _, err := tx.DueAttempts(ctx, start, 10); return err }),
		"unpublished attempts": in(func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.UnpublishedAttempts(ctx, start, 10)
			return err
		}),
		"what else waits": in(func(ctx context.Context, tx *store.Tx) error { _, err := tx.PendingWork(ctx, start); return err }),
		"attempts by key": in(func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.AttemptsByKey(ctx, []string{"a", "b"})
			return err
		}),
		"open attempts": in(func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.OpenAttempts(ctx, []contract.ID{1, 2}, start)
			return err
		}),
		"queues": in(func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.Queues(ctx, []contract.ID{1, 2})
			return err
		}),
		"contracts with a payment method": in(func(ctx context.Context, tx *store.Tx) error { _, err := tx.ContractsPaidWith(ctx, "card"); return err }),
		"what was paid": in(func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.PaidSince(ctx, start, billing.Attempt{}, 10)
			return err
		}),
		"what was paid, on": in(func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.PaidSince(ctx, start, billing.Attempt{ID: 7, UpdatedAt: start}, 10)
			return err
		}),
		"what was left open": in(func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.LeftOpenSince(ctx, start, billing.Attempt{}, 10)
			return err
		}),
		"events": in(func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.ClaimEvents(ctx, start, start, 10)
			return err
		}),
	} {
		l.queries = nil
		if err := ask(); err != nil {
			t.Fatal(err)
		}
		if len(l.queries) == 0 {
			t.Errorf("%s: no query was recorded", name)
		}
		for _, query := range l.queries {
			for _, step := range stepsOf(t, db, query) {
				if strings.Contains(step, "webhook_endpoints_of_upcoming_orders") || strings.HasPrefix(step, "SCAN json_each ") || step == "SCAN e" || strings.HasPrefix(step, "SEARCH p USING PRIMARY KEY") {
					continue // it holds those that ask, or receive, or are asked for, or one row of each shop, and all of them are wanted
				}
				whole := strings.HasPrefix(step, "SCAN ") && !strings.HasPrefix(step, "SCAN s") && step != "SCAN CONSTANT ROW" || strings.HasSuffix(step, "(shop_id=?)")
				if whole {
					t.Errorf("%s: %s\n%s", name, step, query)
				}
			}
		}
	}
}

// TestActivityOfOneContractIsReadByItsIndex fills the log of a store with entries about
// many contracts and reads the log of one of them, newest or oldest first.
func TestActivityOfOneContractIsReadByItsIndex(t *testing.T) {
	t.Parallel()
	const contracts, each = 500, 10
	fill := func(t *testing.T, db *store.DB) shop.ID {
		t.Helper()
		s := shop.Shop{Domain: "planned.myshopify.com"}
		if err := db.Shops().AddShop(t.Context(), &s); err != nil {
			t.Fatal(err)
		}
		var list []activity.Entry
		for i := range contracts * each {
			list = append(list, activity.Entry{
				EntityID: int64(1 + i%contracts), EntityType: activity.EntitySubscriptionContractDetails, Event: activity.SubscriptionContractUpdated,
				Status: activity.Success, Actor: activity.System, At: start.Add(time.Duration(i) * time.Minute),
			})
		}
		if err := db.Update(t.Context(), s.ID, func(tx *store.Tx) error { return tx.Record(t.Context(), list...) }); err != nil {
			t.Fatal(err)
		}
		return s.ID
	}
	one := int64(7)
	ofOne := []page.Criterion{
		{Field: activity.FieldEntityID, Op: page.Equals, Numbers: []int64{one}},
		{Field: activity.FieldEntityType, Op: page.Equals, Texts: []string{string(activity.EntitySubscriptionContractDetails)}},
	}
	read := func(t *testing.T, db *store.DB, of shop.ID) []string {
		t.Helper()
		var l queryLog
		db.Watch(&l)
		for _, sort := range [][]page.Sort{nil, {{Field: activity.FieldAt}}} {
			for _, size := range []int{each / 2, 2 * each} { // the total is counted, or known
				list, total, err := db.Entries(t.Context(), of, ofOne, page.Request{Size: size, Sort: sort})
				if err != nil || total != each || len(list) != min(size, each) {
					t.Fatalf("%d entries of %d, %v", len(list), total, err)
				}
			}
		}
		if len(l.queries) != 6 {
			t.Fatalf("%d queries, want 6: %q", len(l.queries), l.queries)
		}
		return l.queries
	}
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		db := storetest.SQLite(t)
		for _, query := range read(t, db, fill(t, db)) {
			steps := strings.Join(stepsOf(t, db, query), "; ")
			if !strings.Contains(steps, "activity_by_entity (shop_id=? AND entity_id=?)") || strings.Contains(steps, "SCAN") {
				t.Errorf("%s\n%s", steps, query)
			}
		}
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		db := storetest.Postgres(t)
		of := fill(t, db)
		if _, err := db.Raw().ExecContext(t.Context(), "VACUUM ANALYZE"); err != nil {
			t.Fatal(err)
		}
		for _, query := range read(t, db, of) {
			if looked, whole, text := explain(t, db, of, bun.Safe(query)); looked > 2*each || len(whole) > 0 {
				t.Errorf("looked at %v rows and index entries, and at all of %v\n%s\n%s", looked, whole, query, text)
			}
		}
	})
}

// stepsOf returns the steps of SQLite's plan for a query.
func stepsOf(t *testing.T, db *store.DB, query string) []string {
	t.Helper()
	rows, err := db.Raw().DB.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var steps []string
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return steps
}
