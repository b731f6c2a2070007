package pages

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/locale"
	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/home"
	"github.com/perennialhq/perennial/internal/web/portal/orders"
	"github.com/perennialhq/perennial/internal/web/portal/portaltest"
	"github.com/perennialhq/perennial/internal/web/portal/rewards"
	"github.com/perennialhq/perennial/internal/web/portal/subscription"
)

// portalOf opens a portal whose customer has a subscription in every state.
func portalOf(t *testing.T) *portaltest.Site {
	t.Helper()
	s := portaltest.Open(t, func(s *portaltest.Site) []portal.Room {
		return []portal.Room{
			home.New(home.Options{Homes: s.Overview}), subscription.New(subscription.Options{Sheets: s.Overview, Changes: s.Portal}), orders.New(orders.Options{Orders: s.Overview, Changes: s.Portal}),
			rewards.New(rewards.Options{Points: s.Points()}),
		}
	})
	first := portaltest.Subscription(1)
	first.Lines[0].Image, first.Lines[1].Image = "/pictures/coffee", "/pictures/tea"
	first.Discounts = []contract.Discount{{ID: "d", Code: "TEATIME", Percent: 10, AllLines: true, CycleLimit: 4, UsedCycles: 1}}
	first.Note = "Leave it with the neighbour at number 16."
	list := portaltest.Orders(1, 8)
	list[5].Status, list[5].DueAt, list[5].Amount = billing.Skipped, time.Time{}, portaltest.USD(2450)
	s.Put(s.First, []contract.Contract{first}, list...)

	one := func(id contract.ID, title string, price int64, change func(*contract.Contract)) contract.Contract {
		c := portaltest.Subscription(id)
		c.Lines = c.Lines[:1]
		c.Lines[0].Title, c.Lines[0].VariantTitle, c.Lines[0].Price, c.DeliveryPrice = title, "", portaltest.USD(price), portaltest.USD(0)
		month := contract.Policy{Interval: cadence.Month, Count: 1}
		c.Billing, c.Delivery, c.CreatedAt = month, month, portaltest.Now.AddDate(0, -4, -int(id))
		change(&c)
		return c
	}
	declined := one(2, "Salmon and Sweet Potato Kibble", 4320, func(c *contract.Contract) { c.Card.Brand, c.Card.LastDigits = "mastercard", "4444" })
	unpaid := portaltest.Attempt(2, 4, billing.Queued, portaltest.Now)
	portaltest.Declined(&declined, &unpaid, "INSUFFICIENT_FUNDS")
	s.Put(s.First, []contract.Contract{declined}, unpaid, portaltest.Attempt(2, 5, billing.Queued, portaltest.Charged(2027, time.March, 24)))
	s.Settle(declined)

	prepaid := one(3, "Mountain Water Decaf", 8160, func(c *contract.Contract) {
		c.Billing.Count = 6
		c.LastOrderAt = portaltest.Charged(2026, time.November, 10)
		c.Series, c.NextBillingDate = contract.Series{Cycle: 2, Start: c.LastOrderAt.AddDate(0, -6, 0)}, portaltest.Charged(2027, time.May, 10)
	})
	s.Put(s.First, []contract.Contract{prepaid}, portaltest.Attempt(3, 4, billing.Queued, portaltest.Charged(2027, time.May, 10)))
	paused := one(4, "Dishwasher Tablets", 1620, func(c *contract.Contract) {
		c.Billing.Count, c.Status, c.Pause = 2, contract.Paused, &contract.Pause{Until: portaltest.Charged(2027, time.May, 1)}
		c.Delivery = c.Billing
	})
	cancelled := one(5, "Oat Bars", 990, func(c *contract.Contract) {
		c.Status, c.CancelledAt, c.CancellationFeedback = contract.Cancelled, portaltest.Now.AddDate(0, 0, -9), "I have too much"
	})
	ending := one(6, "Jasmine Rice", 1250, func(c *contract.Contract) {
		c.Ending = &contract.Ending{Why: contract.EndOfMinimum, Cycle: 5, At: portaltest.Charged(2027, time.April, 20)}
	})
	s.Put(s.First, []contract.Contract{paused, cancelled, ending}, portaltest.Attempt(6, 5, billing.Queued, portaltest.Charged(2027, time.April, 20)))
	newcomer := one(7, "Nothing", 1, func(c *contract.Contract) { c.Customer.ID, c.Customer.Email = portaltest.Noah, "noah@shopper.example" })
	newcomer.Status = contract.Expired
	s.Put(s.First, []contract.Contract{newcomer})
	club(t, s)
	return s
}

