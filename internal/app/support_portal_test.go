package app

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
	"github.com/perennialhq/perennial/internal/web"
)

// A user of the dashboard who has opened the portal as the customer is held to the customer's rules, is
// named in the log as the merchant's, and is out after half an hour.
func TestSupportSessionActsAsMerchantUnderCustomersRules(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	noon := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	at := clock.NewManual(noon)
	demo := shop.Shop{Domain: "demo.myshopify.com", TimeZone: "UTC", Currency: "USD", Connected: true, CreatedAt: noon, Settings: shop.Settings{FreezeUntilMinCycles: true}}
	if err := db.Shops().AddShop(t.Context(), &demo); err != nil {
		t.Fatal(err)
	}
	monthly := cadence.Policy{Interval: cadence.Month, Count: 1}
	one := contract.Contract{
		ID: 1, Line: shop.Subscriptions, Status: contract.Active, Currency: "USD", Customer: contract.Customer{ID: 7001, Email: "ana@shopper.example"}, Billing: monthly, Delivery: monthly,
		OriginOrderID: 5, Series: contract.Series{Cycle: 1, Start: noon}, CreatedAt: noon, UpdatedAt: noon, AutoCharge: true,
	}
	frozen := one
	frozen.ID, frozen.MinCycles = 2, 3
	var attempts []billing.Attempt
	err := db.Update(t.Context(), demo.ID, func(tx *store.Tx) error {
		if err := tx.PutContracts(t.Context(), []contract.Contract{one, frozen}); err != nil {
			return err
		}
		attempts = nil
		for _, id := range []contract.ID{1, 2} {
			date := noon.AddDate(0, 0, 10)
			attempts = append(attempts, billing.Attempt{Contract: id, Cycle: 2, Status: billing.Queued, BillingDate: date, DueAt: date, CreatedAt: noon, UpdatedAt: noon})
		}
		return tx.PutAttempts(t.Context(), attempts)
	})
	if err != nil {
		t.Fatal(err)
	}
	a := &App{Store: db, options: Options{Clock: at}}
	a.Login = &login.Service{Store: db.Login(), Clock: at, PublicURL: "https://subscriptions.example.com"}
	a.Command = &command.Service{Env: &billing.Env{Store: db.Billing(), Clock: at, Log: slog.New(slog.DiscardHandler)}}
	a.Portal = &portal.Service{Store: db.Portal(), Orders: a.Command, Plans: db, Members: db, Answers: db.Answers(), Clock: at}
	handler := a.ownShoppers(web.Frame{Log: slog.New(slog.DiscardHandler), Clock: at}, true, http.NotFoundHandler())
	made, err := a.Login.OpenAs(t.Context(), demo.ID, 1, 7001, activity.Actor{Source: activity.MerchantPortal, By: "eve@demo.example"})
	if err != nil {
		t.Fatal(err)
	}
	session, err := a.Login.Enter(t.Context(), demo.ID, made.Value[strings.LastIndexByte(made.Value, '/')+1:])
	if err != nil {
		t.Fatal(err)
	}
	skip := func(n int) (int, string) {
		r := httptest.NewRequest(http.MethodPut, fmt.Sprintf("/p/demo/api/subscription-billing-attempts/skip-order/%d", attempts[n].ID), nil)
		r.AddCookie(web.PortalCookie(true).Of(session))
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	if status, text := skip(0); status != http.StatusOK {
		t.Fatalf("a skip answered %d %s", status, text)
	}
	if status, text := skip(1); status != http.StatusBadRequest || !strings.Contains(text, "contractFrozen") {
		t.Errorf("a skip in a commitment answered %d %s", status, text)
	}
	var by []string
	entries, _, err := db.Entries(t.Context(), demo.ID, nil, page.Request{Size: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Event == activity.BillingAttemptSkipped {
			by = append(by, string(e.Actor.Source)+" "+e.Actor.By)
		}
	}
	if len(by) != 1 || by[0] != "MERCHANT_PORTAL eve@demo.example" {
		t.Errorf("in the log are skips by %q", by)
	}
	at.Set(noon.Add(login.SupportLife))
	if status, text := skip(0); status != http.StatusUnauthorized {
		t.Errorf("after half an hour: %d %s", status, text)
	}
}
