package roomtest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/domain/upcoming"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
	pages "github.com/perennialhq/perennial/internal/web/dashboard/upcoming"
)

const upcomingPath = dashboardtest.At + "/upcoming"

// upcomingOrders is the orders of one store, in memory, and what was done about them.
type upcomingOrders struct {
	site    *dashboardtest.Site
	list    []upcoming.Order
	moved   []command.Reschedule
	skipped []command.Skip
	refuse  error
}

// View shows them.
func (o *upcomingOrders) View(_ context.Context, of shop.ID, fn func(upcoming.ReadTx) error) error {
	if of != o.site.First.ID {
		return fn(&upcomingOrders{})
	}
	return fn(o)
}

func (o *upcomingOrders) within(from, to time.Time) (list []upcoming.Order) {
	for _, order := range o.list {
		if !order.Date.Before(from) && order.Date.Before(to) {
			list = append(list, order)
		}
	}
	return list
}

// QueueSums sums them.
func (o *upcomingOrders) QueueSums(_ context.Context, from, to time.Time) (sums []upcoming.Sum, err error) {
	for _, order := range o.within(from, to) {
		sums = append(sums, upcoming.Sum{At: order.Date, Orders: 1, Amount: order.Amount})
	}
	return sums, nil
}

// QueueOrders returns them.
func (o *upcomingOrders) QueueOrders(_ context.Context, from, to time.Time, offset, limit int) ([]upcoming.Order, error) {
	list := o.within(from, to)
	list = list[min(offset, len(list)):]
	return list[:min(limit, len(list))], nil
}

// QueueOrder returns one.
func (o *upcomingOrders) QueueOrder(_ context.Context, id billing.AttemptID) (upcoming.Order, error) {
	for _, order := range o.list {
		if order.Attempt == id {
			return order, nil
		}
	}
	return upcoming.Order{}, upcoming.NotFound()
}

// Reschedule notes what is moved.
func (o *upcomingOrders) Reschedule(_ context.Context, _ shop.ID, c command.Reschedule) (billing.Record, error) {
	o.moved = append(o.moved, c)
	return billing.Record{Attempt: billing.Attempt{BillingDate: c.BillingDate}}, o.refuse
}

// Skip notes what is skipped.
func (o *upcomingOrders) Skip(_ context.Context, _ shop.ID, c command.Skip) (billing.Record, error) {
	o.skipped = append(o.skipped, c)
	return billing.Record{}, o.refuse
}

func openUpcoming(t *testing.T) (*dashboardtest.Site, *upcomingOrders) {
	t.Helper()
	t.Parallel()
	o := &upcomingOrders{}
	s := dashboardtest.Open(t, func(s *dashboardtest.Site, options *dashboard.Options) {
		options.Rooms = append(options.Rooms, pages.New(pages.Options{Queue: &upcoming.Service{Store: o}, Orders: o, Clock: s.Clock}))
	})
	o.site = s
	for i, day := range []int{-1, 3, 3, 9} {
		order := upcoming.Order{
			Attempt: billing.AttemptID(i + 1), Contract: 9001, Line: shop.Subscriptions, Cycle: i + 2, Date: s.Clock.Now().AddDate(0, 0, day).Add(time.Hour), Customer: canary,
			Amount: money.Amount{Minor: 1250, Currency: "EUR"},
		}
		if i == 2 {
			order.Amount.Currency = "USD"
		}
		o.list = append(o.list, order)
	}
	s.SignIn(dashboardtest.Owner)
	return s, o
}

func TestCalendarShowsOrdersAndAmountsByDay(t *testing.T) {
	s, _ := openUpcoming(t)
	p := s.Get(upcomingPath)
	s.Want(p, http.StatusOK, "November 2026", "3 orders · 25.00 EUR", "12.50 USD", "1 order of days that have passed has not been charged yet.", `href="/admin/stores/first/upcoming/2026-11-28"`,
		`<span class="n">28</span> <strong>2 orders</strong>`, `<td class="today">`, "Previous month")
	s.Want(s.Get(upcomingPath+"?month=2026-12&view=list"), http.StatusOK, "December 2026", "Fri 4 Dec 2026", "12.50 EUR", "This month")
	s.Want(s.Get(upcomingPath+"?month=2027-03"), http.StatusOK, "Nothing scheduled")
	s.Want(s.Get(upcomingPath+"?month=2026-13"), http.StatusBadRequest, "is not a month")
	s.Want(s.Get(upcomingPath+"?month=2099-01"), http.StatusBadRequest, "5 years")
	s.Want(s.Get("/admin/stores/second/upcoming"), http.StatusNotFound)
}