// enter signs a tab in as a customer.
func enter(t *testing.T, s *portaltest.Site, v *visit, customer int64) {
	t.Helper()
	made, err := s.Login.NewLink(context.WithoutCancel(t.Context()), s.First.ID, login.CustomerRef{Customer: customer})
	if err != nil {
		t.Fatal(err)
	}
	v.tab.Open(s.Own.URL + strings.TrimPrefix(made.Value, s.Login.PublicURL))
	if status := v.tab.Click("main button"); status != http.StatusOK {
		t.Fatalf("signing in answered %d", status)
	}
}

// club starts the programme of the first store, in which Maya has points.
func club(t *testing.T, s *portaltest.Site) {
	t.Helper()
	terms := loyalty.DefaultTerms()
	terms.Expiry = loyalty.ExpiryPolicy{Mode: loyalty.LotAge, Months: 12}
	terms.Tiers = []loyalty.Tier{{ID: 1, Name: "Oak", Points: 100 * loyalty.One}, {ID: 2, Name: "Elm", Points: 2000 * loyalty.One}}
	if err := s.Points().Enable(t.Context(), s.First.ID, s.Clock.Now().AddDate(-1, 0, 0), terms); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Points().Enrol(t.Context(), s.First.ID, loyalty.EnrolCommand{Who: loyalty.CustomerRef{Customer: portaltest.Maya}, FirstName: canary}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Points().Add(t.Context(), s.First.ID, loyalty.PointsCommand{Who: loyalty.CustomerRef{Customer: portaltest.Maya}, Points: 840 * loyalty.One}); err != nil {
		t.Fatal(err)
	}
}

// Every screen of the portal in every state can be used by everybody, on a phone and on a desk, in
// light and dark.
func TestScreensOfPortalCanBeUsedByEverybody(t *testing.T) {
	t.Parallel()
	s, browser := portalOf(t), browsertest.Start(t)
	v := &visit{t: t, tab: browser.Tab(t), of: "portal screens"}
	at := s.Own.URL + portaltest.At
	v.open("sign in", at+"/signin", http.StatusOK)
	enter(t, s, v, portaltest.Maya)
	for name, path := range map[string]string{
		"home": "", "subscription": "/s/1", "declined": "/s/2", "prepaid": "/s/3", "paused": "/s/4", "cancelled": "/s/5", "ending": "/s/6",
		"upcoming": "/s/1/upcoming", "past": "/s/1/orders", "resume": "/s/4/resume", "rewards": "/rewards", "redeem": "/rewards/3",
	} {
		v.open(name, at+path, http.StatusOK)
	}
	for name, path := range map[string]string{"home": "", "subscription": "/s/1", "prepaid": "/s/3"} {
		v.open(name+" from right to left", at+path+"?locale="+locale.Pseudo, http.StatusOK)
		if got := browsertest.Eval[string](v.tab, "getComputedStyle(document.querySelector('h1')).direction"); got != "rtl" {
			t.Errorf("%s is written %s", name, got)
		}
	}
	v.open("missing", at+"/s/7", http.StatusNotFound)
	sheet, err := s.Overview.Sheet(t.Context(), do.Caller{Shop: s.First, Actor: login.Principal{Customer: portaltest.Maya}.Actor("")}, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	next, _ := sheet.Next()
	order := fmt.Sprintf("%s/s/1/orders/%d", at, next.ID)
	v.open("skip", order+"/skip", http.StatusOK)
	v.open("now", order+"/now", http.StatusOK)
	v.open("home again", at+"/s/1", http.StatusOK)
	v.asks("a[data-ask]")
	v.audit("dialog", part{"", v.tab})
}
