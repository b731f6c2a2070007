package intake_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/queue"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// settled is a platform with one store in a zone, in which nothing changes.
type settled struct {
	intake.Platform
	zone string
}

func (p *settled) Store(context.Context, platform.Shop) (platform.Store, error) {
	return platform.Store{ID: 1, TimeZone: p.zone, Currency: "USD"}, nil
}

func (*settled) ContractsUpdatedSince(context.Context, platform.Shop, time.Time, string) ([]int64, string, error) {
	return nil, "", nil
}

func TestReconnectInAnotherZoneKeepsOrderDays(t *testing.T) {
	t.Parallel()
	for _, move := range []struct{ from, to string }{{"Europe/Berlin", "America/New_York"}, {"America/New_York", "Europe/Berlin"}, {"Pacific/Auckland", "Pacific/Honolulu"}} {
		t.Run(move.from, func(t *testing.T) {
			t.Parallel()
			at := clock.NewManual(time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC))
			db := storetest.SQLite(t)
			p := &settled{zone: move.from}
			s := &intake.Service{Store: db.Intake(), Platform: p, Clock: at, Log: slog.New(slog.DiscardHandler), Policy: intake.DefaultPolicy(), ReconcileEvery: time.Hour}
			of, err := s.Connect(t.Context(), platform.Shop{Domain: "demo.myshopify.com", Token: "token"}, 2, 0, shop.Settings{})
			must(t, err)
			cal, err := of.Calendar()
			must(t, err)
			monthly := cadence.Policy{Interval: cadence.Month, Count: 1, Anchors: []cadence.Anchor{{Kind: cadence.MonthDay, Day: 15}}}
			first := cal.Local(cadence.Date{Year: 2026, Month: 2, Day: 15})
			chosen := cal.Local(cadence.Date{Year: 2026, Month: 4, Day: 20})
			evening := cal.Local(cadence.Date{Year: 2026, Month: 5, Day: 15}).Add(11 * time.Hour)
			must(t, db.Update(t.Context(), of.ID, func(tx *store.Tx) error {
				list := []contract.Contract{{ID: 1, Line: shop.Subscriptions, Status: contract.Active, Currency: "USD", Billing: monthly, Delivery: monthly, Series: contract.Series{Cycle: 2, Start: first}, CreatedAt: at.Now()}}
				list[0].Lifetime.Currency = "USD"
				if err := tx.PutContracts(t.Context(), list); err != nil {
					return err
				}
				if err := queue.Refill(t.Context(), tx, of, list, at.Now()); err != nil {
					return err
				}
				rows, err := tx.AttemptsOf(t.Context(), []contract.ID{1})
				if err != nil {
					return err
				}
				for i := range rows {
					switch rows[i].Cycle {
					case 4: // a person chose the day
						rows[i].BillingDate, rows[i].DueAt, rows[i].Moved = chosen, chosen, true
					case 5: // and the hour
						rows[i].BillingDate, rows[i].DueAt, rows[i].Moved = evening, evening, true
					}
				}
				return tx.PutAttempts(t.Context(), rows)
			}))
			p.zone = move.to
			of, err = s.Connect(t.Context(), platform.Shop{Domain: "demo.myshopify.com", Token: "token"}, 2, 0, shop.Settings{})
			must(t, err)
			cal, err = of.Calendar()
			must(t, err)
			must(t, db.Update(t.Context(), of.ID, func(tx *store.Tx) error {
				rows, err := tx.AttemptsOf(t.Context(), []contract.ID{1})
				if err != nil {
					return err
				}
				rows[0].Status, rows[0].DueAt = billing.Skipped, time.Time{} // its place is filled
				if err := tx.PutAttempts(t.Context(), rows[:1]); err != nil {
					return err
				}
				list, err := tx.Contracts(t.Context(), []contract.ID{1})
				if err != nil {
					return err
				}
				if err := queue.Refill(t.Context(), tx, of, list, at.Now()); err != nil {
					return err
				}
				if rows, err = tx.AttemptsOf(t.Context(), []contract.ID{1}); err != nil {
					return err
				}
				if len(rows) != billing.QueueLength+1 {
					t.Errorf("%d orders", len(rows))
				}
				for _, a := range rows {
					want := cal.Local(cadence.Date{Year: 2026, Month: time.Month(a.Cycle), Day: 15})
					switch a.Cycle {
					case 4:
						want = cal.Local(cadence.Date{Year: 2026, Month: 4, Day: 20})
					case 5:
						want = evening
					}
					if !a.BillingDate.Equal(want) || a.Status == billing.Queued && !a.DueAt.Equal(want) {
						t.Errorf("order %d is on %s and due on %s, want %s", a.Cycle, a.BillingDate, a.DueAt, want)
					}
				}
				return nil
			}))
		})
	}
}
