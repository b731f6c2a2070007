package telemetry_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/tracing"
)

const (
	domain    = "demo.myshopify.com"
	token     = "shpat_demo"
	appSecret = "the-secret-of-the-app"
	email     = "ana@shopper.example"
	name      = "Anastasia"
)

// service is an assembled service with a store that has a contract.
type service struct {
	*testing.T
	*app.App
	key string // of the store
}

func begin(t *testing.T, tracer tracing.Tracer) service {
	t.Helper()
	sim, err := simulator.New(simulator.Options{Clock: clock.System{}})
	must(t, err)
	must(t, sim.AddShop(simulator.ShopSpec{Domain: domain, Token: token}))
	sold, err := sim.AddProduct(simulator.ProductSpec{Title: "Tea", Variants: []simulator.VariantSpec{{Title: "Green", Price: "5.00"}}})
	must(t, err)
	_, err = sim.Checkout(simulator.ContractSpec{
		Customer: simulator.CustomerSpec{Email: email, FirstName: name}, NextBillingDate: clock.System{}.Now().AddDate(0, 0, 9),
		Billing: simulator.PolicySpec{Interval: "MONTH", IntervalCount: 1}, Lines: []simulator.LineSpec{{VariantID: sold[0].ID, Quantity: 1, CurrentPrice: "5.00"}},
	})
	must(t, err)
	there := httptest.NewServer(sim.Handler())
	t.Cleanup(func() {
		there.Close()
		must(t, sim.Close())
	})
	a, err := app.New(t.Context(), app.Options{
		Settings: settings(t, there.URL), Clock: clock.System{}, Log: slog.New(slog.DiscardHandler), Kind: app.Production, Migrate: true, Relaxed: true, Tracer: tracer, Version: "v0.0.0-test",
	})
	must(t, err)
	t.Cleanup(func() { must(t, a.Close()) })
	connected, err := a.Intake.Connect(t.Context(), platform.Shop{Domain: domain, Token: token}, 9, 0, shop.Settings{})
	must(t, err)
	key, _, err := a.Access.Create(t.Context(), connected.ID, access.NewKey{Name: "test"})
	must(t, err)
	return service{t, a, key}
}

func settings(t *testing.T, platform string) config.Server {
	return config.Server{
		Database: config.Database{Data: config.Data{Database: filepath.Join(t.TempDir(), "data.db")}, SecretKey: "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="},
		Platform: config.Platform{PlatformURL: platform, APIVersion: "2026-10", AppSecret: appSecret, CallTimeout: 5 * time.Second},
		Listen:   "127.0.0.1:0", Web: true, Work: true, Workers: 2, SweepEvery: time.Hour, DrainTimeout: 20 * time.Second, ReconcileEvery: time.Hour, RatePerSecond: 100, RateBurst: 100,
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// webhook delivers an event of the platform.
func (s service) webhook(topic, body string) {
	s.Helper()
	r := httptest.NewRequestWithContext(s.Context(), http.MethodPost, "/webhooks", strings.NewReader(body))
	for name, value := range map[string]string{
		"X-Shopify-Topic": topic, "X-Shopify-Shop-Domain": domain, "X-Shopify-Webhook-Id": "w", "X-Shopify-Event-Id": "e",
		"X-Shopify-Api-Version": "2026-10", "X-Shopify-Hmac-Sha256": simulator.Sign(appSecret, []byte(body)),
	} {
		r.Header.Set(name, value)
	}
	if got := s.do(r); got.Code != http.StatusOK {
		s.Fatalf("the webhook is answered %d: %s", got.Code, got.Body)
	}
}

// get asks the admin interface.
func (s service) get(path string) *httptest.ResponseRecorder {
	s.Helper()
	r := httptest.NewRequestWithContext(s.Context(), http.MethodGet, path, nil)
	r.Header.Set("X-Api-Key", s.key)
	return s.do(r)
}

func (s service) do(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.Subscriptions.ServeHTTP(w, r)
	return w
}

// work works the tasks until none waits.
func (s service) work() {
	s.Helper()
	must(s.T, s.Start(s.Context()))
	deadline := time.After(time.Minute)
	for {
		idle, err := s.Store.Idle(s.Context())
		must(s.T, err)
		if idle {
			break
		}
		select {
		case <-deadline:
			s.Fatal("tasks still wait")
		case <-time.After(5 * time.Millisecond):
		}
	}
	must(s.T, s.Stop(s.Context()))
}
