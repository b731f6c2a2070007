package accounts_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/accounts"
	"github.com/perennialhq/perennial/internal/platform/simulator"
)

// place is the simulated platform with two stores, and a browser at it.
type place struct {
	*testing.T

	sim     *simulator.Simulator
	server  *httptest.Server
	clock   *clock.Manual
	client  *accounts.Client
	browser *http.Client
	maya    int64
}

const (
	back   = "https://subs.example/p/first/signin/account/return"
	out    = "https://subs.example/p/first/signin"
	origin = "https://subs.example"
)

func newPlace(t *testing.T, secret string) *place {
	t.Helper()
	p := &place{T: t, clock: clock.NewManual(now)}
	var err error
	if p.sim, err = simulator.New(simulator.Options{Clock: p.clock}); err != nil {
		t.Fatal(err)
	}
	for _, domain := range []string{store, "second.myshopify.com"} {
		if err := p.sim.AddShop(simulator.ShopSpec{Domain: domain, Token: "shpat_" + domain, FirstCustomer: 7001}); err != nil {
			t.Fatal(err)
		}
		err := p.sim.SetAccountClient(domain, simulator.AccountClient{ID: clientID, Secret: secret, Redirects: []string{back}, SignOuts: []string{out}, Origins: []string{origin}})
		if err != nil {
			t.Fatal(err)
		}
	}
	made, err := p.sim.AddProduct(simulator.ProductSpec{Shop: store, Title: "Tea", Variants: []simulator.VariantSpec{{Title: "Tin", Price: "7.92"}}})
	if err != nil {
		t.Fatal(err)
	}
	bought, err := p.sim.Checkout(simulator.ContractSpec{
		Shop: store, Customer: simulator.CustomerSpec{Email: "maya@shopper.example", FirstName: "Maya"}, NextBillingDate: now.AddDate(0, 1, 0),
		Billing: simulator.PolicySpec{Interval: "MONTH", IntervalCount: 1}, Lines: []simulator.LineSpec{{VariantID: made[0].ID, Quantity: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	p.maya = bought.Customer
	p.server = httptest.NewServer(p.sim.Site())
	t.Cleanup(p.server.Close)
	p.client = accounts.New(accounts.Options{BaseURL: p.server.URL + "/store/{shop}", Clock: p.clock})
	p.browser = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return p
}

func (p *place) of(secret string) platform.AccountClient {
	return platform.AccountClient{Shop: store, ID: clientID, Secret: platform.Token(secret)}
}

// code signs Maya in at the platform, and returns the code with which the browser comes back.
func (p *place) code(secret string, r platform.AccountRequest) string {
	p.Helper()
	to, err := p.client.SignInURL(p.Context(), p.of(secret), r)
	if err != nil {
		p.Fatal(err)
	}
	at, err := url.Parse(to)
	if err != nil {
		p.Fatal(err)
	}
	form := at.Query()
	form.Set("customer", "7001")
	answer, err := p.browser.PostForm(to, form)
	if err != nil {
		p.Fatal(err)
	}
	defer answer.Body.Close()
	home, err := url.Parse(answer.Header.Get("Location"))
	if err != nil || !strings.HasPrefix(home.String(), back+"?") || home.Query().Get("state") != r.State {
		text, _ := io.ReadAll(answer.Body)
		p.Fatalf("the browser is sent to %q: %s", home, text)
	}
	return home.Query().Get("code")
}

func TestCustomerOfSimulatedPlatformIsKnown(t *testing.T) {
	t.Parallel()
	for name, secret := range map[string]string{"public client": "", "confidential client": "s%cret/+"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, secret)
			code := p.code(secret, request)
			got, err := p.client.Account(t.Context(), p.of(secret), request, code)
			if err != nil || got.Customer != p.maya || got.IDToken == "" {
				t.Fatalf("got %d, %v", got.Customer, err)
			}
			if _, err := p.client.Account(t.Context(), p.of(secret), request, code); !isRefused(err, platform.CodeInvalidGrant) {
				t.Errorf("the code used again: %v", err)
			}
			p.signsOut(got.IDToken)
		})
	}
}

// signsOut signs out with an ID token, which leads back.
func (p *place) signsOut(token platform.Token) {
	p.Helper()
	for name, row := range map[string]struct {
		token  platform.Token
		back   string
		status int
	}{
		"as it should": {token, out, http.StatusFound}, "to another address": {token, "https://evil.example/", http.StatusBadRequest}, "with another token": {"a.b.c", out, http.StatusBadRequest},
	} {
		to, err := p.client.SignOutURL(p.Context(), p.of(""), row.token, row.back)
		if err != nil {
			p.Fatal(err)
		}
		answer, err := p.browser.Get(to)
		if err != nil {
			p.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != row.status || row.status == http.StatusFound && answer.Header.Get("Location") != out {
			p.Errorf("signing out %s: %d to %q", name, answer.StatusCode, answer.Header.Get("Location"))
		}
	}
}

func isRefused(err error, code string) bool {
	refused, ok := errors.AsType[*platform.Refusal](err)
	return ok && refused.Code == code
}

func TestSimulatedPlatformChecksWhatClientsSend(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "")
	for name, row := range map[string]struct {
		change func(*platform.AccountRequest)
		after  time.Duration
	}{
		"another verifier":         {func(r *platform.AccountRequest) { r.Verifier = strings.Repeat("w", 43) }, 0},
		"a short verifier":         {func(r *platform.AccountRequest) { r.Verifier = "v" }, 0},
		"another redirect address": {func(r *platform.AccountRequest) { r.Redirect = origin + "/other" }, 0},
		"a late code":              {func(*platform.AccountRequest) {}, 5 * time.Minute},
		"another origin":           {func(r *platform.AccountRequest) { r.Redirect = "https://evil.example/" }, 0},
	} {
		p.clock.Set(now)
		r := request
		code := p.code("", request)
		row.change(&r)
		p.clock.Set(now.Add(row.after))
		if _, err := p.client.Account(t.Context(), p.of(""), r, code); !isRefused(err, platform.CodeInvalidGrant) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p.clock.Set(now)
	other := p.of("")
	other.Shop = "second.myshopify.com"
	if _, err := p.client.Account(t.Context(), other, request, p.code("", request)); !isRefused(err, platform.CodeInvalidGrant) {
		t.Errorf("a code of another store: %v", err)
	}
	other = p.of("")
	other.ID = "shp_2"
	if _, err := p.client.Account(t.Context(), other, request, p.code("", request)); !isRefused(err, platform.CodeInvalidClient) {
		t.Errorf("another client: %v", err)
	}
	to, err := p.client.SignInURL(t.Context(), p.of(""), request)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"client_id": "shp_2", "redirect_uri": "https://evil.example/", "response_type": "token", "scope": "email", "code_challenge_method": "plain", "code_challenge": "", "state": "", "nonce": ""} {
		at, _ := url.Parse(to)
		q := at.Query()
		q.Set(name, value)
		at.RawQuery = q.Encode()
		answer, err := p.browser.Get(at.String())
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusBadRequest {
			t.Errorf("%s %q: %d", name, value, answer.StatusCode)
		}
	}
	if _, err := newPlace(t, "hush").client.Account(t.Context(), p.of("wrong"), request, "c0de"); !isRefused(err, platform.CodeInvalidClient) {
		t.Errorf("a wrong secret: %v", err)
	}
	if err := p.sim.AddShop(simulator.ShopSpec{Domain: "third.myshopify.com", Token: "shpat_3"}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.client.SignInURL(t.Context(), platform.AccountClient{Shop: "third.myshopify.com", ID: clientID}, request); !errors.Is(err, platform.ErrUnknown) {
		t.Errorf("a store without customer accounts: %v", err)
	}
}
