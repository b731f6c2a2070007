package pages

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	figures "github.com/perennialhq/perennial/internal/web/dashboard/analytics"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
)

func TestPagesOfFiguresCanBeUsedByEverybody(t *testing.T) {
	t.Parallel()
	browser := browsertest.Start(t)
	s := dashboardtest.Open(t, func(s *dashboardtest.Site, o *dashboard.Options) {
		o.Rooms = append(o.Rooms, figures.New(figures.Options{Figures: &analytics.Service{Store: s.DB.Figures(), Clock: s.Clock}, Clock: s.Clock}))
	})
	v := &visit{t: t, tab: browser.Tab(t), of: "analytics"}
	v.tab.Open(s.URL + "/admin")
	v.fill("#email", dashboardtest.Owner)
	v.tab.Submit("#password", dashboardtest.Password)
	at := s.URL + dashboardtest.At + "/analytics/"
	v.open("none", at+"mrr", http.StatusOK)
	live(t, s)
	for _, page := range []string{"mrr?compare=year", "subscribers?period=90d", "churn", "cohorts", "cohorts?show=revenue", "revenue", "revenue?period=90d", "forecast", "forecast?days=90", "recovery"} {
		v.open(page, at+page, http.StatusOK)
	}
	v.tab.Open(at + "mrr")
	browsertest.Eval[bool](v.tab, "document.querySelectorAll('details').forEach(d => d.open = true), true")
	v.look("mrr open", http.StatusOK, http.StatusOK)
	v.open("refused", at+"mrr?period=9y", http.StatusBadRequest)
}

// live lets two years pass in the first store, with a contract or two every day.
func live(t *testing.T, s *dashboardtest.Site) {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	month := contract.Policy{Interval: cadence.Month, Count: 1}
	var all []contract.Contract
	var codes = []string{"INSUFFICIENT_FUNDS", "EXPIRED_CARD", "DO_NOT_HONOR", "PROCESSING_ERROR"}
	unpaid := make(map[contract.ID]billing.Attempt)
	for day := s.Clock.Now().AddDate(0, -23, 0); day.Before(s.Clock.Now()); day = day.AddDate(0, 0, 1) {
		changed := make(map[contract.ID]bool)
		for range r.IntN(2) + r.IntN(2) {
			id := contract.ID(len(all) + 1)
			all = append(all, contract.Contract{
				ID: id, Line: shop.Subscriptions, Status: contract.Active, Currency: "EUR", Customer: contract.Customer{ID: 1000 + int64(id)}, Billing: month, Delivery: month,
				Lines:     []contract.LineItem{{ID: "a", Quantity: 1 + r.IntN(2), Price: money.Amount{Minor: 900 + 100*r.Int64N(30), Currency: "EUR"}}},
				CreatedAt: day, OriginOrderID: 1, Series: contract.Series{Cycle: 2, Start: day},
			})
			changed[id] = true
		}
		var attempts []billing.Attempt
		for i := range all {
			c := &all[i]
			switch n := r.IntN(2000); {
			case changed[c.ID]:
			case c.Status == contract.Active && n < 4:
				c.Status = contract.Cancelled
				changed[c.ID] = true
			case c.Status == contract.Active && n < 7:
				c.Status = contract.Paused
				changed[c.ID] = true
			case c.Status == contract.Active && n < 12:
				c.Lines = []contract.LineItem{{ID: "a", Quantity: 1 + r.IntN(3), Price: c.Lines[0].Price}}
				changed[c.ID] = true
			case c.Status == contract.Paused && n < 20:
				c.Status = contract.Active
				changed[c.ID] = true
			}
			a, failed := unpaid[c.ID]
			switch due := c.Status == contract.Active && c.CreatedAt.Day() == day.Day() && !changed[c.ID]; {
			case failed && r.IntN(6) == 0 && !changed[c.ID]:
				a.Status, a.OrderID, a.Amount, a.Try, a.Dunning.State = billing.Success, 1, c.Amount(), 2+r.IntN(3), dunning.Recovered
				if r.IntN(4) == 0 {
					a.Status, a.OrderID, a.Dunning.State, a.Dunning.Action, c.Status = billing.SkippedDunning, 0, dunning.Lost, dunning.Cancel, contract.Cancelled
					changed[c.ID] = true
				}
				attempts = append(attempts, a)
				delete(unpaid, c.ID)
			case due && !failed:
				c.Orders++
				a = billing.Attempt{Contract: c.ID, Cycle: c.Orders + 1, Status: billing.Success, OrderID: 1, Amount: c.Amount(), Try: 1, BillingDate: day}
				switch r.IntN(14) {
				case 0:
					a.Status, a.OrderID, a.Amount = billing.Failure, 0, money.Amount{}
					a.Dunning = dunning.Case{State: dunning.Open, FirstCode: codes[r.IntN(len(codes))]}
				case 1:
					a.Status, a.OrderID, a.Amount = billing.Skipped, 0, money.Amount{}
				}
				attempts = append(attempts, a)
			}
		}
		for _, a := range writeDay(t, s, day, all, changed, attempts) {
			if a.Status == billing.Failure {
				unpaid[a.Contract] = a
			}
		}
	}
	var queue []billing.Attempt
	for i, c := range all {
		for n := range 3 {
			if c.Status == contract.Active {
				date := s.Clock.Now().AddDate(0, n, i%30+1)
				queue = append(queue, billing.Attempt{Contract: c.ID, Cycle: c.Orders + 2 + n, Status: billing.Queued, BillingDate: date, DueAt: date})
			}
		}
	}
	writeDay(t, s, s.Clock.Now(), nil, nil, queue)
}

// writeDay stores what a day changed and returns the attempts as they are stored.
func writeDay(t *testing.T, s *dashboardtest.Site, day time.Time, all []contract.Contract, changed map[contract.ID]bool, attempts []billing.Attempt) []billing.Attempt {
	t.Helper()
	var list []contract.Contract
	for _, c := range all {
		if changed[c.ID] {
			c.UpdatedAt = day
			list = append(list, c)
		}
	}
	for i := range attempts {
		attempts[i].UpdatedAt = day
	}
	err := s.DB.Update(t.Context(), s.First.ID, func(tx *store.Tx) error {
		if err := tx.PutContracts(t.Context(), list); err != nil {
			return fmt.Errorf("contracts: %w", err)
		}
		return tx.PutAttempts(t.Context(), attempts)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		all[c.ID-1] = c
	}
	return attempts
}
