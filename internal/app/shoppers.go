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

// shoppers builds the portal's interface for both lines, as the platform reaches it. The path names
// the line, and each has an app of its own, as an app has one path at a store's domain.
func (a *App) shoppers(frame web.Frame) http.Handler {
	settings := a.options.Settings
	var seen sync.Map
	limits := a.shopperLimits()
	line := func(l shop.Line, secret string) http.Handler {
		return a.shopperLine(l, frame, limits, seenProxy{login.ProxyAuthenticator{Proxy: shopify.Proxy{Secret: secret}, Shops: a.Store.Shops(), Clock: a.options.Clock}, a.Store, &seen})
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

// ownShoppers serves the portal's interface on the service's own address, beside another handler.
func (a *App) ownShoppers(frame web.Frame, secure bool, otherwise http.Handler) http.Handler {
	limits, sessions := a.shopperLimits(), shopper.Sessions{Login: a.Login, Secure: secure}
	lines := map[shop.Line]http.Handler{}
	for _, l := range []shop.Line{shop.Subscriptions, shop.Memberships} {
		lines[l] = a.shopperLine(l, frame, limits, sessions)
	}
	return shopper.Own(func(l shop.Line) http.Handler { return lines[l] }, otherwise)
}

func (a *App) shopperLimits() web.Limiter {
	return &web.Buckets{Rate: web.Rate{PerSecond: a.options.Settings.RatePerSecond, Burst: a.options.Settings.RateBurst}}
}

// shopperLine returns the interface of one line for shoppers who are authenticated in one way.
func (a *App) shopperLine(l shop.Line, frame web.Frame, limits web.Limiter, who web.Shoppers) http.Handler {
	return a.built(func() http.Handler {
		return shopper.New(shopper.Options{
			Line: l, Frame: frame, Gate: web.Gate{Shoppers: who, Limits: limits, Answers: a.Store.Answers(), Clock: a.options.Clock},
			Portal: a.Portal, Prices: a.Edits, Links: a.Login, Points: a.Loyalty, Book: a.Store, Sold: a.Store, OneOffBook: a.Store, Mails: a.Store, Retention: a.Retention,
			Cancelling: a.Cancelling, Consents: a.Consents,
		})
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
