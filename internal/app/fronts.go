package app

import (
	"net/url"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// front is what browsers are shown at the root of a line's host. The host of
// subscriptions also serves partners and, without a host of their own, operators.
func front(l shop.Line, partners, ops bool) web.Front {
	title, about := "Perennial subscriptions", "The interfaces for a store's subscriptions. Programs call them; these pages describe them."
	if l == shop.Memberships {
		title, about = "Perennial memberships", "The interfaces for a store's memberships. Programs call them; these pages describe them."
	}
	documents := []web.FrontLink{
		{Name: "Admin interface", Href: "/docs", About: "Contracts, orders, plans, customers and webhooks of a store, for holders of its API keys."},
		{Name: "Loyalty interface", Href: "/loyalty/docs", About: "Members, points and rewards."},
		{Name: "Portal interface", Href: "/portal/docs", About: "What a signed-in shopper can ask and change, behind the store's app proxy."},
	}
	machines := []web.FrontLink{
		{Name: "Admin interface", Href: "/openapi.json"}, {Name: "Loyalty interface", Href: "/loyalty/openapi.json"}, {Name: "Portal interface", Href: "/portal/openapi.json"},
	}
	if partners {
		documents = append(documents, web.FrontLink{Name: "Partner interface", Href: "/api/partner/docs", About: "How applications of partners connect with a store."})
		machines = append(machines, web.FrontLink{Name: "Partner interface", Href: "/api/partner/openapi.json"})
	}
	f := web.Front{Title: title, About: about, Sections: []web.FrontSection{{Title: "Reference", Links: documents}, {Title: "OpenAPI documents", Links: machines}}}
	if ops {
		f.Sections = append(f.Sections, opsSection())
	}
	return f
}

// opsFront is what browsers are shown at the root of the operators' own host.
func opsFront() web.Front {
	return web.Front{Title: "Perennial operations", About: "What operators and their probes ask of this node.", Sections: []web.FrontSection{opsSection()}}
}

func opsSection() web.FrontSection {
	return web.FrontSection{Title: "Operations", Links: []web.FrontLink{
		{Name: "Health", Href: "/healthz", About: "Whether the process lives."},
		{Name: "Readiness", Href: "/readyz", About: "Whether it can serve requests."},
		{Name: "Metrics", Href: "/metrics", About: "For Prometheus."},
	}}
}

// ancestors returns the origins of a store's admin. Where the platform is simulated it has
// one address for all stores.
func ancestors(platformURL string) func(domain string) []string {
	return func(domain string) []string {
		at, err := url.Parse(strings.ReplaceAll(platformURL, "{shop}", domain))
		if err == nil && at.Host != "" && at.Hostname() != domain {
			return []string{at.Scheme + "://" + at.Host}
		}
		return []string{"https://" + domain, "https://admin.shopify.com"}
	}
}
