package app

import (
	"cmp"
	"net/http"
	"strings"
	"sync"

	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform/shopify"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/shopper"
)

// shoppers builds the portal's interface for both lines. The path names the line, and
// the platform reaches each through an app of its own, as an app has one path at a
// store's domain.
func (a *App) shoppers(frame web.Frame) http.Handler {
	settings := a.options.Settings
	limits := &web.Buckets{Rate: web.Rate{PerSecond: settings.RatePerSecond, Burst: settings.RateBurst}}
	var seen sync.Map
	line := func(l shop.Line, secret string) http.Handler {
		door := seenProxy{login.ProxyAuthenticator{Proxy: shopify.Proxy{Secret: secret}, Shops: a.Store.Shops(), Clock: a.options.Clock}, a.Store, &seen}
		return shopper.New(shopper.Options{
			Line: l, Frame: frame, Gate: web.Gate{Shoppers: door, Limits: limits, Clock: a.options.Clock},
			Orders: a.Command, Contracts: a.Edits, Book: a.Store, Sold: a.Store, OneOffBook: a.Store, Retention: a.Retention,
		})
	}
	subscriptions := line(shop.Subscriptions, string(settings.AppSecret))
	memberships := line(shop.Memberships, cmp.Or(string(settings.MembershipsAppSecret), string(settings.AppSecret)))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case strings.HasPrefix(path, shopper.Base(shop.Memberships)+"/"):
			memberships.ServeHTTP(w, r)
		default:
			subscriptions.ServeHTTP(w, r)
		}
	})
}

// withShoppers answers the portal's interface and its documents, and leaves all other
// paths to another handler.
func withShoppers(shoppers, otherwise http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := strings.TrimSuffix(r.URL.Path, "/"); {
		case strings.HasPrefix(path, shopper.Path), web.Describes(shopper.Docs, path):
			shoppers.ServeHTTP(w, r)
		default:
			otherwise.ServeHTTP(w, r)
		}
	})
}
