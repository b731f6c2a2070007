package pages

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/cancelling"
	"github.com/perennialhq/perennial/internal/web/portal/home"
	"github.com/perennialhq/perennial/internal/web/portal/portaltest"
	"github.com/perennialhq/perennial/internal/web/portal/subscription"
)

// Cancelling goes through with and without scripts, and everybody can use every step of it.
func TestCustomerCancelsInTheBrowser(t *testing.T) {
	t.Parallel()
	browser := browsertest.Start(t)
	for _, scripts := range []bool{true, false} {
		name := "portal cancel"
		if !scripts {
			name += " without scripts"
		}
		s := portaltest.Open(t, func(s *portaltest.Site) []portal.Room {
			sessions, _ := s.Leaving()
			return []portal.Room{
				home.New(home.Options{Homes: s.Overview}), subscription.New(subscription.Options{Sheets: s.Overview, Changes: s.Portal}), cancelling.New(cancelling.Options{Sessions: sessions}),
			}
		})
		s.Put(s.First, []contract.Contract{portaltest.Subscription(1), portaltest.Subscription(2), portaltest.Subscription(3)}, append(append(portaltest.Orders(1, 8), portaltest.Orders(2, 8)...), portaltest.Orders(3, 8)...)...)
		s.Publish(flow.Flow{
			Mode: flow.Retention, Support: "help@store.example", Budget: 100_000,
			Reasons: []flow.Reason{
				{Key: "much", Label: map[string]string{"en": "I have too much"}, Offers: []flow.Offer{{Kind: flow.Skip, Orders: 2}}},
				{Key: "price", Label: map[string]string{"en": "It costs too much"}, Comment: true, Offers: []flow.Offer{{Kind: flow.Discount, Percent: 20, Orders: 3}}},
				{Key: "canary", Label: map[string]string{"en": canary}},
			},
		})
		v := &visit{t: t, tab: browser.Tab(t), of: name}
		v.tab.Scripts(scripts)
		made, err := s.Login.NewLink(context.WithoutCancel(t.Context()), s.First.ID, login.CustomerRef{Customer: portaltest.Maya})
		if err != nil {
			t.Fatal(err)
		}
		v.tab.Open(s.Own.URL + strings.TrimPrefix(made.Value, s.Login.PublicURL))
		v.tab.Click("main button")
		at := s.Own.URL + portaltest.At

		v.open("reason", at+"/s/1/cancel", http.StatusOK)
		v.tick("input[value=much]")
		v.click("offer", "main form .btn", http.StatusOK)
		v.says("You can skip your next 2 orders")
		v.click("accepted", "main form .btn", http.StatusOK)
		v.says("The orders are skipped.")

		v.open("another reason", at+"/s/2/cancel", http.StatusOK)
		v.tick("input[value=price]")
		v.click("comment missing", "main form .btn", http.StatusUnprocessableEntity)
		v.fill("#f-comment", "It is dear")
		v.click("discount", "main form .btn", http.StatusOK)
		v.says("20% off your next 3 orders")
		v.click("confirm", "main form .btn:last-child", http.StatusOK)
		v.says("you won’t be charged")
		v.click("cancelled", "main form .btn", http.StatusOK)
		v.says("Cancelled. Nothing more will be charged.")
		v.fill("#f-comment", canary)
		v.click("thanks", "main form .btn", http.StatusOK)

		v.open("question", at+"/s/3/cancel", http.StatusOK)
		v.click("skipped", "main form .btn:last-child", http.StatusOK)
		v.says("Keep subscription")
		v.click("kept", "main form .btn:last-child", http.StatusOK)
		v.says("Nothing was cancelled.")
	}
}
