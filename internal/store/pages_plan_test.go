package store_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// What pages of the dashboard read in the tests below.
const (
	pagedContracts = 1500
	pagedCycles    = 4 // queued orders of each, all of a cycle at one instant
	pagedFailing   = 12
	pagedLimit     = 50
)

// paged fills a store with contracts that have orders in the queue. A few have an unpaid one, too.
func paged(t *testing.T, db *store.DB) shop.ID {
	t.Helper()
	s := shop.Shop{Domain: "planned.myshopify.com", TimeZone: "UTC", Currency: "EUR"}
	if err := db.Shops().AddShop(t.Context(), &s); err != nil {
		t.Fatal(err)
	}
	for from := 0; from < pagedContracts; from += 100 {
		var list []contract.Contract
		var orders []billing.Attempt
		for i := from; i < from+100; i++ {
			c := rareContract(i)
			list = append(list, c)
			for cycle := range pagedCycles {
				at := start.AddDate(0, 0, 1+cycle)
				orders = append(orders, billing.Attempt{Contract: c.ID, Cycle: 1 + cycle, Status: billing.Queued, BillingDate: at, DueAt: at, CreatedAt: start, UpdatedAt: start})
			}
		}
		for _, put := range []func(tx *store.Tx) error{
			func(tx *store.Tx) error {
				return tx.PutContracts(t.Context(), append([]contract.Contract(nil), list...))
			},
			func(tx *store.Tx) error {
				put := append([]billing.Attempt(nil), orders...)
				if err := tx.PutAttempts(t.Context(), put); err != nil {
					return err
				}
				return decline(t.Context(), tx, put[:max(0, pagedFailing-from)*pagedCycles])
			},
		} {
			if err := db.Update(t.Context(), s.ID, put); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s.ID
}

// decline has the first order of each contract of attempts unpaid.
func decline(ctx context.Context, tx *store.Tx, attempts []billing.Attempt) error {
	first := make(map[contract.ID]int64)
	for _, a := range attempts {
		if a.Cycle == 1 {
			first[a.Contract] = int64(a.ID)
		}
	}
	list, err := tx.Contracts(ctx, slices.Collect(maps.Keys(first)))
	for i := range list {
		list[i].Dunning = &contract.Dunning{Attempt: first[list[i].ID], Cycle: 1, State: dunning.Open, Class: dunning.Card, Code: "EXPIRED_PAYMENT_METHOD", Since: start}
	}
	if err != nil {
		return err
	}
	return tx.PutContracts(ctx, list)
}

// read is what a page reads, and how many attempts and contracts it may look at.
type read struct {
	name  string
	looks int
	ask   func(ctx context.Context, tx *store.Tx) (found int, err error)
}

// transactionReads are those of the pages of orders.
func transactionReads() []read {
	from, to := start.Truncate(24*time.Hour), start.Truncate(24*time.Hour).AddDate(0, 0, 30)
	return []read{
		{"the calendar of a month", 0, func(ctx context.Context, tx *store.Tx) (int, error) {
			list, err := tx.QueueSums(ctx, from, to)
			return len(list), err
		}},
		{"the forecast of a month", 0, func(ctx context.Context, tx *store.Tx) (int, error) {
			list, err := tx.Queued(ctx, analytics.QuarterOf(from), analytics.QuarterOf(to), analytics.Filter{Currency: "EUR"})
			return len(list), err
		}},
		{"the first orders of a day", 8 * pagedLimit, func(ctx context.Context, tx *store.Tx) (int, error) {
			list, err := tx.QueueOrders(ctx, from.AddDate(0, 0, 1), from.AddDate(0, 0, 2), 0, pagedLimit)
			return len(list), err
		}},
		{"the contracts of a customer", 3, func(ctx context.Context, tx *store.Tx) (int, error) {
			list, err := tx.SubscriberContracts(ctx, 7, pagedLimit)
			return len(list), err
		}},
		{"what is unpaid", 3 * pagedFailing, func(ctx context.Context, tx *store.Tx) (int, error) {
			list, err := tx.InDunning(ctx)
			return len(list), err
		}},
	}
}

// What the pages show grows with days, pages and cases, and not with what is stored.
func TestPagesOfOrdersLookAtFewRows(t *testing.T) {
	t.Parallel()
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		db := storetest.Postgres(t)
		of := paged(t, db)
		if _, err := db.Raw().ExecContext(t.Context(), "VACUUM ANALYZE"); err != nil {
			t.Fatal(err)
		}
		for _, r := range transactionReads() {
			err := db.Update(t.Context(), of, func(tx *store.Tx) error {
				// Tables as small as these are read from end to end, whatever indexes they have.
				if _, err := tx.Exec(t.Context(), "SET LOCAL enable_seqscan = off"); err != nil {
					return err
				}
				before, err := looked(t.Context(), tx)
				if err != nil {
					return err
				}
				found, err := r.ask(t.Context(), tx)
				if err != nil || found == 0 {
					t.Errorf("%s: %d rows, %v", r.name, found, err)
				}
				after, err := looked(t.Context(), tx)
				if after-before > r.looks {
					t.Errorf("%s looks at %d rows of orders and contracts, want at most %d", r.name, after-before, r.looks)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		db := storetest.SQLite(t)
		of := paged(t, db)
		var l queryLog
		db.Watch(&l)
		for _, r := range transactionReads() {
			l.queries = nil
			err := db.Update(t.Context(), of, func(tx *store.Tx) error {
				found, err := r.ask(t.Context(), tx)
				if found == 0 {
					t.Errorf("%s: nothing", r.name)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			checkSteps(t, db, r.name, l.queries)
			if sums := r.looks == 0; sums && strings.Contains(strings.Join(l.queries, ";"), "attempts") {
				t.Errorf("%s reads orders", r.name)
			}
		}
		l.queries = nil
		askDirectly(t, db, of)
		checkSteps(t, db, "a page", l.queries)
	})
}

// looked returns how many rows of orders and contracts were looked at.
func looked(ctx context.Context, tx *store.Tx) (sum int, err error) {
	for _, table := range []string{"attempts", "contracts", "contract_history"} {
		n, err := tx.Looked(ctx, table)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// askDirectly asks what pages ask outside of transactions.
func askDirectly(t *testing.T, db *store.DB, of shop.ID) {
	t.Helper()
	counts, err := db.CaseCounts(t.Context(), of)
	if err != nil || counts[dunning.Card] != pagedFailing {
		t.Errorf("%v are unpaid, %v", counts, err)
	}
	if _, err := db.OpenCases(t.Context(), of, nil, 0, 26); err != nil {
		t.Error(err)
	}
	if _, err := db.LatestEntries(t.Context(), of, 8); err != nil {
		t.Error(err)
	}
	for _, f := range []contract.Filter{{}, {Status: contract.Active}, {Failing: true}, {Ending: true}} {
		f.Line = shop.Subscriptions
		if _, err := db.CountMatching(t.Context(), of, f); err != nil {
			t.Error(err)
		}
	}
	p := page.Request{Size: pagedLimit, Sort: []page.Sort{{Field: "created_at", Desc: true}}}
	if list, _, err := db.Search(t.Context(), of, contract.Filter{Line: shop.Subscriptions}, p); err != nil || len(list) != pagedLimit {
		t.Errorf("the list has %d contracts, %v", len(list), err)
	}
}

// bounded are the indexes that may be read from their shop's first entry on: they have few
// entries, or a page ends the reading.
var bounded = []string{"contracts_in_dunning", "contracts_by_dunning_class", "contracts_ending", "contracts_failing_by_creation", "contracts_ending_by_creation", "activity_by_time",
	"contract_facets_by_creation"}

// checkSteps checks that no table is read from end to end, and no shop's part of one.
func checkSteps(t *testing.T, db *store.DB, name string, queries []string) {
	t.Helper()
	if len(queries) == 0 {
		t.Errorf("%s: no query was recorded", name)
	}
	for _, query := range queries {
		for _, step := range stepsOf(t, db, query) {
			known := slices.ContainsFunc(bounded, func(index string) bool { return strings.Contains(step, index+" ") })
			small := strings.Contains(step, " n ") || step == "SCAN n" && strings.Contains(query, "contract_counts") || strings.Contains(step, " v ") || strings.HasPrefix(step, "SCAN h") || strings.HasPrefix(step, "SCAN json_each ") // counts, versions, a page, what was asked for
			if !known && !small && (strings.HasPrefix(step, "SCAN ") && step != "SCAN CONSTANT ROW" || strings.HasSuffix(step, "(shop_id=?)")) {
				t.Errorf("%s: %s\n%s", name, step, query)
			}
		}
	}
}
