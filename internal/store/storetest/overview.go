package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

func testOverview(t *testing.T, open opener) {
	t.Run("a subscriber sees their own contracts with their orders", func(t *testing.T) {
		w := begin(t, open)
		now := day
		s := &overview.Service{Store: w.db.Overview(), Clock: clock.NewManual(now)}
		of := func(id contract.ID, customer int64, status contract.Status) contract.Contract {
			c := monthly(id)
			c.Customer.ID, c.Status, c.CreatedAt = customer, status, now.AddDate(0, 0, int(id))
			return c
		}
		w.put(of(1, 7, contract.Active), of(2, 7, contract.Cancelled), of(3, 7, contract.Paused), of(4, 8, contract.Active))
		list := []billing.Attempt{
			{Contract: 1, Cycle: 20, Status: billing.Skipped, BillingDate: now.AddDate(0, 1, 0)}, {Contract: 1, Cycle: 21, Status: billing.Queued, BillingDate: now.AddDate(0, 2, 0)},
			{Contract: 1, Cycle: 22, Status: billing.Queued, BillingDate: now.AddDate(0, 3, 0)}, {Contract: 4, Cycle: 21, Status: billing.Queued, BillingDate: now.AddDate(0, 1, 0)},
		}
		for cycle := 1; cycle < 20; cycle++ {
			a := billing.Attempt{Contract: 1, Cycle: cycle, Status: billing.Success, BillingDate: now.AddDate(0, cycle-20, 0)}
			switch cycle {
			case 3:
				a.Status = billing.Failure
			case 18:
				a.Status = billing.Skipped
			}
			list = append(list, a)
		}
		w.queue(list...)
		maya := portal.Caller{Shop: w.shop, Actor: activity.Actor{Source: activity.CustomerPortal, Customer: 7}}

		home, err := s.Home(t.Context(), maya)
		var ids string
		for _, sheet := range home.Sheets {
			ids += fmt.Sprint(sheet.Contract.ID, " ")
		}
		_, next, comes := home.Next()
		if ids != "1 3 2 " || !comes || next.Cycle != 21 || err != nil {
			t.Errorf("contracts %q, next cycle %d (%v), %v; want 1 3 2, the order of cycle 21", ids, next.Cycle, comes, err)
		}

		sheet, err := s.Sheet(t.Context(), maya, 1, 5)
		if got := cyclesOf(sheet.Past); got != "19 18 17 16 15 " || !sheet.MorePast || len(sheet.Upcoming) != 3 || err != nil {
			t.Errorf("past %q, more %v, %d to come, %v", got, sheet.MorePast, len(sheet.Upcoming), err)
		}
		if after, comes := sheet.After(sheet.Upcoming[1].Attempt); !comes || after.Cycle != 22 {
			t.Errorf("after cycle 21 comes %d (%v)", after.Cycle, comes)
		}
		page, err := s.Past(t.Context(), maya, 1, 11)
		if got := cyclesOf(page.Past); got != "10 9 8 7 6 5 4 3 2 1 " || page.MorePast || err != nil {
			t.Errorf("the page before cycle 11 has %q, more %v, %v", got, page.MorePast, err)
		}
		if page, err = s.Past(t.Context(), maya, 1, 0); cyclesOf(page.Past) != "19 18 17 16 15 14 13 12 11 10 " || !page.MorePast || err != nil {
			t.Errorf("the first page has %q, more %v, %v", cyclesOf(page.Past), page.MorePast, err)
		}

		order := page.Past[3].ID
		if _, o, err := s.Order(t.Context(), maya, 1, order); err != nil || o.Cycle != 16 {
			t.Errorf("an order that has passed: cycle %d, %v", o.Cycle, err)
		}
		other := w.addShop("second.myshopify.com")
		for name, ask := range map[string]func() error{
			"another customer's contract": func() error { _, err := s.Sheet(t.Context(), maya, 4, 5); return err },
			"the contract in another store": func() error {
				_, err := s.Sheet(t.Context(), portal.Caller{Shop: other, Actor: maya.Actor}, 1, 5)
				return err
			},
			"the contract without a customer":   func() error { _, err := s.Sheet(t.Context(), portal.Caller{Shop: w.shop}, 1, 5); return err },
			"an order of another contract":      func() error { _, _, err := s.Order(t.Context(), maya, 3, order); return err },
			"past orders of another's contract": func() error { _, err := s.Past(t.Context(), maya, 4, 0); return err },
			"the contract of the line that it is not": func() error {
				_, err := s.Sheet(t.Context(), portal.Caller{Shop: w.shop, Line: shop.Memberships, Actor: maya.Actor}, 1, 5)
				return err
			},
		} {
			if err := ask(); !fault.Is(err, fault.NotFound) {
				t.Errorf("%s: %v, want not found", name, err)
			}
		}
		if home, err := s.Home(t.Context(), portal.Caller{Shop: w.shop}); len(home.Sheets) != 0 || err != nil {
			t.Errorf("a caller without a customer has %d contracts, %v", len(home.Sheets), err)
		}
	})

	t.Run("an order that was declined is named apart while it is not given up", func(t *testing.T) {
		w := begin(t, open)
		s := &overview.Service{Store: w.db.Overview(), Clock: clock.NewManual(day)}
		c := monthly(1)
		c.Customer.ID = 7
		w.put(c)
		w.queue(billing.Attempt{Contract: 1, Cycle: 2, Status: billing.Failure, BillingDate: day.Add(-time.Hour), DueAt: day.Add(time.Hour)})
		caller := portal.Caller{Shop: w.shop, Actor: activity.Actor{Source: activity.CustomerPortal, Customer: 7}}
		sheet, err := s.Sheet(t.Context(), caller, 1, 5)
		if sheet.Unpaid != nil || err != nil {
			t.Fatalf("without a case: %+v, %v", sheet.Unpaid, err)
		}
		c = w.contract(1)
		c.Dunning = &contract.Dunning{Attempt: int64(sheet.Past[0].ID), Cycle: 2}
		w.put(c)
		if sheet, err = s.Sheet(t.Context(), caller, 1, 5); sheet.Unpaid == nil || sheet.Unpaid.Cycle != 2 || len(sheet.Past) != 1 || err != nil {
			t.Errorf("with a case: %+v, %v", sheet.Unpaid, err)
		}
	})
}

func cyclesOf(list []billing.Attempt) (text string) {
	for _, a := range list {
		text += fmt.Sprint(a.Cycle, " ")
	}
	return text
}
