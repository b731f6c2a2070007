package login_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform/shopify/accounts"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/store"
)

const accountClient = "shp_1"

// atPlatform is the customer accounts of the first store, at the simulated platform.
type atPlatform struct {
	*door

	sim     *simulator.Simulator
	server  *httptest.Server
	store   shop.Shop
	browser string // the secret of a browser's cookie
}

func withAccounts(t *testing.T) *atPlatform {
	t.Helper()
	a := &atPlatform{door: begin(t)}
	var err error
	if a.sim, err = simulator.New(simulator.Options{Clock: a.at}); err != nil {
		t.Fatal(err)
	}
	a.store = shop.Shop{ID: a.of, Domain: "demo.myshopify.com"}
	if err := a.sim.AddShop(simulator.ShopSpec{Domain: a.store.Domain, Token: "shpat_1", FirstCustomer: 2}); err != nil {
		t.Fatal(err)
	}
	at := "https://subs.example/p/demo"
	if err := a.sim.SetAccountClient(a.store.Domain, simulator.AccountClient{
		ID: accountClient, Redirects: []string{at + login.AccountReturnPath}, SignOuts: []string{at + login.AccountSignOutPath}, Origins: []string{"https://subs.example"},
	}); err != nil {
		t.Fatal(err)
	}
	made, err := a.sim.AddProduct(simulator.ProductSpec{Title: "Tea", Variants: []simulator.VariantSpec{{Title: "Tin", Price: "7.92"}}})
	if err != nil {
		t.Fatal(err)
	}
	bought, err := a.sim.Checkout(simulator.ContractSpec{
		Customer: simulator.CustomerSpec{Email: bob}, NextBillingDate: noon.AddDate(0, 1, 0), Billing: simulator.PolicySpec{Interval: "MONTH", IntervalCount: 1},
		Lines: []simulator.LineSpec{{VariantID: made[0].ID, Quantity: 1}},
	})
	if err != nil || bought.Customer != 2 {
		t.Fatalf("customer %d, %v", bought.Customer, err)
	}
	a.server = httptest.NewServer(a.sim.Site())
	t.Cleanup(a.server.Close)
	a.Accounts = accounts.New(accounts.Options{BaseURL: a.server.URL + "/store/{shop}", Clock: a.at})
	a.setClient(accountClient)
	return a
}

// setClient sets the store's client of customer accounts.
func (a *atPlatform) setClient(id string) {
	a.Helper()
	err := a.db.Update(a.Context(), a.of, func(tx *store.Tx) error {
		s, err := tx.PortalSettings(a.Context())
		if err != nil {
			return err
		}
		s.AccountClient = id
		return tx.PutPortalSettings(a.Context(), &s)
	})
	if err != nil {
		a.Fatal(err)
	}
}

// beginAccount begins a sign-in of the browser, and returns where it goes.
func (a *atPlatform) beginAccount() string {
	a.Helper()
	to, kept, err := a.BeginAccount(a.Context(), a.store, a.browser, "192.0.2.1")
	if err != nil {
		a.Fatal(err)
	}
	a.browser = kept
	return to
}

// pick signs a customer in at the platform, and returns how the browser comes back.
func (a *atPlatform) pick(to string, customer int) login.AccountReturn {
	a.Helper()
	at, err := url.Parse(to)
	if err != nil {
		a.Fatal(err)
	}
	form := at.Query()
	form.Set("customer", strconv.Itoa(customer))
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.PostForm(to, form)
	if err != nil {
		a.Fatal(err)
	}
	answer.Body.Close()
	back, err := url.Parse(answer.Header.Get("Location"))
	if err != nil || !strings.HasPrefix(back.String(), "https://subs.example/p/demo/signin/account/return?") {
		a.Fatalf("%d: the browser is sent to %q", answer.StatusCode, back)
	}
	return login.AccountReturn{State: back.Query().Get("state"), Code: back.Query().Get("code"), Problem: back.Query().Get("error"), Browser: a.browser}
}

