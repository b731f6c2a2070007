package pages

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/home"
	"github.com/perennialhq/perennial/internal/web/portal/orders"
	"github.com/perennialhq/perennial/internal/web/portal/portaltest"
	"github.com/perennialhq/perennial/internal/web/portal/subscription"
)

// storeOf is a store's domain whose app proxy leads to a portal. Maya is signed in. What the app
// answers as Liquid it shows within a theme, whose styles and scripts are its own.
func storeOf(t *testing.T, s *portaltest.Site) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/apps/") && !strings.HasPrefix(r.URL.Path, "/pictures/") {
			http.NotFound(w, r)
			return
		}
		query := portaltest.Signed(s.Clock.Now(), s.First.Domain, portaltest.Maya, r.URL.Query())
		req, err := http.NewRequestWithContext(r.Context(), r.Method, s.Store.URL+r.URL.EscapedPath()+"?"+query.Encode(), r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		for name, values := range r.Header {
			if name != "Cookie" {
				req.Header[name] = values
			}
		}
		req.Header.Set("X-Forwarded-Host", r.Host)
		answer, err := http.DefaultClient.Do(req) // follows redirects, as the platform does
		if err != nil {
			t.Error(err)
			return
		}
		defer answer.Body.Close()
		for name, values := range answer.Header {
			if name != "Set-Cookie" && name != "Content-Length" {
				w.Header()[name] = values
			}
		}
		if !strings.HasPrefix(answer.Header.Get("Content-Type"), "application/liquid") {
			w.WriteHeader(answer.StatusCode)
			_, _ = io.Copy(w, answer.Body)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Del("Content-Security-Policy")
		fmt.Fprint(w, `<!doctype html><html lang="en"><head><title>Store</title><meta name="viewport" content="width=device-width, initial-scale=1"><style>body{margin:0;font-family:sans-serif;color:#111;background:#fff}.site{padding:1rem;background:#222}.site a{color:#fff}</style></head><body><header class="site"><a href="/">A theme</a></header><main>`)
		_, _ = io.Copy(w, answer.Body)
		fmt.Fprint(w, `</main></body></html>`)
	}))
	t.Cleanup(server.Close)
	return server
}

// plain opens a portal with one subscription.
func plain(t *testing.T) *portaltest.Site {
	t.Helper()
	s := portaltest.Open(t, func(s *portaltest.Site) []portal.Room {
		return []portal.Room{
			home.New(home.Options{Homes: s.Overview}), subscription.New(subscription.Options{Sheets: s.Overview, Changes: s.Portal}), orders.New(orders.Options{Orders: s.Overview, Changes: s.Portal}),
		}
	})
	c := portaltest.Subscription(1)
	c.Lines[0].Image, c.Lines[1].Image = "/pictures/coffee", "/pictures/tea"
	list := portaltest.Orders(1, 8)
	list[5].Status, list[5].Amount = billing.Skipped, portaltest.USD(2450)
	s.Put(s.First, []contract.Contract{c}, list...)
	return s
}

// At the store's domain the screens are pages of their own or parts of the theme, with scripts and
// without.
func TestPortalAtStoreIsPageOrPartOfTheme(t *testing.T) {
	t.Parallel()
	s, browser := plain(t), browsertest.Start(t)
	at := storeOf(t, s).URL + portaltest.Proxied
	v := &visit{t: t, tab: browser.Tab(t), of: "portal at store"}
	v.open("home", at, http.StatusOK)
	v.says("Hello, Maya")
	v.says("Your next order")
	if errors := browsertest.Eval[string](v.tab, "[...document.images].filter(i => !i.complete || !i.naturalWidth).map(i => i.src).join()"); errors != "" {
		t.Errorf("pictures are missing: %s", errors)
	}

	s.Look.Design.InTheme = true
	v.tab.Open(at + "/s/1")
	v.tab.Until(`document.querySelector("#title") !== null`)
	v.look("subscription in theme", http.StatusOK, http.StatusOK)
	v.says("House Blend Coffee and Earl Grey Loose Leaf")
	style := `getComputedStyle(document.querySelector(".site")).backgroundColor + getComputedStyle(document.body).fontFamily`
	if got := browsertest.Eval[string](v.tab, style); got != "rgb(34, 34, 34)sans-serif" {
		t.Errorf("the part has changed the theme: %s", got)
	}
	v.asks("a[data-ask]")
	v.audit("dialog in theme", part{"", v.tab})
	v.says("You won’t be charged $24.50.")

	bare := &visit{t: t, tab: browser.Tab(t), of: "portal at store without scripts"}
	bare.tab.Scripts(false)
	bare.tab.Open(at)
	if status := bare.tab.Click("noscript a"); status != http.StatusOK {
		t.Errorf("the page of its own answers %d", status)
	}
	bare.says("Hello, Maya")
	if status := bare.tab.Click(".sub a"); status != http.StatusOK {
		t.Errorf("the subscription answers %d", status)
	}
	bare.says("Upcoming orders")
}
