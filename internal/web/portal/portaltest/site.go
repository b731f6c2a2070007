// Package portaltest opens the portal for tests of its rooms: real pages over HTTP, at both places,
// with customers, contracts and a store in a database.
package portaltest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/locale"
	"github.com/perennialhq/perennial/internal/base/locale/localetest"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/optin"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/design"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform/shopify"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/portal"
)

// The customers of the first store.
const (
	Maya = 7001
	Noah = 7002
)

// At is the path of the first store's pages on our own domain, and Proxied at the store's.
const (
	At      = "/p/first"
	Proxied = "/apps/subscriptions/cp"
)

// Secret is that with which the platform signs what it hands on.
const Secret = "hush"

// Site is the portal of two stores, first.myshopify.com and second.myshopify.com, and a browser.
type Site struct {
	testing.TB

	Own, Store *httptest.Server // our domain, and what the platform's app proxy reaches
	Browser    *http.Client
	DB         *store.DB
	Clock      *clock.Manual
	Login      *login.Service
	Overview   *overview.Service
	Designs    *design.Service
	Consents   *optin.Service
	Portal     *do.Service // without the commands that change contracts
	Look       portal.Look // of all stores; no name: as nothing is set
	Account    bool        // customers sign in with their account at the store, too
	Log        *bytes.Buffer
	First      shop.Shop
	Second     shop.Shop
}

// proxy authenticates what the platform hands on.
type proxy struct{ login.ProxyAuthenticator }

// Enter returns who makes a request.
func (p proxy) Enter(r *http.Request, query url.Values, named bool) (login.Visitor, error) {
	return p.ProxyAuthenticator.Enter(r.Context(), query, named)
}

type looks struct{ *Site }

func (l looks) Look(_ context.Context, of shop.Shop) (portal.Look, error) {
	look := portal.LookOf(of)
	if l.Site.Look.Name != "" {
		look = l.Site.Look
	}
	look.Design, look.Account = l.Site.Look.Design, l.Site.Account
	return look, nil
}

// Now is when a site is opened: a Friday.
var Now = time.Date(2027, time.February, 26, 12, 0, 0, 0, time.UTC)

// texts is the catalogue of all sites of a test process.
var texts struct {
	sync.Mutex
	*locale.Catalogue
}

// loadTexts returns the portal's texts with those of the pseudo language. A test process loads them once:
// that takes more time than the rest of a site.
func loadTexts(t testing.TB) *locale.Catalogue {
	t.Helper()
	texts.Lock()
	defer texts.Unlock()
	if texts.Catalogue == nil {
		files, err := portal.TextFiles()
		if err != nil {
			t.Fatal(err)
		}
		if texts.Catalogue, err = locale.Load(localetest.WithPseudo(t, files)); err != nil {
			t.Fatal(err)
		}
	}
	return texts.Catalogue
}

// Open returns a site on a new database with the rooms that a function makes of it.
func Open(t testing.TB, rooms func(*Site) []portal.Room) *Site {
	t.Helper()
	s := &Site{TB: t, DB: storetest.SQLite(t), Clock: clock.NewManual(Now), Log: &bytes.Buffer{}}
	s.Login = &login.Service{Store: s.DB.Login(), Clock: s.Clock, PublicURL: "https://perennial.example"}
	s.Overview = &overview.Service{Store: s.DB.Overview(), Clock: s.Clock}
	s.Designs = &design.Service{Store: s.DB.PortalDesigns(), Clock: s.Clock}
	s.Consents = &optin.Service{Store: s.DB.SMSConsents(), Phones: s.DB.Shops(), Clock: s.Clock}
	s.Portal = &do.Service{Store: s.DB.Portal(), Answers: s.DB.Answers(), Clock: s.Clock, UnsubscribeKey: []byte("key of the links that end e-mails")}
	for i, of := range []*shop.Shop{&s.First, &s.Second} {
		*of = shop.Shop{
			Domain: []string{"first", "second"}[i] + ".myshopify.com", Token: "shpat_x", TimeZone: "America/Los_Angeles", Currency: "USD", OrderHour: 9, Connected: true,
			Settings: shop.Settings{ImmediateOrders: true}, CreatedAt: Now.AddDate(-1, 0, 0),
		}
		s.must(s.DB.Shops().AddShop(t.Context(), of))
	}
	pages, err := portal.New(portal.Options{
		Frame: web.Frame{Log: slog.New(slog.NewTextHandler(s.Log, nil))}, Login: s.Login, Texts: loadTexts(t), Languages: s.Portal, Repeats: s.Portal, Clock: s.Clock, Key: []byte("key of the forms"), Looks: looks{s}, Logos: s.Designs, Mails: s.Portal, Rooms: rooms(s),
		Proxies: map[string]web.Shoppers{"subscriptions": proxy{login.ProxyAuthenticator{Proxy: shopify.Proxy{Secret: Secret}, Shops: s.DB.Shops(), Clock: s.Clock}}},
	})
	s.must(err)
	s.Own, s.Store = httptest.NewServer(withPictures(pages.Own)), httptest.NewServer(withPictures(pages.Proxied))
	t.Cleanup(s.Own.Close)
	t.Cleanup(s.Store.Close)
	jar, err := cookiejar.New(nil)
	s.must(err)
	s.Browser = &http.Client{Jar: jar}
	return s
}