func TestAccountSignsInAsALinkDoes(t *testing.T) {
	t.Parallel()
	a := withAccounts(t)
	value, err := a.FinishAccount(t.Context(), a.store, a.pick(a.beginAccount(), 2))
	if err != nil {
		t.Fatal(err)
	}
	who, err := a.Authenticate(t.Context(), a.of, value, login.ByLink)
	if err != nil || who != (login.Principal{Shop: a.of, Customer: 2, Via: login.ByAccount}) {
		t.Errorf("signed in as %+v, %v", who, err)
	}
	if _, err := a.Authenticate(t.Context(), a.second, value, login.ByLink); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("in another store: %v", err)
	}
	if _, err := a.Authenticate(t.Context(), a.of, value, login.ByToken); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("as a token: %v", err)
	}
	for range 3 { // each use is within twelve hours of the one before
		a.at.Set(a.at.Now().Add(11 * time.Hour))
		if _, err := a.Authenticate(t.Context(), a.of, value, login.ByLink); err != nil {
			t.Fatalf("after %s: %v", a.at.Now(), err)
		}
	}
	a.at.Set(a.at.Now().Add(12 * time.Hour))
	if _, err := a.Authenticate(t.Context(), a.of, value, login.ByLink); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("after twelve hours without use: %v", err)
	}
}

func TestSigningOutOffersThePlatforms(t *testing.T) {
	t.Parallel()
	a := withAccounts(t)
	session := func() string {
		value, err := a.FinishAccount(t.Context(), a.store, a.pick(a.beginAccount(), 2))
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	value := session()
	to, err := a.SignOut(t.Context(), a.store, value)
	if err != nil || !strings.Contains(to, "/logout?id_token_hint=") || !strings.Contains(to, "post_logout_redirect_uri=https%3A%2F%2Fsubs.example%2Fp%2Fdemo%2Fsignin") {
		t.Errorf("signing out leads to %q, %v", to, err)
	}
	if _, err := a.Authenticate(t.Context(), a.of, value, login.ByLink); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("after that: %v", err)
	}
	value = session()
	a.at.Set(a.at.Now().Add(time.Hour)) // where it is has to be asked again
	a.server.Close()
	if to, err := a.SignOut(t.Context(), a.store, value); err != nil || to != "" {
		t.Errorf("while the platform is down: %q, %v", to, err)
	}
	if _, err := a.Authenticate(t.Context(), a.of, value, login.ByLink); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("and then: %v", err)
	}
}

// Whatever is wrong with a browser that comes back, no session is opened.
func TestReturnMustBeThatOfTheBrowserThatBegan(t *testing.T) {
	t.Parallel()
	a := withAccounts(t)
	other := strings.Repeat("A", 43)
	used := a.pick(a.beginAccount(), 2)
	if _, err := a.FinishAccount(t.Context(), a.store, used); err != nil {
		t.Fatal(err)
	}
	good := a.pick(a.beginAccount(), 2)
	for _, row := range []struct {
		name string
		with func(login.AccountReturn) login.AccountReturn
		in   shop.Shop
		at   time.Duration
		key  string
	}{
		{name: "no state", with: func(r login.AccountReturn) login.AccountReturn { r.State = ""; return r }, key: "accountUnknown"},
		{name: "a state of no sign-in", with: func(r login.AccountReturn) login.AccountReturn { r.State = other; return r }, key: "accountUnknown"},
		{name: "another store", in: shop.Shop{ID: a.second, Domain: "other.myshopify.com"}, key: "accountUnknown"},
		{name: "another browser", with: func(r login.AccountReturn) login.AccountReturn { r.Browser = other; return r }, key: "accountBrowser"},
		{name: "a browser without the cookie", with: func(r login.AccountReturn) login.AccountReturn { r.Browser = ""; return r }, key: "accountBrowser"},
		{name: "used", with: func(login.AccountReturn) login.AccountReturn { return used }, key: "accountUsed"},
		{name: "late", at: login.AccountLife, key: "accountExpired"},
	} {
		in, back := row.in, good
		if in.ID == 0 {
			in = a.store
		}
		if row.with != nil {
			back = row.with(good)
		}
		a.at.Set(noon.Add(row.at))
		value, err := a.FinishAccount(t.Context(), in, back)
		if value != "" {
			t.Errorf("%s: a session was opened", row.name)
		}
		a.wantKey(err, row.key)
	}
	a.at.Set(noon)
	if _, err := a.FinishAccount(t.Context(), a.store, good); err != nil {
		t.Errorf("the browser that began: %v", err)
	}
}

