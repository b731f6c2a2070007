package storefront_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
	"github.com/perennialhq/perennial/internal/sandbox/storefront"
	"github.com/perennialhq/perennial/internal/web"
)

var start = time.Date(2026, time.November, 1, 12, 0, 0, 0, time.UTC)

// received is a request that the app received.
type received struct {
	method, path string
	query        url.Values
	header       http.Header
	body         string
}

// scene is a storefront, an app behind it, and a shopper's browser.
type scene struct {
	t       *testing.T
	url     string
	browser *http.Client
	app     []received
	sim     *simulator.Simulator
	settled int
}

func open(t *testing.T) *scene {
	t.Helper()
	s := &scene{t: t}
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.app = append(s.app, received{r.Method, r.URL.Path, r.URL.Query(), r.Header, string(text)})
		http.SetCookie(w, &http.Cookie{Name: "app", Value: "secret"})
		w.Header().Set("X-From", "app")
		w.WriteHeader(http.StatusTeapot)
		io.WriteString(w, "from the app")
	}))
	t.Cleanup(backend.Close)
	manual := clock.NewManual(start)
	var err error
	if s.sim, err = simulator.New(simulator.Options{Clock: manual}); err != nil {
		t.Fatal(err)
	}
	token := func(domain string) platform.Token { return platform.Token(domain) }
	if _, err := demo.Build(s.sim, demo.Options{Seed: 1, Contracts: 3, Now: start, Token: token}); err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(web.Frame{Log: slog.New(slog.DiscardHandler)}.Around((&storefront.Store{
		Shop: demo.Main, Name: "Demo", AppSecret: "hush", Subscriptions: backend.URL, Memberships: backend.URL + "/members",
		Platform: s.sim, Clock: manual, Settled: func(context.Context) error { s.settled++; return nil },
	}).Handler()))
	t.Cleanup(front.Close)
	s.url = front.URL
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	// A transport of its own: the end of any test server closes the idle connections of the default one.
	s.browser = &http.Client{Transport: &http.Transport{}, Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return s
}

// do sends a request and returns the answer and its body.
func (s *scene) do(method, path, body string, header ...string) (*http.Response, string) {
	s.t.Helper()
	req, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := s.browser.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res, string(text)
}

func (s *scene) login() {
	s.t.Helper()
	if res, text := s.do("POST", "/account/login?customer_id=7001", ""); res.StatusCode != http.StatusOK || !strings.Contains(text, `{"customerId":7001}`) {
		s.t.Fatalf("login: %d %s", res.StatusCode, text)
	}
}

func TestAppReceivesSignedInCustomer(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.do("GET", "/apps/subscriptions/cp/api/past-orders?size=2", "")
	s.login()
	s.do("GET", "/apps/subscriptions/cp/api/past-orders?size=2", "")
	s.do("POST", "/account/logout", "")
	s.do("GET", "/apps/subscriptions/cp/api/past-orders?size=2", "")
	for i, want := range []string{"", "7001", ""} {
		got := s.app[i]
		if id, present := got.query["logged_in_customer_id"]; !present || len(id) != 1 || id[0] != want {
			t.Errorf("request %d says %q is signed in, want %q", i, id, want)
		}
		if got.path != "/apps/subscriptions/cp/api/past-orders" || got.query.Get("size") != "2" {
			t.Errorf("request %d is for %s?%s", i, got.path, got.query.Encode())
		}
		if got.query.Get("shop") != demo.Main || got.query.Get("path_prefix") != "/apps/subscriptions" || got.query.Get("timestamp") != "1793534400" {
			t.Errorf("request %d carries %v", i, got.query)
		}
		if got.query.Get("signature") != storefront.Sign("hush", got.query) {
			t.Errorf("request %d is not signed", i)
		}
	}
}

func TestProxyPassesAllButCookies(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.login()
	res, text := s.do("PUT", "/apps/memberships/cp/api/x", `{"a":1}`, "Content-Type", "application/json", "Cookie", "other=1")
	if res.StatusCode != http.StatusTeapot || text != "from the app" || res.Header.Get("X-From") != "app" {
		t.Errorf("the app's answer arrived as %d %q %v", res.StatusCode, text, res.Header)
	}
	if res.Header.Get("Set-Cookie") != "" {
		t.Error("the app has set a cookie")
	}
	got := s.app[0]
	if got.method != "PUT" || got.path != "/members/apps/memberships/cp/api/x" || got.body != `{"a":1}` || got.header.Get("Content-Type") != "application/json" {
		t.Errorf("the app received %+v", got)
	}
	if got.header.Get("Cookie") != "" {
		t.Errorf("the app saw cookies: %s", got.header.Get("Cookie"))
	}
	if got.header.Get("X-Forwarded-Host") == "" {
		t.Error("the app does not hear the store's host")
	}
}

func TestSignInByQueryIsRefused(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.do("GET", "/apps/subscriptions/x?logged_in_customer_id=7002&signature=abc", "")
	got := s.app[0].query
	if ids := got["logged_in_customer_id"]; len(ids) != 2 || ids[1] != "" {
		t.Errorf("the app must be able to see both values, and sees %q", ids)
	}
	if len(got["signature"]) != 1 || got.Get("signature") != storefront.Sign("hush", got) {
		t.Errorf("the signature is %q", got["signature"])
	}
}

func TestForgedSessionIsRefused(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.do("GET", "/apps/subscriptions/x", "", "Cookie", "storefront_session=7001.00000000000000000000000000000000")
	if id := s.app[0].query.Get("logged_in_customer_id"); id != "" {
		t.Errorf("%s is signed in", id)
	}
}

