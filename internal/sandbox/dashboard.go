package sandbox

import (
	_ "embed"
	"html/template"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
	"github.com/perennialhq/perennial/internal/sandbox/storefront"
	"github.com/perennialhq/perennial/internal/web"
)

//go:embed dashboard.html
var dashboardPage string

// shown is what the page links to.
type shown struct {
	URLs
	Shop string
}

// dashboard stands where the merchant's dashboard will be, and says so.
func (s *Sandbox) dashboard() http.Handler {
	page := template.Must(template.New("dashboard").Parse(dashboardPage))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		if err := page.Execute(w, shown{s.urls, demo.Main}); err != nil {
			web.WriteError(w, r, fault.Because(fault.Internal, err, "the page could not be shown"))
		}
	})
	return web.Frame{Log: s.log}.Around(web.Routes(mux))
}

// storefront plays the demo store's domain.
func (s *Sandbox) storefront() http.Handler {
	store, _ := demo.StoreByDomain(demo.Main)
	front := &storefront.Store{
		Shop: store.Domain, Name: store.Name, AppSecret: s.secrets.AppSecret, Subscriptions: s.urls.Subscriptions, Memberships: s.urls.Memberships,
		Platform: s.sim, Clock: s.clock, Settled: s.steps.Settle,
	}
	return web.Frame{Log: s.log}.Around(front.Handler())
}

// link is something that the sandbox has.
type link struct {
	Rel  string `json:"rel"`
	Href string `json:"href"`
}

// contents lists what the control interface can be asked to read.
func (s *Sandbox) contents(*http.Request) ([]link, error) {
	var list []link
	for _, path := range []string{"/clock", "/platform/orders", "/platform/variants", "/platform/contracts/9001", "/platform/cycles?contractId=9001", "/platform/faults", "/mail"} {
		list = append(list, link{"item", s.urls.Control + path})
	}
	return list, nil
}
