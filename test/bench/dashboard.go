package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	wire "github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
)

// What the dashboard is measured with.
const (
	pageRuns  = 200 // the second longest is the 99th percentile
	goalPage  = 150 * time.Millisecond
	goalBytes = 60 << 10

	atOnce = 250 // contracts with their orders take about as many numbers as a transaction has at hand

	apiPath      = "/api/external/v2"
	pagePassword = "measured battery staple"
	pageUser     = "ana@staff.example"
)

// pages measures what the server takes to answer with pages of the dashboard of a large store,
// beside the operations of the interface that ask the same, and with screens of its portal.
func pages(ctx context.Context, s settings) error {
	for _, kind := range s.databases {
		if err := s.pagesOn(ctx, kind); err != nil {
			return fmt.Errorf("on %s: %w", kind, err)
		}
	}
	return nil
}

func (s settings) pagesOn(ctx context.Context, kind string) error {
	d, err := s.fresh(ctx, kind)
	if err != nil {
		return err
	}
	defer d.drop()
	now := clock.NewManual(epoch().Add(time.Duration(s.dashboard)*time.Minute).AddDate(0, 0, 30))
	set := s.serverSettings(d, platform{url: "http://127.0.0.1:1"}, "127.0.0.1:1")
	a, err := app.New(ctx, app.Options{Settings: set, Clock: now, Log: slog.New(slog.DiscardHandler), Kind: app.Production, Migrate: true})
	if err != nil {
		return err
	}
	defer a.Close()
	of, err := runningShop(ctx, a.Store, s.dashboard, now.Now())
	if err != nil {
		return err
	}
	if err := addPlans(ctx, a.Store, of); err != nil {
		return err
	}
	if err := d.settle(ctx); err != nil {
		return err
	}
	v, err := newVisitor(ctx, a, of)
	if err != nil {
		return err
	}
	const list = apiPath + "/subscription-contract-details?sort=created_at,desc&size="
	name := func(n int) string { return fmt.Sprint(10_000_000 + 1 + (n*7919)%s.dashboard) }
	for _, p := range []struct {
		name      string
		page, api func(n int) string
	}{
		{"contracts", func(int) string { return "/contracts" }, func(int) string { return list + "20" }},
		{"contracts_100", func(int) string { return "/contracts?size=100" }, func(int) string { return list + "100" }},
		{"contracts_failing", func(int) string { return "/contracts?failing=true" }, nil},
		{"contract", func(n int) string { return "/contracts/" + name(n) }, func(n int) string {
			return apiPath + "/subscription-billing-attempts/past-orders?contractId=" + name(n)
		}},
		{"home", func(int) string { return "" }, nil},
		{"home_figures", func(int) string { return "/home/figures" }, nil},
		{"failed_payments", func(int) string { return "/failed-payments" }, nil},
		{"upcoming_month", func(int) string { return "/upcoming" }, nil},
	} {
		took := measured{}
		if took.p50, took.p99, took.bytes, err = v.ask(pageRuns, func(n int) *http.Request {
			now.Set(now.Now().Add(2 * time.Minute)) // figures of an earlier visit are not shown again
			return v.page(ctx, p.page(n))
		}); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		beside := "none"
		if p.api != nil {
			p50, p99, _, err := v.ask(pageRuns, func(n int) *http.Request { return v.operation(ctx, p.api(n)) })
			if err != nil {
				return fmt.Errorf("the operation of %s: %w", p.name, err)
			}
			beside = fmt.Sprintf("limit_p50_ms=%.2f limit_p99_ms=%.2f ratio=%.2f", ms(p50), ms(p99), ms(p50)/ms(took.p50))
		}
		s.print("dashboard db=%s contracts=%d page=%s p50_ms=%.2f p99_ms=%.2f goal=%.0f bytes=%d bytes_goal=%d %s",
			kind, s.dashboard, p.name, ms(took.p50), ms(took.p99), ms(goalPage), took.bytes, goalBytes, beside)
	}
	return s.screens(ctx, a, of, kind, now)
}

// measured is what pages took.
type measured struct {
	p50, p99 time.Duration
	bytes    int // of the largest
}

// settle leaves a database as it is some time after it was filled.
func (d database) settle(ctx context.Context) error {
	if d.kind == "sqlite" {
		return nil // the service has it analyze what grows
	}
	_, err := d.bare.ExecContext(ctx, "VACUUM ANALYZE")
	return err
}

// runningShop adds a store whose contracts have orders in the queue and orders that were paid; of
// one in fifty the last order was declined.
func runningShop(ctx context.Context, db *store.DB, contracts int, now time.Time) (shop.ID, error) {
	made := shop.Shop{
		Domain: "stored-1.myshopify.com", PlatformID: 1, Token: wire.Token("token"), TimeZone: "UTC", Currency: "USD", OrderHour: 9, Connected: true,
		CreatedAt: epoch(), ReconcileAt: epoch().AddDate(100, 0, 0),
	}
	if err := db.Shops().AddShop(ctx, &made); err != nil {
		return 0, err
	}
	for from := 0; from < contracts; from += atOnce {
		if err := addRunning(ctx, db, made.ID, from, min(from+atOnce, contracts), now); err != nil {
			return 0, err
		}
	}
	return made.ID, nil
}

func addRunning(ctx context.Context, db *store.DB, of shop.ID, from, to int, now time.Time) error {
	var stored []contract.Contract
	for i := from; i < to; i++ {
		stored = append(stored, storedContract(1, i))
	}
	attempts, entries := runningOrders(stored, from, now)
	for _, put := range []func(tx *store.Tx) error{
		func(tx *store.Tx) error {
			list := slices.Clone(stored)
			err := tx.PutContracts(ctx, list)
			if err == nil {
				stored = list
			}
			return err
		},
		func(tx *store.Tx) error {
			list := slices.Clone(attempts)
			if err := tx.PutAttempts(ctx, list); err != nil {
				return err
			}
			return putFailing(ctx, tx, slices.Clone(stored), list)
		},
		func(tx *store.Tx) error { return tx.Record(ctx, entries...) },
	} {
		if err := db.Update(ctx, of, put); err != nil {
			return err
		}
	}
	return nil
}

