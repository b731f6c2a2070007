package storetest

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

func testAnalytics(t *testing.T, open opener) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprintf("sums of random histories agree with their movements and with a rebuild, seed %d", seed), func(t *testing.T) {
			w := begin(t, open)
			var groups [2]plan.Group
			for i := range groups {
				groups[i] = plan.Group{PlatformID: 8001 + int64(i), Line: shop.Subscriptions, State: plan.Synced, Options: []plan.Option{{ID: 1001 + int64(i)}}, CreatedAt: day, UpdatedAt: day}
				w.in(func(tx *store.Tx) error { return tx.PutPlanGroup(t.Context(), &groups[i]) })
			}
			w.live(rand.New(rand.NewPCG(seed, 1))) //nolint:gosec // a history that is the same every time
			first := w.figures()
			if len(first.Days) < 20 || len(first.Churn) == 0 || len(first.Failures) == 0 || len(first.Cycles) == 0 {
				t.Errorf("the history is too short: %d days, %d months of churn", len(first.Days), len(first.Churn))
			}
			CheckFigures(t, first)
			w.checkCohorts(first.Cohorts)
			w.checkFailures(int64(groups[0].ID), int64(groups[1].ID))
			w.checkLifetimes()
			r := analytics.Rebuilder{Store: w.db.AnalyticsRebuild(), Clock: clock.NewManual(day.AddDate(2, 0, 0))}
			if done, err := r.Rebuild(t.Context(), w.shop.ID); err != nil || done.Differs || done.Versions < 50 || done.Added != 0 {
				t.Errorf("the rebuild did %+v, %v", done, err)
			}
			if diff := cmp.Diff(first, w.figures()); diff != "" {
				t.Errorf("a rebuild differs (-kept +rebuilt):\n%s", diff)
			}
		})
	}
}

// live lets a year and a half pass for some customers.
func (w world) live(r *rand.Rand) {
	contracts := make(map[contract.ID]contract.Contract)
	attempts := make(map[contract.ID]billing.Attempt)
	now := day
	pick := func(list ...contract.Status) contract.Status { return list[r.IntN(len(list))] }
	for step := range 260 {
		now = now.Add(time.Duration(r.IntN(100)) * time.Hour)
		if step == 130 { // the store moves west, and its days with it
			s, err := w.db.Shops().Shop(w.Context(), w.shop.ID)
			if err != nil {
				w.Fatal(err)
			}
			s.TimeZone = "Pacific/Honolulu"
			w.in(func(tx *store.Tx) error { return tx.PutShop(w.Context(), s) })
		}
		id := contract.ID(r.IntN(14) + 1)
		c, has := contracts[id]
		if !has {
			c = monthly(id)
			c.Customer.ID = 900 + int64(id)%6
			c.CreatedAt = now.AddDate(0, 0, -r.IntN(2)*40)
			if r.IntN(5) == 0 {
				c.Trial = &contract.Trial{ChargeAt: now}
			}
			c.Status = pick(contract.Active, contract.Active, contract.Active, contract.Paused)
		}
		a, tried := attempts[id]
		var puts []billing.Attempt
		switch r.IntN(9) {
		case 0, 1:
			c.Status = pick(contract.Active, contract.Paused, contract.Cancelled, contract.Expired, contract.Failed)
		case 2:
			c.Lines = []contract.LineItem{line(1+r.Int64N(3), 500+r.Int64N(2000))}
		case 3:
			c.Billing = contract.Policy{Interval: []cadence.Interval{cadence.Day, cadence.Week, cadence.Month, cadence.Year}[r.IntN(4)], Count: 1 + r.IntN(3)}
		case 4:
			c.Customer.ID = 900 + r.Int64N(6) // merged
		case 5:
			c.Discounts = []contract.Discount{{Percent: 10 + r.IntN(3)*10, AllLines: true, CycleLimit: r.IntN(2)}}
		case 6, 7, 8:
			if !has {
				break
			}
			if !tried || a.Status == billing.Success || a.Status == billing.SkippedDunning {
				a = queued(id, a.Cycle+1, now)
			}
			switch r.IntN(4) {
			case 0, 1:
				a.Status, a.OrderID, a.Amount, a.Try = billing.Success, int64(step+1), c.Amount(), a.Try+1
				if a.Dunning.State != "" {
					a.Dunning.State = dunning.Recovered
				}
				c.Orders++
			case 2:
				a.Status, a.Try = billing.Failure, a.Try+1
				a.Dunning = dunning.Case{State: dunning.Open, OpenedAt: now, FirstCode: "INSUFFICIENT_FUNDS"}
			case 3:
				a.Status = billing.Skipped
				if a.Dunning.State != "" {
					a.Status, a.Dunning.State, a.Dunning.Action, c.Status = billing.SkippedDunning, dunning.Lost, dunning.Cancel, contract.Cancelled
				}
			}
			puts = []billing.Attempt{a}
		}
		if id%5 == 0 {
			c = in(c, "USD")
		}
		c.UpdatedAt = now
		w.in(func(tx *store.Tx) error {
			put, sent := fresh(puts), []contract.Contract{c}
			for i := range put {
				put[i].UpdatedAt = now
			}
			if err := tx.PutContracts(w.Context(), sent); err != nil {
				return err
			}
			contracts[id] = sent[0]
			if err := tx.PutAttempts(w.Context(), put); err != nil {
				return err
			}
			if len(put) > 0 {
				attempts[id] = put[0]
			}
			return nil
		})
	}
}

