package install_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"context"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/connection"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/oauth"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/install"
)

const (
	domain = "some-shop.myshopify.com"
	client = "5a5f0c1f4b8e4a1d8f3e2b1c0d9e8f70"
)

// world is the pages, with a platform and a browser.
type world struct {
	*testing.T
	sim     *simulator.Simulator
	clock   *clock.Manual
	url     string
	browser *http.Client
}

type registrar struct{ db *store.DB }

func (r registrar) Register(ctx context.Context, at platform.Shop) (shop.Shop, error) {
	s := shop.Shop{Domain: at.Domain, Token: at.Token, TimeZone: "UTC", Currency: "EUR", Connected: true}
	return s, r.db.Shops().AddShop(ctx, &s)
}

func begin(t *testing.T, home string) *world {
	t.Helper()
	w := &world{T: t, clock: clock.NewManual(time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC))}
	sim, err := simulator.New(simulator.Options{Clock: w.clock, AppSecret: "hush"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sim.Close() })
	w.sim = sim
	atPlatform := httptest.NewServer(sim.Handler())
	t.Cleanup(atPlatform.Close)
	var pages http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { pages.ServeHTTP(rw, r) }))
	t.Cleanup(server.Close)
	w.url = server.URL
	db := storetest.SQLite(t)
	service := &connection.Service{
		Store: db.PlatformConnections(), Registrar: registrar{db}, Clock: w.clock, Log: slog.New(slog.DiscardHandler), PublicURL: w.url,
		Apps: map[connection.AppName]platform.Authorizer{
			connection.Primary: oauth.New(oauth.Options{ClientID: client, Secret: "hush", BaseURL: atPlatform.URL + "/store/{shop}", Clock: w.clock}),
		},
		StateKeys: map[connection.AppName][]byte{connection.Primary: []byte("hush")},
	}
	pages, err = install.New(install.Options{
		Frame: web.Frame{Log: slog.New(slog.DiscardHandler)}, Service: service, ClientIDs: map[connection.AppName]string{connection.Primary: client}, Bridge: "https://cdn.example/bridge.js",
		Ancestors: func(d string) []string { return []string{"https://" + d, "https://admin.shopify.com"} }, Home: home,
	})
	if err != nil {
		t.Fatal(err)
	}
	sim.SetApp(simulator.AppSettings{ClientID: client, URL: w.url + "/auth/entry", Redirects: []string{w.url + "/auth/callback"}})
	if err := sim.AddShop(simulator.ShopSpec{Domain: domain, Token: "shpat_fixed"}); err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	w.browser = &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return w
}

// get asks for a page and returns its body.
func (w *world) get(address string) (*http.Response, string) {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		w.Fatal(err)
	}
	res, err := w.browser.Do(r)
	if err != nil {
		w.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		w.Fatal(err)
	}
	return res, string(body)
}

// consent starts an installation, agrees to it, and returns where the browser is sent.
func (w *world) consent() string {
	w.Helper()
	res, _ := w.get(w.url + "/auth?shop=" + domain)
	page, err := url.Parse(res.Header.Get("Location"))
	if err != nil || res.StatusCode != http.StatusFound || page.Path != "/store/"+domain+"/admin/oauth/authorize" {
		w.Fatalf("%d to %s, %v", res.StatusCode, page, err)
	}
	back, err := w.sim.Consent(domain, page.Query())
	if err != nil {
		w.Fatal(err)
	}
	return back
}

func TestMerchantInstallsTheApp(t *testing.T) {
	t.Parallel()
	w := begin(t, "")
	back := w.consent()
	res, _ := w.get(back)
	if to := res.Header.Get("Location"); res.StatusCode != http.StatusFound || !strings.HasSuffix(to, "/store/"+domain+"/admin/apps/"+client) {
		t.Fatalf("%d to %s", res.StatusCode, to)
	}
	res, page := w.get(w.url + "/auth/entry?embedded=1&shop=" + domain)
	policy := res.Header.Get("Content-Security-Policy")
	if res.StatusCode != http.StatusOK || !strings.Contains(page, `data-address="/auth/entry"`) || !strings.Contains(page, `<script src="https://cdn.example/bridge.js">`) ||
		!strings.Contains(policy, "frame-ancestors https://"+domain+" https://admin.shopify.com;") || !strings.Contains(policy, "script-src 'self' https://cdn.example;") {
		t.Errorf("%d %s\n%s", res.StatusCode, policy, page)
	}
	token, err := w.sim.SessionToken(domain, 42)
	if err != nil {
		t.Fatal(err)
	}
	if res, page := w.get(w.url + "/auth/entry?embedded=1&shop=" + domain + "&id_token=" + token); res.StatusCode != http.StatusOK || !strings.Contains(page, domain+" is connected") {
		t.Errorf("%d\n%s", res.StatusCode, page)
	}
	if res, page := w.get(back); res.StatusCode != http.StatusUnauthorized || !strings.Contains(page, "not started in this browser") {
		t.Errorf("the callback again: %d\n%s", res.StatusCode, page)
	}
}