func TestDayShowsItsOrders(t *testing.T) {
	s, o := openUpcoming(t)
	p := s.Get(upcomingPath + "/2026-11-28")
	s.Want(p, http.StatusOK, "Saturday, 28 November 2026", "2 orders, expected: 12.50 EUR, 12.50 USD", "&lt;script&gt;alert(1)&lt;/script&gt;{{7*7}}", "/contracts/9001", "13:00",
		`name="query" value="fromNextDate=2026-11-28&amp;status=ACTIVE&amp;toNextDate=2026-11-28"`, `value="MOVE_NEXT"`, "/upcoming/2/move")
	if strings.Contains(p.Text, "<script>alert") {
		t.Error("a name of the store is a script")
	}
	if p := s.Get(upcomingPath + "/2026-11-24"); strings.Contains(p.Text, "bulk/new") {
		t.Error("orders of a day that has passed can be moved together")
	}
	for range 60 {
		o.list = append(o.list, o.list[3])
	}
	s.Want(s.Get(upcomingPath+"/2026-12-04"), http.StatusOK, "1–50", `href="/admin/stores/first/upcoming/2026-12-04?page=1"`)
	s.Want(s.Get(upcomingPath+"/2026-12-04?page=1"), http.StatusOK, "51–61")
	s.Want(s.Get(upcomingPath+"/2026-12-05"), http.StatusOK, "No order is queued for this day.")
	s.Want(s.Get(upcomingPath+"/2026-02-30"), http.StatusNotFound)
	s.Want(s.Get(upcomingPath+"/2026-12-04?page=x"), http.StatusBadRequest)

	s.Add("al@staff.example", staff.Analyst)
	s.SignIn("al@staff.example")
	if p := s.Get(upcomingPath + "/2026-11-28"); strings.Contains(p.Text, "bulk/new") || strings.Contains(p.Text, "/move") {
		t.Error("an analyst is offered actions")
	}
	s.Want(s.Get(upcomingPath+"/2/move"), http.StatusForbidden)
	s.Want(s.Post(upcomingPath+"/2/skip"), http.StatusForbidden)
}

func TestOrderIsMovedAndSkippedByQuestion(t *testing.T) {
	s, o := openUpcoming(t)
	s.Want(s.Get(upcomingPath+"/2/move"), http.StatusOK, "Order 3 of contract 9001", "is charged on 28 Nov 2026, 13:00 UTC. 12.50 EUR is expected", `value="2026-11-29"`, `min="2026-11-25"`)
	p := s.Post(upcomingPath+"/2/move", "date", "2026-12-05", "future", "on")
	if s.Want(p, http.StatusOK, "The order was moved to this day."); !strings.HasPrefix(p.Path, upcomingPath+"/2026-12-05") {
		t.Errorf("it leads to %s", p.Path)
	}
	if c := o.moved[0]; c.Attempt != 2 || !c.Future || c.Line != shop.Subscriptions || c.Actor.By != dashboardtest.Owner || c.BillingDate.Format(time.DateOnly) != "2026-12-05" {
		t.Errorf("moved %+v", c)
	}
	s.Post(upcomingPath+"/2/move", "date", "2026-11-25")
	if c := o.moved[1]; !c.BillingDate.Equal(s.Clock.Now()) {
		t.Errorf("an order of today is charged at %s", c.BillingDate)
	}
	s.Want(s.Post(upcomingPath+"/2/move", "date", "tomorrow"), http.StatusUnprocessableEntity, "is not a day", `id="e-date"`)
	o.refuse = fault.New(fault.Invalid, "billingDate is in the past").Field("billingDate")
	s.Want(s.Post(upcomingPath+"/2/move", "date", "2026-11-26"), http.StatusUnprocessableEntity, "is in the past", `id="e-date"`, `value="2026-11-26"`)
	o.refuse = nil

	s.Want(s.Get(upcomingPath+"/2/skip"), http.StatusOK, "nothing is charged")
	s.Want(s.Post(upcomingPath+"/2/skip"), http.StatusOK, "The order was skipped.")
	if c := o.skipped[0]; c.Attempt != 2 || c.Actor.By != dashboardtest.Owner {
		t.Errorf("skipped %+v", c)
	}
	o.refuse = fault.New(fault.Conflict, "The billing attempt has changed")
	s.Want(s.Post(upcomingPath+"/2/skip"), http.StatusUnprocessableEntity, "has changed")
	s.Want(s.Get(upcomingPath+"/77/skip"), http.StatusNotFound, "not queued")
	s.Want(s.Get(upcomingPath+"/x/skip"), http.StatusNotFound)
}
