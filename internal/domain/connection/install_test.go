package connection_test

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/connection"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/simulator"
)

func (w *world) id(n *node) shop.ID {
	w.Helper()
	id, err := n.Store.IDOf(w.Context(), domain)
	if err != nil {
		w.Fatal(err)
	}
	return id
}

func TestInstallationOnTheConsentPage(t *testing.T) {
	t.Parallel()
	onEach(t, simulator.TokenRules{}, func(w *world) {
		n := w.node(-1)
		page, cookie, err := n.Begin(connection.Primary, "Some-Shop.myshopify.com/")
		if err != nil || !strings.HasPrefix(page, "http://platform/store/some-shop.myshopify.com/admin/oauth/authorize?") {
			w.Fatalf("%s, %v", page, err)
		}
		got, err := n.Finish(w.Context(), connection.Primary, w.consent(page), cookie)
		if err != nil || got != domain {
			w.Fatalf("%s, %v", got, err)
		}
		list, err := n.Connections(w.Context(), w.id(n))
		if err != nil || len(list) != 1 || len(list[0].Missing()) != 0 || list[0].Refresh == "" || !list[0].GrantedAt.Equal(w.clock.Now()) {
			w.Fatalf("%+v, %v", list, err)
		}
		e, err := n.Enter(w.Context(), connection.Primary, w.session())
		if err != nil || e.Ask || e.Shop != domain || e.User != "42" {
			w.Errorf("%+v, %v", e, err)
		}
		if w.asked.Load() != 1 {
			w.Errorf("a store that is installed was granted again")
		}
		w.works("installed")
	})
}

func TestForgedEndOfAnInstallationIsRefused(t *testing.T) {
	t.Parallel()
	onEach(t, simulator.TokenRules{}, func(w *world) {
		const other = "other.myshopify.com"
		if err := w.sim.AddShop(simulator.ShopSpec{Domain: other, Token: "shpat_other"}); err != nil {
			w.Fatal(err)
		}
		n := w.node(-1)
		begin := func() (url.Values, string) {
			page, cookie, err := n.Begin(connection.Primary, domain)
			if err != nil {
				w.Fatal(err)
			}
			return w.consent(page), cookie
		}
		query, cookie := begin()
		strangers, _ := begin()
		otherPage, otherCookie, err := n.Begin(connection.Primary, other)
		if err != nil {
			w.Fatal(err)
		}
		u, _ := url.Parse(otherPage)
		back, err := w.sim.Consent(other, u.Query())
		if err != nil {
			w.Fatal(err)
		}
		o, _ := url.Parse(back)
		for name, tt := range map[string]struct {
			query  url.Values
			cookie string
			code   string
		}{
			"no cookie":                            {query, "", "stateInvalid"},
			"cookie of another browser":            {strangers, cookie, "stateInvalid"},
			"cookie of another shop":               {query, otherCookie, "stateInvalid"},
			"another shop's callback":              {o.Query(), cookie, "stateInvalid"},
			"cookie with a later expiry":           {query, strings.Replace(cookie, ".1", ".2", 1), "stateInvalid"},
			"cookie that was cut":                  {query, cookie[:len(cookie)-1], "stateInvalid"},
			"cookie without a signature":           {query, query.Get("state"), "stateInvalid"},
			"cookie with the state and no more":    {query, query.Get("state") + ".9999999999.", "stateInvalid"},
			"query that the platform did not sign": {url.Values{"shop": {domain}, "code": {"c"}, "state": query["state"]}, cookie, "signatureInvalid"},
		} {
			_, err := n.Finish(w.Context(), connection.Primary, tt.query, tt.cookie)
			var f *fault.Error
			if !errors.As(err, &f) || f.Kind != fault.Unauthenticated || f.ErrorKey != tt.code {
				w.Errorf("%s: %v", name, err)
			}
		}
		if w.asked.Load() != 0 {
			w.Error("the platform was asked")
		}
		if _, err := n.Finish(w.Context(), connection.Primary, query, cookie); err != nil {
			w.Fatal(err)
		}
		for _, node := range []*node{n, w.node(-1)} {
			if _, err := node.Finish(w.Context(), connection.Primary, query, cookie); !fault.Is(err, fault.Unauthenticated) || !strings.Contains(err.Error(), "finished already") {
				w.Errorf("replayed state: %v", err)
			}
		}
		w.clock.Set(w.clock.Now().Add(connection.StateLife + time.Second))
		if _, err := n.Finish(w.Context(), connection.Primary, strangers, cookie); !fault.Is(err, fault.Unauthenticated) {
			w.Errorf("late: %v", err)
		}
		w.works("installed once")
	})
}