func TestMerchantIsSentToTheDashboard(t *testing.T) {
	t.Parallel()
	w := begin(t, "/dashboard")
	if err := w.sim.SetScopes(domain, platform.ScopeNames(platform.Scopes())); err != nil {
		t.Fatal(err)
	}
	token, err := w.sim.SessionToken(domain, 42)
	if err != nil {
		t.Fatal(err)
	}
	res, _ := w.get(w.url + "/auth/entry?embedded=1&hmac=x&shop=" + domain + "&id_token=" + token)
	if to := res.Header.Get("Location"); res.StatusCode != http.StatusFound || to != "/dashboard?embedded=1&id_token="+token+"&shop="+domain {
		t.Errorf("%d to %s", res.StatusCode, to)
	}
}

func TestMissingScopesAreAskedForOutsideTheFrame(t *testing.T) {
	t.Parallel()
	w := begin(t, "/dashboard")
	token, err := w.sim.SessionToken(domain, 42)
	if err != nil {
		t.Fatal(err)
	}
	res, page := w.get(w.url + "/auth/entry?embedded=1&shop=" + domain + "&id_token=" + token)
	if res.StatusCode != http.StatusOK || !strings.Contains(page, `href="/auth?shop=`+domain+`" target="_top"`) || !strings.Contains(page, "Create selling plans") {
		t.Errorf("%d\n%s", res.StatusCode, page)
	}
}

func TestRequestDoesNotDecideWhereABrowserGoes(t *testing.T) {
	t.Parallel()
	w := begin(t, "")
	back, err := url.Parse(w.consent())
	if err != nil {
		t.Fatal(err)
	}
	for _, extra := range []string{"&host=ZXZpbC5leGFtcGxl", "&return_to=https%3A%2F%2Fevil.example", "&redirect_uri=https%3A%2F%2Fevil.example", "&next=//evil.example"} {
		if res, _ := w.get(back.String() + extra); res.StatusCode != http.StatusUnauthorized || res.Header.Get("Location") != "" {
			t.Errorf("%s: %d to %s", extra, res.StatusCode, res.Header.Get("Location"))
		}
		for _, path := range []string{"/auth?shop=evil.example", "/auth?shop=//evil.example", "/auth?shop=" + domain + "%2F@evil.example", "/auth/entry?embedded=1&shop=evil.example"} {
			if res, _ := w.get(w.url + path + extra); res.StatusCode != http.StatusBadRequest || res.Header.Get("Location") != "" {
				t.Errorf("%s: %d to %s", path+extra, res.StatusCode, res.Header.Get("Location"))
			}
		}
		for _, path := range []string{"/auth/entry?shop=" + domain, "/auth/entry?shop=https://evil.example", "/auth/entry?"} {
			res, _ := w.get(w.url + path + extra)
			to, err := url.Parse(res.Header.Get("Location"))
			if err != nil || res.StatusCode != http.StatusFound || to.Host != "" || to.Path != "/auth" {
				t.Errorf("%s: %d to %s, %v", path+extra, res.StatusCode, to, err)
			}
		}
	}
}

func TestBadRequestsOfTheInstallation(t *testing.T) {
	t.Parallel()
	w := begin(t, "")
	for path, status := range map[string]int{
		"/auth": 200, "/auth/callback": 401, "/auth/callback?a=%zz;": 401, "/auth/callback/another": 404, "/auth/entry/another?embedded=1&shop=" + domain: 200, "/auth/entry/another?id_token=a.b.c": 404,
		"/auth/entry?id_token=a.b.c": 401, "/auth/entry?id_token=" + strings.Repeat("x", 9000): 401, "/auth?shop=" + strings.Repeat("x", 300): 400, "/auth/no": 404, "/auth//callback": 404,
		"/auth?app=another&shop=" + domain: 404,
	} {
		res, page := w.get(w.url + path)
		if res.StatusCode != status || res.Header.Get("Content-Security-Policy") == "" || !strings.Contains(page, "<h1>") {
			t.Errorf("%.60s: %d, want %d\n%s", path, res.StatusCode, status, page)
		}
	}
	if _, page := w.get(w.url + `/auth?shop="><script>alert(1)</script>`); strings.Contains(page, "<script") {
		t.Errorf("a script of the request is in the page:\n%s", page)
	}
}

func TestCookieOfTheInstallation(t *testing.T) {
	t.Parallel()
	w := begin(t, "")
	res, _ := w.get(w.url + "/auth?shop=" + domain)
	cookies := res.Cookies()
	if len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteLaxMode || cookies[0].Path != "/" || cookies[0].MaxAge != 900 {
		t.Errorf("%+v", cookies)
	}
}