// runningOrders returns the orders of contracts, and their first entries in the log.
func runningOrders(list []contract.Contract, from int, now time.Time) (attempts []billing.Attempt, entries []activity.Entry) {
	today := now.Truncate(24 * time.Hour).Add(9 * time.Hour)
	for i, c := range list {
		add := func(cycle int, at time.Time, status billing.Status) *billing.Attempt {
			a := billing.Attempt{Contract: c.ID, Cycle: cycle, Status: status, BillingDate: at, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt}
			if status == billing.Queued {
				a.DueAt = at
			}
			attempts = append(attempts, a)
			return &attempts[len(attempts)-1]
		}
		paid := add(2, c.CreatedAt.Add(30*time.Minute), billing.Success)
		paid.Try, paid.OrderID, paid.OrderName, paid.Amount = 1, int64(c.ID), fmt.Sprintf("#R%d", from+i), c.Amount()
		entries = append(entries, activity.Entry{
			EntityID: int64(c.ID), EntityType: activity.EntitySubscriptionContractDetails, Event: activity.ContractCreated, Status: activity.Success, Actor: activity.System, At: c.CreatedAt,
		})
		if c.Status != contract.Active {
			continue
		}
		if (from+i)%50 == 0 {
			at := now.AddDate(0, 0, -2)
			declined := add(3, at, billing.Failure)
			declined.Try, declined.ErrorCode, declined.Dunning = 1, "INSUFFICIENT_FUNDS", dunning.Case{
				State: dunning.Open, OpenedAt: at, TriedAt: at, FirstCode: "INSUFFICIENT_FUNDS", Class: dunning.Funds, RetryAt: now.AddDate(0, 0, 3),
			}
		}
		add(4, today.AddDate(0, 0, 1+(from+i)%30), billing.Queued)
		add(5, today.AddDate(0, 0, 31+(from+i)%30), billing.Queued)
	}
	return attempts, entries
}

// putFailing adds to contracts what of their orders was declined.
func putFailing(ctx context.Context, tx *store.Tx, list []contract.Contract, attempts []billing.Attempt) error {
	var failing []contract.Contract
	for _, a := range attempts {
		if a.Status != billing.Failure {
			continue
		}
		at := slices.IndexFunc(list, func(c contract.Contract) bool { return c.ID == a.Contract })
		list[at].Dunning = &contract.Dunning{
			Attempt: int64(a.ID), Cycle: a.Cycle, State: a.Dunning.State, Class: a.Dunning.Class, Code: a.ErrorCode, Since: a.Dunning.OpenedAt, Tries: 1, RetryAt: a.Dunning.RetryAt,
		}
		failing = append(failing, list[at])
	}
	return tx.PutContracts(ctx, failing)
}

// visitor is a user of the dashboard with a key of the interface.
type visitor struct {
	handler http.Handler
	base    string // of the store's pages
	cookie  string
	key     string
}

func newVisitor(ctx context.Context, a *app.App, of shop.ID) (visitor, error) {
	v := visitor{handler: a.Subscriptions}
	if err := a.Staff.Add(ctx, of, pageUser, "", staff.Owner, pagePassword); err != nil {
		return v, err
	}
	form := url.Values{"email": {pageUser}, "password": {pagePassword}}
	req := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1:1/admin/signin", strings.NewReader(form.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	v.handler.ServeHTTP(w, req)
	for _, c := range w.Result().Cookies() { //nolint:bodyclose // of a recorder
		v.cookie += c.Name + "=" + c.Value + "; "
	}
	if v.base = strings.TrimSuffix(w.Header().Get("Location"), "/"); w.Code != http.StatusSeeOther || v.cookie == "" {
		return v, fmt.Errorf("signing in is answered with HTTP status %d: %.300s", w.Code, w.Body)
	}
	if v.base == "/admin" {
		v.base = "/admin/stores/stored-1"
	}
	var err error
	v.key, _, err = a.Access.Create(ctx, of, access.NewKey{Name: "bench"})
	return v, err
}

func (v visitor) page(ctx context.Context, path string) *http.Request {
	req := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:1"+v.base+path, http.NoBody)
	req.Header.Set("Cookie", v.cookie)
	return req
}

func (v visitor) operation(ctx context.Context, path string) *http.Request {
	req := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:1"+path, http.NoBody)
	req.Header.Set("X-API-Key", v.key)
	return req
}

// ask sends requests to the handler, without a network, and returns how long the answers took
// and how many bytes the largest has.
func (v visitor) ask(runs int, request func(n int) *http.Request) (p50, p99 time.Duration, bytes int, err error) {
	n := 0
	taken := make([]time.Duration, 0, runs)
	for range runs + 5 { // the first ones fill caches
		req, w := request(n), httptest.NewRecorder()
		elapsed := stopwatch()
		v.handler.ServeHTTP(w, req)
		if n++; n > 5 {
			taken = append(taken, elapsed())
		}
		if w.Code != http.StatusOK {
			return 0, 0, 0, fmt.Errorf("%s: HTTP status %d: %.2000s", req.URL, w.Code, w.Body)
		}
		bytes = max(bytes, w.Body.Len())
	}
	slices.Sort(taken)
	return taken[len(taken)/2], taken[len(taken)*99/100], bytes, nil
}