func TestInvalidStorefrontRequests(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, row := range []struct {
		name, method, path, body string
		status                   int
	}{
		{"a sign-in without a customer", "POST", "/account/login", "", 400},
		{"a sign-in with a name", "POST", "/account/login?customer_id=ada", "", 400},
		{"a graph id is not a customer's number", "POST", "/account/login?customer_id=gid://shopify/Customer/7001", "", 400},
		{"a change of the sign-in", "PUT", "/account/login?customer_id=7001", "", 405},
		{"an app that the store does not have", "GET", "/apps/loyalty/x", "", 404},
		{"a page that the store does not have", "GET", "/basket", "", 404},
		{"a product that the store does not have", "GET", "/products/gold", "", 404},
		{"a picture of a product that the store does not have", "GET", "/pictures/gold.svg", "", 404},
		{"a file that the theme does not have", "GET", "/assets/gold.css", "", 404},
		{"a cart with an unknown variant", "POST", "/cart/add?id=1", "", 400},
		{"a cart with a plan on which it is not sold", "POST", "/cart/add?id=4001&selling_plan=1", "", 400},
		{"a cart with a member's card without a plan", "POST", "/cart/add?id=4026", "", 400},
		{"a cart with too many", "POST", "/cart/add?id=4001&quantity=100", "", 400},
		{"a change of a line that the cart does not have", "POST", "/cart/change?line=1&quantity=1", "", 400},
		{"thanks for an order of another shopper", "GET", "/thanks?order=5001&seal=feed", "", 404},
		{"a checkout of nothing", "POST", "/checkout", "", 400},
		{"a checkout of an unknown variant", "POST", "/checkout?variant=1&plan=6003&email=a@b.example", "", 400},
		{"a checkout on an unknown plan", "POST", "/checkout?variant=4001&plan=1&email=a@b.example", "", 400},
		{"a checkout of too many", "POST", "/checkout?variant=4001&plan=6003&quantity=100&email=a@b.example", "", 400},
		{"a checkout without an e-mail address", "POST", "/checkout?variant=4001&plan=6003", "", 400},
	} {
		t.Run(row.name, func(t *testing.T) {
			res, text := s.do(row.method, row.path, row.body)
			var problem struct{ Status int }
			if err := json.Unmarshal([]byte(text), &problem); err != nil || res.StatusCode != row.status || problem.Status != row.status {
				t.Errorf("got %d %s", res.StatusCode, text)
			}
		})
	}
	if len(s.app) != 0 || s.settled != 0 {
		t.Errorf("the app received %v", s.app)
	}
}

func TestCheckout(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.login()
	form := url.Values{"variant": {"4001"}, "plan": {"6003"}, "quantity": {"2"}}.Encode()
	res, text := s.do("POST", "/checkout", form, "Content-Type", "application/x-www-form-urlencoded")
	var made simulator.Made
	if err := json.Unmarshal([]byte(text), &made); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", res.StatusCode, text)
	}
	c, err := s.sim.Contract(made.Contract)
	if err != nil {
		t.Fatal(err)
	}
	if c.Customer.ID != 7001 || c.Billing.Interval != "MONTH" || len(c.Lines) != 1 || c.Lines[0].Quantity != 2 || c.Lines[0].CurrentPrice != "14.40" {
		t.Errorf("the contract is %+v", c)
	}
	if want := time.Date(2026, time.December, 1, 14, 0, 0, 0, time.UTC); c.NextBillingDate == nil || !c.NextBillingDate.Equal(want) {
		t.Errorf("it renews at %v, want %s", c.NextBillingDate, want)
	}
	if s.settled != 1 {
		t.Error("the answer did not wait for the service to hear of it")
	}
	res, _ = s.do("POST", "/checkout", form, "Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html")
	if res.StatusCode != http.StatusSeeOther || !strings.HasPrefix(res.Header.Get("Location"), "/thanks?") {
		t.Fatalf("a browser is answered %d %s", res.StatusCode, res.Header.Get("Location"))
	}
	if _, text = s.do("GET", res.Header.Get("Location"), ""); !strings.Contains(text, "<strong>$28.80</strong>") || !strings.Contains(text, "Your subscription has the number") {
		t.Errorf("the page of thanks says\n%s", text)
	}
}

func TestStorefrontListsProducts(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.sellOnPlans()
	res, text := s.do("GET", "/", "")
	if res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
		t.Fatalf("%d %s", res.StatusCode, res.Header.Get("Content-Type"))
	}
	for _, want := range []string{"House Blend Coffee", `href="/products/roasters-choice-box"`, "from $16.00", "from $13.60 on a plan", "Sign in", `src="/pictures/daily-multivitamin.svg"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(text, "https://") {
		t.Error("the page loads something from elsewhere")
	}
}

func TestFirstPageOfApp(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, path := range []string{"/apps/subscriptions", "/apps/subscriptions/", "/apps/memberships/"} {
		if res, _ := s.do("GET", path, ""); res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "/" {
			t.Errorf("%s, signed out: answered %d to %q, want the page on which to sign in", path, res.StatusCode, res.Header.Get("Location"))
		}
	}
	if len(s.app) != 0 {
		t.Errorf("the app got %d requests without a customer", len(s.app))
	}
	if res, _ := s.do("GET", "/apps/loyalty/", ""); res.StatusCode != http.StatusNotFound {
		t.Errorf("an app that the store does not have answered %d", res.StatusCode)
	}
	s.login()
	for _, path := range []string{"/apps/subscriptions", "/apps/subscriptions/"} {
		if res, text := s.do("GET", path, ""); res.StatusCode != http.StatusTeapot {
			t.Errorf("%s, signed in: answered %d %s", path, res.StatusCode, text)
		}
	}
}