// pictures are those of products, by their path.
var pictures = map[string]string{
	"/pictures/coffee": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" fill="#f1dfc6"/><path d="M20 14h24l2 4v33a3 3 0 0 1-3 3H21a3 3 0 0 1-3-3V18z" fill="#6b4630"/><rect x="23" y="27" width="18" height="18" rx="2" fill="#f6ead8"/></svg>`,
	"/pictures/tea":    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" fill="#dfe3ee"/><rect x="19" y="18" width="26" height="36" rx="3" fill="#3d4b7a"/><rect x="17" y="12" width="30" height="9" rx="3" fill="#2c3760"/></svg>`,
}

// withPictures serves pictures beside the pages.
func withPictures(pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if picture, known := pictures[r.URL.Path]; known {
			w.Header().Set("Content-Type", "image/svg+xml")
			_, _ = w.Write([]byte(picture))
			return
		}
		pages.ServeHTTP(w, r)
	})
}

func (s *Site) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// Put stores contracts and attempts of a store.
func (s *Site) Put(of shop.Shop, contracts []contract.Contract, attempts ...billing.Attempt) {
	s.Helper()
	s.must(s.DB.Update(s.Context(), of.ID, func(tx *store.Tx) error {
		if err := tx.PutContracts(s.Context(), contracts); err != nil {
			return err
		}
		return tx.PutAttempts(s.Context(), attempts)
	}))
}

// PutOneOff stores a product of one order of a store.
func (s *Site) PutOneOff(of shop.Shop, one billing.OneOff) {
	s.Helper()
	s.must(s.DB.Update(s.Context(), of.ID, func(tx *store.Tx) error { return tx.PutOneOffs(s.Context(), []billing.OneOff{one}) }))
}

// PutShop stores what the test has changed of the first store.
func (s *Site) PutShop() {
	s.Helper()
	s.must(s.DB.Update(s.Context(), s.First.ID, func(tx *store.Tx) error { return tx.PutShop(s.Context(), s.First) }))
	s.First.Version++
}

// SignIn signs a customer of the first store in, with a link.
func (s *Site) SignIn(customer int64) {
	s.Helper()
	made, err := s.Login.NewLink(s.Context(), s.First.ID, login.CustomerRef{Customer: customer})
	s.must(err)
	if p := s.Post(strings.TrimPrefix(made.Value, s.Login.PublicURL)); p.Status != http.StatusOK || p.Path != At {
		s.Fatalf("signing in leads to %d %s", p.Status, p.Path)
	}
}

// Page is an answer, after redirects.
type Page struct {
	Status int
	Path   string // with its query
	Text   string
	Header http.Header
}

// Do sends a request.
func (s *Site) Do(req *http.Request) Page {
	s.Helper()
	answer, err := s.Browser.Do(req)
	s.must(err)
	defer answer.Body.Close()
	var body bytes.Buffer
	_, err = body.ReadFrom(answer.Body)
	s.must(err)
	return Page{answer.StatusCode, answer.Request.URL.RequestURI(), body.String(), answer.Header}
}

