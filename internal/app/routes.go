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
	gate := web.Gate{Keys: a.Access, Limits: &web.Buckets{Rate: web.Rate{PerSecond: a.options.Settings.RatePerSecond, Burst: a.options.Settings.RateBurst}}}
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
	mux := http.NewServeMux()
	webhooks := inbound.New(a.Intake, frame)
	mux.Handle("/webhooks", webhooks)
	mux.Handle("/webhooks/", webhooks)
	if a.options.Settings.OpsListen == "" {
		for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
			mux.Handle(path, a.Ops)
		}
	}
	mux.Handle("/", subscriptions)
	a.Subscriptions = mux
	return nil
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