// A sign-in that has failed at the platform is used up.
func TestAccountSignInEndsWithItsFailure(t *testing.T) {
	t.Parallel()
	a := withAccounts(t)
	for _, row := range []struct {
		name string
		with func(login.AccountReturn) login.AccountReturn
		key  string
	}{
		{"cancelled", func(r login.AccountReturn) login.AccountReturn { r.Code, r.Problem = "", "access_denied"; return r }, "accountCancelled"},
		{"refused", func(r login.AccountReturn) login.AccountReturn { r.Code, r.Problem = "", "server_error"; return r }, "accountRefused"},
		{"without a code", func(r login.AccountReturn) login.AccountReturn { r.Code = ""; return r }, "accountRefused"},
		{"with a code that was not issued", func(r login.AccountReturn) login.AccountReturn { r.Code = "other"; return r }, "accountRefused"},
	} {
		back := a.pick(a.beginAccount(), 2)
		if _, err := a.FinishAccount(t.Context(), a.store, row.with(back)); err == nil {
			t.Errorf("%s: signed in", row.name)
		} else {
			a.wantKey(err, row.key)
		}
		_, err := a.FinishAccount(t.Context(), a.store, back)
		a.wantKey(err, "accountUsed")
	}
	// The code belongs to the sign-in of another browser, whose verifier it needs.
	theirs := a.pick(a.beginAccount(), 2)
	mine := a.pick(a.beginAccount(), 2)
	mine.Code = theirs.Code
	_, err := a.FinishAccount(t.Context(), a.store, mine)
	a.wantKey(err, "accountRefused")

	back := a.pick(a.beginAccount(), 2)
	a.setClient("shp_2")
	_, err = a.FinishAccount(t.Context(), a.store, back)
	a.wantKey(err, "accountSetting")
	a.setClient("")
	_, _, err = a.BeginAccount(t.Context(), a.store, "", "192.0.2.1")
	a.wantKey(err, "accountOff")
	a.setClient(accountClient)
	back = a.pick(a.beginAccount(), 2)
	a.server.Close()
	_, err = a.FinishAccount(t.Context(), a.store, back)
	a.wantKey(err, "accountUnavailable")
	a.at.Set(noon.Add(time.Hour))
	_, _, err = a.BeginAccount(t.Context(), a.store, "", "192.0.2.1")
	a.wantKey(err, "accountUnavailable")
}

func TestForgedTokenOpensNoSession(t *testing.T) {
	t.Parallel()
	a := withAccounts(t)
	genuine := a.server.Config.Handler
	a.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/oauth/token") {
			genuine.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		genuine.ServeHTTP(answer, r)
		w.Header().Set("Content-Type", "application/json")
		head, rest, _ := strings.Cut(answer.Body.String(), `"id_token":"`)
		token, tail, _ := strings.Cut(rest, `"`)
		body, _, _ := strings.Cut(strings.TrimPrefix(token, token[:strings.Index(token, ".")+1]), ".")
		_, _ = w.Write([]byte(head + `"id_token":"eyJhbGciOiJub25lIn0.` + body + `."` + tail))
	})
	value, err := a.FinishAccount(t.Context(), a.store, a.pick(a.beginAccount(), 2))
	if value != "" || !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("signed in: %t, %v", value != "", err)
	}
	a.wantKey(err, "accountForged")
}

func TestOneClientBeginsSixtySignInsAnHour(t *testing.T) {
	t.Parallel()
	a := withAccounts(t)
	for range 60 {
		a.beginAccount()
	}
	if _, _, err := a.BeginAccount(t.Context(), a.store, a.browser, "192.0.2.1"); !fault.Is(err, fault.RateLimited) {
		t.Errorf("the next one: %v", err)
	}
	if _, _, err := a.BeginAccount(t.Context(), a.store, "", "192.0.2.2"); err != nil {
		t.Errorf("another client: %v", err)
	}
}

// The database holds nothing with which a sign-in could be finished, or a customer signed out.
func TestDatabaseHoldsNoSecretOfSignIns(t *testing.T) {
	t.Parallel()
	a := withAccounts(t)
	to := a.beginAccount()
	at, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	secrets := []string{a.browser, at.Query().Get("state"), at.Query().Get("nonce")}
	back := a.pick(a.beginAccount(), 2)
	value, err := a.FinishAccount(t.Context(), a.store, back)
	if err != nil {
		t.Fatal(err)
	}
	out, err := a.SignOut(t.Context(), a.store, value)
	if err != nil {
		t.Fatal(err)
	}
	hint, err := url.Parse(out)
	if err != nil {
		t.Fatal(err)
	}
	secrets = append(secrets, back.State, back.Code, value, hint.Query().Get("id_token_hint"))
	looked := 0
	for _, file := range []string{a.file, a.file + "-wal"} {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		looked += len(raw)
		for _, secret := range secrets {
			if len(secret) < 20 || strings.Contains(string(raw), secret) {
				t.Errorf("%s has %q", file, secret)
			}
		}
	}
	if looked < 1<<16 {
		t.Errorf("%d bytes were looked through", looked)
	}
}