// Request returns a request with a form, whose fields are names and values in turn.
func (s *Site) Request(method, address string, fields ...string) *http.Request {
	s.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	req, err := http.NewRequestWithContext(s.Context(), method, address, strings.NewReader(form.Encode()))
	s.must(err)
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return req
}

// Get opens a page on our own domain.
func (s *Site) Get(path string) Page { return s.Do(s.Request(http.MethodGet, s.Own.URL+path)) }

// Post sends a form on our own domain.
func (s *Site) Post(path string, fields ...string) Page {
	return s.Do(s.Request(http.MethodPost, s.Own.URL+path, fields...))
}

// hidden finds the unseen fields of a form.
var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)

// Send sends the form of a page whose action ends with a path, with its unseen fields and others.
func (s *Site) Send(p Page, action string, fields ...string) Page {
	s.Helper()
	at := strings.Index(p.Text, html.EscapeString(action)+`"`)
	if at < 0 {
		s.Fatalf("%s has no form for %s:\n%s", p.Path, action, p.Text)
	}
	form, _, _ := strings.Cut(p.Text[at:], "</form>")
	for _, field := range hidden.FindAllStringSubmatch(form, -1) {
		if !slices.Contains(fields, field[1]) {
			fields = append(fields, field[1], field[2])
		}
	}
	return s.Post(At+action, fields...)
}

// Want checks the status of a page, and that it says some texts.
func (s *Site) Want(p Page, status int, says ...string) {
	s.Helper()
	if p.Status != status {
		s.Errorf("%s answers %d, want %d", p.Path, p.Status, status)
	}
	for _, words := range says {
		if !strings.Contains(p.Text, words) {
			_, shown, _ := strings.Cut(p.Text, "<main")
			s.Errorf("%s does not say %q:\n%s", p.Path, words, shown)
		}
	}
}

// Signed returns the query of a request that the platform hands on for a customer of a store, who
// may have given parameters.
func Signed(at time.Time, domain string, customer int64, given url.Values) url.Values {
	query := url.Values{}
	for name, values := range given {
		query[name] = values
	}
	who := ""
	if customer != 0 {
		who = fmt.Sprint(customer)
	}
	for name, value := range map[string]string{"shop": domain, "logged_in_customer_id": who, "path_prefix": "/apps/subscriptions", "timestamp": fmt.Sprint(at.Unix())} {
		query.Set(name, value)
	}
	return Sign(query)
}

// Sign signs a query as the platform does.
func Sign(query url.Values) url.Values {
	query.Del("signature")
	var parts []string
	for name, values := range query {
		parts = append(parts, name+"="+strings.Join(values, ","))
	}
	slices.Sort(parts)
	mac := hmac.New(sha256.New, []byte(Secret))
	mac.Write([]byte(strings.Join(parts, "")))
	query.Set("signature", hex.EncodeToString(mac.Sum(nil)))
	return query
}

// Through opens a page at the first store's domain as a customer.
func (s *Site) Through(customer int64, path string, given url.Values) Page {
	s.Helper()
	return s.Do(s.Request(http.MethodGet, s.Store.URL+Proxied+path+"?"+Signed(s.Clock.Now(), s.First.Domain, customer, given).Encode()))
}

// Settle has the contract name the attempt that was declined, whose number the database gave.
func (s *Site) Settle(c contract.Contract) {
	s.Helper()
	if c.Dunning == nil {
		return
	}
	s.must(s.DB.Update(s.Context(), s.First.ID, func(tx *store.Tx) error {
		attempts, err := tx.AttemptsOf(s.Context(), []contract.ID{c.ID}, billing.Failure)
		if err != nil || len(attempts) != 1 {
			return fmt.Errorf("%d declined attempts: %w", len(attempts), err)
		}
		rows, err := tx.Contracts(s.Context(), []contract.ID{c.ID})
		if err != nil {
			return err
		}
		rows[0].Dunning.Attempt = int64(attempts[0].ID)
		return tx.PutContracts(s.Context(), rows)
	}))
}
