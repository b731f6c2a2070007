// Package dashboardtest opens the dashboard for tests of its rooms: real pages over HTTP, with
// users, sessions and a store in a database.
package dashboardtest

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/home"
)

// Password is that of all users.
const Password = "correct horse battery"

// Owner is the address of an owner of the first store.
const Owner = "ana@staff.example"

// At is the path of the first store's pages.
const At = "/admin/stores/first"

// Site is the dashboard of two stores, first.myshopify.com and second.myshopify.com, and a
// browser.
type Site struct {
	testing.TB
	*httptest.Server
	Browser  *http.Client
	Staff    *staff.Service
	DB       *store.DB
	Clock    *clock.Manual
	State    home.State // of the setup
	Overview analytics.Overview
	Fails    error // of the figures
	Hooks    []webhook.Endpoint
	Asking   []partner.View
	Departed intake.Departure // of the store; zero: it has the app
	Log      *bytes.Buffer
	First    shop.Shop
	Second   shop.Shop
}

// setup is what a site's tests have set.
type setup struct{ *Site }

// State returns it.
func (s setup) State(context.Context, shop.Shop) (home.State, error) { return s.Site.State, nil }

// Departure returns it.
func (s setup) Departure(context.Context, shop.ID) (intake.Departure, error) { return s.Departed, nil }

// Overview returns the figures.
func (s setup) Overview(context.Context, shop.Shop, int) (analytics.Overview, error) {
	return s.Site.Overview, s.Fails
}

// Endpoints returns where webhooks go.
func (s setup) Endpoints(context.Context, shop.ID) ([]webhook.Endpoint, error) { return s.Hooks, nil }

// List returns the applications that ask for access.
func (s setup) List(context.Context, shop.ID, partner.State, page.Request) ([]partner.View, int, error) {
	return s.Asking, len(s.Asking), nil
}

// Open returns a site on a new database, at noon UTC of 25 November 2026. Each of change may set
// the options, with the site that they are for.
func Open(t testing.TB, change ...func(*Site, *dashboard.Options)) *Site {
	t.Helper()
	s := &Site{TB: t, DB: storetest.SQLite(t), Clock: clock.NewManual(time.Date(2026, time.November, 25, 12, 0, 0, 0, time.UTC)), Log: &bytes.Buffer{}}
	s.Staff = &staff.Service{Store: s.DB.Staff(), Clock: s.Clock, RealClock: s.Clock, PublicURL: "https://perennial.example", LightHashes: true}
	for i, of := range []*shop.Shop{&s.First, &s.Second} {
		*of = shop.Shop{Domain: []string{"first", "second"}[i] + ".myshopify.com", Token: "shpat_x", TimeZone: "UTC", Currency: "EUR", Connected: true, CreatedAt: s.Clock.Now()}
		if err := s.DB.Shops().AddShop(t.Context(), of); err != nil {
			t.Fatal(err)
		}
	}
	s.Add(Owner, staff.Owner)
	options := dashboard.Options{
		Frame: web.Frame{Log: slog.New(slog.NewTextHandler(s.Log, nil))}, Staff: s.Staff, Clock: s.Clock,
		Embed: &dashboard.Embedding{
			ClientID: "client-id", Bridge: "https://cdn.platform.example/app-bridge.js",
			Verify: func(token string) (domain, user string, err error) {
				domain, user, ok := strings.Cut(token, "/")
				if !ok {
					return "", "", fault.New(fault.Unauthenticated, "the session token is not valid")
				}
				return domain + ".myshopify.com", user, nil
			},
			Ancestors: func(domain string) []string { return []string{"https://" + domain, "https://admin.platform.example"} },
		},
	}
	for _, set := range change {
		set(s, &options)
	}
	if !slices.ContainsFunc(options.Rooms, func(r dashboard.Room) bool { return r.Routes[0].Pattern == "GET " }) {
		options.Rooms = append(options.Rooms, home.New(home.Options{
			Setup: setup{s}, Syncs: setup{s}, Figures: setup{s}, Endpoints: setup{s}, Partners: setup{s}, Log: s.DB, Clock: s.Clock,
		}))
	}
	pages, err := dashboard.New(options)
	if err != nil {
		t.Fatal(err)
	}
	s.Server = httptest.NewServer(pages)
	t.Cleanup(s.Close)
	s.Browser = s.NewBrowser()
	return s
}

// Put stores what the test has changed of the first store.
func (s *Site) Put() {
	s.Helper()
	err := s.DB.Update(s.Context(), s.First.ID, func(tx *store.Tx) error { return tx.PutShop(s.Context(), s.First) })
	if err != nil {
		s.Fatal(err)
	}
	s.First.Version++
}

// NewBrowser returns a browser without cookies.
func (s *Site) NewBrowser() *http.Client {
	s.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.Fatal(err)
	}
	return &http.Client{Jar: jar}
}

// Add adds a user of the first store.
func (s *Site) Add(email string, role staff.Role) {
	s.Helper()
	if err := s.Staff.Add(s.Context(), s.First.ID, email, "", role, Password); err != nil {
		s.Fatal(err)
	}
}

// SignIn signs a user of the first store in, in a new browser.
func (s *Site) SignIn(email string) {
	s.Helper()
	s.Browser = s.NewBrowser()
	if p := s.Post("/admin/signin", "email", email, "password", Password); p.Status != http.StatusOK || p.Path != At {
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
	if err != nil {
		s.Fatal(err)
	}
	defer answer.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(answer.Body); err != nil {
		s.Fatal(err)
	}
	return Page{answer.StatusCode, answer.Request.URL.RequestURI(), body.String(), answer.Header}
}

// Get opens a page.
func (s *Site) Get(path string) Page {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.URL+path, http.NoBody)
	if err != nil {
		s.Fatal(err)
	}
	return s.Do(req)
}

// Post sends a form, whose fields are names and values in turn.
func (s *Site) Post(path string, fields ...string) Page {
	s.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	req, err := http.NewRequestWithContext(s.Context(), http.MethodPost, s.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return s.Do(req)
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