func TestScopesThatGrewAreAskedForOnce(t *testing.T) {
	t.Parallel()
	onEach(t, simulator.TokenRules{}, func(w *world) {
		n := w.node(-1)
		few := []string{"write_own_subscription_contracts", "read_customers", "read_customer_payment_methods", "write_products", "write_orders"}
		if err := w.sim.SetScopes(domain, few); err != nil {
			w.Fatal(err)
		}
		e, err := n.Enter(w.Context(), connection.Primary, w.session())
		if err != nil || !e.Ask {
			w.Fatalf("%+v, %v", e, err)
		}
		missing := names(e.Connection.Missing())
		if !slices.Contains(missing, "write_shipping") || slices.Contains(missing, "read_products") {
			w.Errorf("missing %v", missing)
		}
		id := w.id(n)
		if err := n.Require(w.Context(), id, platform.FeatureDelivery); !fault.Is(err, fault.FailedPrecondition) || !strings.Contains(err.Error(), "write_shipping") {
			w.Errorf("delivery: %v", err)
		}
		if err := n.Require(w.Context(), id, platform.FeatureProducts); err != nil {
			w.Errorf("products: %v", err)
		}
		page, cookie, err := n.Begin(connection.Primary, domain)
		if err != nil {
			w.Fatal(err)
		}
		query := w.consent(page)
		if _, err := n.Finish(w.Context(), connection.Primary, query, cookie); err != nil {
			w.Fatal(err)
		}
		if e, err = n.Enter(w.Context(), connection.Primary, w.session()); err != nil || e.Ask || len(e.Connection.Missing()) > 0 {
			w.Errorf("after the consent: %+v, %v", e, err)
		}
	})
}

func TestScopesThatThePlatformWithholdsAreAskedForOnce(t *testing.T) {
	t.Parallel()
	onEach(t, simulator.TokenRules{}, func(w *world) {
		app := w.sim.App()
		app.Withheld = []string{"write_discounts"}
		w.sim.SetApp(app)
		n := w.node(-1)
		if err := w.sim.SetScopes(domain, []string{"read_products"}); err != nil {
			w.Fatal(err)
		}
		if e, err := n.Enter(w.Context(), connection.Primary, w.session()); err != nil || !e.Ask {
			w.Fatalf("%+v, %v", e, err)
		}
		page, cookie, err := n.Begin(connection.Primary, domain)
		if err != nil {
			w.Fatal(err)
		}
		if _, err := n.Finish(w.Context(), connection.Primary, w.consent(page), cookie); err != nil {
			w.Fatal(err)
		}
		e, err := n.Enter(w.Context(), connection.Primary, w.session())
		if err != nil || e.Ask || !slices.Equal(names(e.Connection.Missing()), app.Withheld) {
			w.Errorf("%+v, %v", e, err)
		}
	})
}

func TestScopesThatWereTakenBackAreAskedForAgain(t *testing.T) {
	t.Parallel()
	onEach(t, simulator.TokenRules{}, func(w *world) {
		n := w.node(-1)
		page, cookie, err := n.Begin(connection.Primary, domain)
		if err != nil {
			w.Fatal(err)
		}
		if _, err := n.Finish(w.Context(), connection.Primary, w.consent(page), cookie); err != nil {
			w.Fatal(err)
		}
		if err := w.sim.SetScopes(domain, []string{"write_orders"}); err != nil {
			w.Fatal(err)
		}
		w.clock.Set(w.clock.Now().Add(2 * time.Hour)) // the next refresh shows it
		if _, err := w.call(n); err != nil {
			w.Fatal(err)
		}
		if e, err := n.Enter(w.Context(), connection.Primary, w.session()); err != nil || !e.Ask {
			w.Errorf("%+v, %v", e, err)
		}
	})
}

func TestBadDomainsAndUnknownAppsAreRefused(t *testing.T) {
	t.Parallel()
	onEach(t, simulator.TokenRules{}, func(w *world) {
		n := w.node(-1)
		for _, name := range []string{"", "evil.example", "some-shop.myshopify.com.evil.example", "https://some-shop.myshopify.com", "some-shop.myshopify.com@evil.example", "//evil.example"} {
			if page, _, err := n.Begin(connection.Primary, name); !fault.Is(err, fault.Invalid) {
				w.Errorf("%q: %s, %v", name, page, err)
			}
		}
		if _, _, err := n.Begin("another", domain); !fault.Is(err, fault.NotFound) {
			w.Errorf("an unknown app: %v", err)
		}
		if _, err := n.Enter(w.Context(), connection.Primary, "a.b.c"); !fault.Is(err, fault.Unauthenticated) {
			w.Errorf("a bad session token: %v", err)
		}
	})
}

func TestPlatformThatFailsDuringAGrant(t *testing.T) {
	t.Parallel()
	onEach(t, simulator.TokenRules{}, func(w *world) {
		n := w.node(-1)
		status := 503
		n.failing(func() int { return status })
		if _, err := n.Enter(w.Context(), connection.Primary, w.session()); !fault.Is(err, fault.Unavailable) {
			w.Errorf("got %v", err)
		}
		status = 0
		if _, err := n.Enter(w.Context(), connection.Primary, w.session()); err != nil {
			w.Errorf("at once afterwards: %v", err)
		}
		w.works("afterwards")
	})
}
