package sandbox

import (
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/platform/schema"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
	"github.com/perennialhq/perennial/internal/sandbox/storefront"
	"github.com/perennialhq/perennial/internal/web"
)

// frame is what requests to the sandbox's own pages pass.
func (s *Sandbox) frame() web.Frame { return web.Frame{Log: s.log} }

// dashboardFront is a page at the root of the dashboard's port that says what the sandbox has.
func (s *Sandbox) dashboardFront() http.Handler {
	page := web.Front{
		Title: "Perennial sandbox",
		About: "What the sandbox has, for " + demo.Main + ":",
		Sections: []web.FrontSection{
			{Title: "Store", Links: []web.FrontLink{
				{Name: "Dashboard", Href: staff.Path, About: "For the merchant. Sign in as " + dashboardUser + "; the sandbox prints the password."},
				{Name: "Storefront", Href: s.urls.Storefront, About: "Sign in as customer 7001, or subscribe to a product."},
			}},
			{Title: "Interfaces", Links: []web.FrontLink{
				{Name: "Subscriptions", Href: s.urls.Subscriptions + "/docs", About: "Reference of every operation."},
				{Name: "Memberships", Href: s.urls.Memberships + "/docs", About: "The same operations for the other line of business."},
				{Name: "Loyalty", Href: s.urls.Subscriptions + "/loyalty/docs", About: "Members, points and rewards."},
				{Name: "Portal", Href: s.urls.Subscriptions + "/portal/docs", About: "What a signed-in shopper can ask and change."},
				{Name: "Partners", Href: s.urls.Subscriptions + "/api/partner/docs", About: "How applications connect with a store."},
				{Name: "OpenAPI document", Href: s.urls.Subscriptions + "/openapi.json", About: "The admin interface, for programs."},
			}},
			{Title: "Behind the scenes", Links: []web.FrontLink{
				{Name: "Control", Href: s.urls.Control, About: "Move time, change the platform, read the mails.", Command: "curl -X POST " + s.urls.Control + `/clock -d '{"advance":"P1M"}'`},
				{Name: "Simulated platform", Href: s.urls.Platform, About: "The GraphQL API that the service calls."},
				{Name: "Metrics", Href: s.urls.Subscriptions + "/metrics", About: "As an operator sees them."},
				{Name: "Health", Href: s.urls.Subscriptions + "/healthz"},
			}},
		},
	}
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", page)
	return s.frame().Around(web.Routes(mux))
}

// platform serves the simulated platform.
func (s *Sandbox) platform() http.Handler {
	page := web.Front{
		Title: "Simulated platform",
		About: "The commerce platform of the sandbox, as programs call it. Its GraphQL API is of version " + schema.Version + "; the access token is in the file sandbox.json as platformToken.",
		Sections: []web.FrontSection{
			{Title: "Admin", Links: []web.FrontLink{
				{Name: "Stores", Href: "/store", About: "Install the app, open it, take back permissions, uninstall it."},
			}},
			{Title: "GraphQL", Links: []web.FrontLink{{
				Name:    "Admin API",
				About:   "Ask for the store's name:",
				Command: "curl -X POST " + s.urls.Platform + "/admin/api/" + schema.Version + `/graphql.json -H "X-Shopify-Access-Token: $TOKEN" -H "Content-Type: application/json" -d '{"query":"{ shop { name } }"}'`,
			}}},
			{Title: "What it has recorded", Links: []web.FrontLink{
				{Name: "Orders", Href: s.urls.Control + "/platform/orders"}, {Name: "Variants", Href: s.urls.Control + "/platform/variants"},
				{Name: "Contract 9001", Href: s.urls.Control + "/platform/contracts/9001"},
			}},
		},
	}
	return web.AtRoot(s.frame().Around(page), s.sim.Site())
}

// controlFront is what browsers are shown at the root of the control interface.
func (s *Sandbox) controlFront() web.Front {
	post := func(path, body string) string {
		command := "curl -X POST " + s.urls.Control + path
		if body != "" {
			command += " -d '" + body + "'"
		}
		return command
	}
	return web.Front{
		Title: "Sandbox control",
		About: "Moves the sandbox's time, changes the simulated platform, and shows what happened. Programs call it with JSON.",
		Sections: []web.FrontSection{
			{Title: "Time", Links: []web.FrontLink{
				{Name: "Clock", Href: "/clock", About: "Move it by a month:", Command: post("/clock", `{"advance":"P1M"}`)},
				{Name: "Scenarios", Href: "/scenarios", About: "A new customer, and what becomes of the subscription:", Command: post("/scenarios/dunning-recovery", "")},
			}},
			{Title: "Read", Links: []web.FrontLink{
				{Name: "Messages", Href: "/inbox", About: "Every e-mail that the service has sent, as its reader sees it. Programs read /mail."},
				{Name: "Orders", Href: "/platform/orders"}, {Name: "Variants", Href: "/platform/variants"},
				{Name: "Contract 9001", Href: "/platform/contracts/9001"}, {Name: "Billing cycles of contract 9001", Href: "/platform/cycles?contractId=9001"},
				{Name: "Faults", Href: "/platform/faults"}, {Name: "Stuck work", Href: "/stuck"},
			}},
			{Title: "Change", Links: []web.FrontLink{
				{Name: "Decline the next charge of a contract", Command: post("/platform/outcomes", `{"contractId":9001,"code":"INSUFFICIENT_FUNDS"}`)},
				{Name: "Take a snapshot", Command: post("/snapshot", "")},
				{Name: "Begin again", Command: post("/reset", "")},
			}},
		},
	}
}

// storefront plays the demo store's domain.
func (s *Sandbox) storefront() http.Handler {
	store, _ := demo.StoreByDomain(demo.Main)
	front := &storefront.Store{
		Shop: store.Domain, Name: store.Name, AppSecret: s.secrets.AppSecret, Subscriptions: s.urls.Subscriptions, Memberships: s.urls.Memberships,
		Dashboard: s.urls.Dashboard + "/admin", Platform: s.sim, Clock: s.clock, Settled: s.steps.Settle,
	}
	if s.options.MembershipsApp {
		front.MembershipsSecret = s.secrets.MembershipsAppSecret
		front.HasMemberships = func() bool { return s.sim.HasApp(store.Domain, membershipsClientID) }
	}
	return s.frame().Around(front.Handler())
}

// link is something that the sandbox has.
type link struct {
	Rel  string `json:"rel"`
	Href string `json:"href"`
}

// contents lists what the control interface can be asked to read.
func (s *Sandbox) contents(*http.Request) ([]link, error) {
	var list []link
	for _, path := range []string{"/clock", "/scenarios", "/platform/orders", "/platform/variants", "/platform/contracts/9001", "/platform/cycles?contractId=9001", "/platform/faults", "/mail"} {
		list = append(list, link{"item", s.urls.Control + path})
	}
	return list, nil
}
