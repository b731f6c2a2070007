package intake_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// paged is a platform with four pages of changed contracts, which fails when some
// of them are read.
type paged struct {
	intake.Platform
	asked []string // cursors
	since []time.Time
	fails map[int64]error // by contract
}

func (*paged) Store(context.Context, platform.Shop) (platform.Store, error) {
	return platform.Store{TimeZone: "UTC"}, nil
}

func (p *paged) ContractsUpdatedSince(_ context.Context, _ platform.Shop, since time.Time, cursor string) ([]int64, string, error) {
	p.asked, p.since = append(p.asked, cursor), append(p.since, since)
	page := 1
	if cursor != "" {
		if _, err := fmt.Sscan(cursor, &page); err != nil {
			return nil, "", err
		}
	}
	next := ""
	if page < 4 {
		next = fmt.Sprint(page + 1)
	}
	return []int64{int64(page)}, next, nil
}

func (p *paged) Contracts(_ context.Context, _ platform.Shop, ids []int64) ([]platform.Contract, error) {
	return nil, p.fails[ids[0]]
}

func TestAReconciliationGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	lost := fmt.Errorf("read: %w", platform.ErrUnknown)
	for _, row := range []struct {
		name  string
		fails error
		then  func(*shop.Shop)
		again []string // cursors of the second one
	}{
		{"when an answer was lost", lost, func(*shop.Shop) {}, []string{"3", "4"}},
		{"not when the platform refuses", &platform.Refusal{Code: "INVALID"}, func(*shop.Shop) {}, []string{"", "2", "3", "4"}},
		{"not when all is to be read anew", lost, func(s *shop.Shop) { s.ResetReconciliation(noon) }, []string{"", "2", "3", "4"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			db, at := storetest.SQLite(t), clock.NewManual(noon)
			of := shop.Shop{Domain: "demo.myshopify.com", Token: "token", TimeZone: "UTC", Connected: true, ReconciledAt: noon.AddDate(0, 0, -3)}
			must(t, db.Shops().AddShop(t.Context(), &of))
			p := &paged{fails: map[int64]error{3: row.fails}}
			s := &intake.Service{Store: db.Intake(), Platform: p, Clock: at, Log: slog.New(slog.DiscardHandler), Policy: intake.DefaultPolicy(), ReconcileEvery: time.Hour}
			must(t, s.Reconcile(t.Context(), of.ID))
			if !slices.Equal(p.asked, []string{"", "2", "3"}) {
				t.Fatalf("the first one asked for the pages behind %q", p.asked)
			}
			after := func() shop.Shop {
				is, err := db.Shops().Shop(t.Context(), of.ID)
				must(t, err)
				return is
			}
			if is := after(); !is.ReconciledAt.Equal(of.ReconciledAt) || !is.ReconcileAt.Equal(noon.Add(10*time.Minute)) {
				t.Errorf("after the failure all is known until %s, and is looked for again at %s", is.ReconciledAt, is.ReconcileAt)
			}
			must(t, db.Update(t.Context(), of.ID, func(tx *store.Tx) error {
				is, err := tx.Shop(t.Context())
				if err != nil {
					return err
				}
				row.then(&is)
				return tx.PutShop(t.Context(), is)
			}))
			p.asked, p.fails = nil, nil
			at.Set(noon.Add(10 * time.Minute))
			must(t, s.Reconcile(t.Context(), of.ID))
			if !slices.Equal(p.asked, row.again) {
				t.Errorf("the second one asked for the pages behind %q, want %q", p.asked, row.again)
			}
			want := at.Now()
			if row.again[0] != "" { // it covers what the first one did
				want = noon
			}
			if is := after(); !is.ReconciledAt.Equal(want) || is.Reading != (shop.Reading{}) || !is.ReconcileAt.Equal(at.Now().Add(time.Hour)) {
				t.Errorf("in the end all is known until %s, want %s; reading %+v, next at %s", is.ReconciledAt, want, is.Reading, is.ReconcileAt)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
