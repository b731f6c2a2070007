package app

import (
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/admin"
	"github.com/perennialhq/perennial/internal/web/inbound"
)

// route builds the handlers of every audience.
func (a *App) route() error {
	metrics := prometheus.NewRegistry()
	for _, c := range []prometheus.Collector{
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), newGauges(a),
	} {
		if err := metrics.Register(c); err != nil {
			return err
		}
	}
	a.Ops = web.Ops(promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}), web.Check{Name: "database", Do: a.Store.Ping})
	frame := web.Frame{Log: a.options.Log}
	gate := web.Gate{
		Keys: a.Access, Limits: &web.Buckets{Rate: web.Rate{PerSecond: a.options.Settings.RatePerSecond, Burst: a.options.Settings.RateBurst}},
		Answers: a.Store.Answers(), Clock: a.options.Clock,
	}
	line := func(l shop.Line) http.Handler {
		return admin.New(admin.Options{
			Line: l, Frame: frame, Gate: gate, Trail: a.Store, Search: a.Store, Book: a.Store, Billing: a.Billing,
		})
	}
	a.Memberships = line(shop.Memberships)
	subscriptions := line(shop.Subscriptions)
	if host := a.options.Settings.MembershipsHost; host != "" {
		subscriptions = byHost(host, a.Memberships, subscriptions)
	}
	ops := a.Ops
	if a.options.Settings.OpsListen != "" {
		ops = subscriptions
	}
	a.Subscriptions = byPath(inbound.New(a.Intake, frame), ops, subscriptions)
	return nil
}

// byPath sends webhooks and probes to their handlers and all else to the
// interface, whose own words answer what nobody knows.
func byPath(webhooks, ops, otherwise http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case path == "/webhooks" || strings.HasPrefix(path, "/webhooks/"):
			webhooks.ServeHTTP(w, r)
		case path == "/healthz" || path == "/readyz" || path == "/metrics":
			ops.ServeHTTP(w, r)
		default:
			otherwise.ServeHTTP(w, r)
		}
	})
}

// byHost answers requests for one host name with one handler and all others with
// another.
func byHost(name string, there, elsewhere http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := strings.Cut(r.Host, ":")
		if strings.EqualFold(host, name) {
			there.ServeHTTP(w, r)
			return
		}
		elsewhere.ServeHTTP(w, r)
	})
}