// figures returns everything that is computed for the first shop.
func (w world) figures() (t analytics.Tables) {
	w.Helper()
	return Figures(w.T, w.db, w.shop.ID)
}

// Figures returns every computed row of a shop's figures.
func Figures(t *testing.T, db *store.DB, of shop.ID) (all analytics.Tables) {
	t.Helper()
	err := db.View(t.Context(), of, func(tx *store.Tx) (err error) {
		all, err = tx.AllFigures(t.Context())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// CheckFigures checks that every day of every currency and plan group ends where it began
// plus its movements, that subscribers do too, and that cohorts have as many as joined.
func CheckFigures(t *testing.T, all analytics.Tables) {
	t.Helper()
	last := make(map[analytics.Dimension]analytics.DayFigures)
	transferred := make(map[money.Currency]int64)
	for _, d := range all.Days {
		before := last[d.Dimension]
		if before.MRR+d.Moved.Sum() != d.MRR {
			t.Errorf("%s %s group %d: %d plus %v is not %d", d.Day, d.Currency, d.Group, before.MRR, d.Moved, d.MRR)
		}
		if d.Day <= before.Day || d.MRR < 0 || d.Contracts < 0 || d.Subscribers < 0 || d.Subscribers > d.Contracts || d.Trials < 0 || d.Trials+d.Lifelong > d.Contracts {
			t.Errorf("a day cannot be: %+v after %+v", d, before)
		}
		if d.Contracts == 0 && d.MRR != 0 {
			t.Errorf("%s has MRR without contracts: %+v", d.Day, d)
		}
		for _, loss := range []analytics.Movement{analytics.Contraction, analytics.Paused, analytics.ChurnedVoluntary, analytics.ChurnedByDeclines} {
			if d.Moved[loss] > 0 {
				t.Errorf("%s: %s adds %d", d.Day, loss, d.Moved[loss])
			}
		}
		for _, gain := range []analytics.Movement{analytics.Opening, analytics.New, analytics.Reactivated, analytics.Resumed, analytics.Expansion} {
			if d.Moved[gain] < 0 {
				t.Errorf("%s: %s takes %d away", d.Day, gain, -d.Moved[gain])
			}
		}
		last[d.Dimension] = d
		transferred[d.Currency] += d.Moved[analytics.Transferred]
	}
	var subscribers int64
	for _, d := range all.SubscriberDays {
		if subscribers += d.Opening + d.Gained - d.Lost - d.LostDecline + d.Merged; subscribers != d.Subscribers {
			t.Errorf("%s: %d subscribers by their movements, and %d", d.Day, subscribers, d.Subscribers)
		}
	}
	var active int64
	for _, s := range all.Subscribers {
		if s.Contracts > 0 {
			active++
		}
		if s.Contracts < 0 {
			t.Errorf("a subscriber cannot be: %+v", s)
		}
	}
	if active != subscribers {
		t.Errorf("%d customers have contracts, and there are %d subscribers", active, subscribers)
	}
	for _, m := range all.Churn {
		if m.Voluntary < 0 || m.ByFailedPayment < 0 {
			t.Errorf("churn cannot be: %+v", m)
		}
	}
}
