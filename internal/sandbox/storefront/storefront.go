// Package storefront plays a store's own domain: shoppers sign in, look at what
// can be subscribed to, check out, and reach the app through the app proxy.
package storefront

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
	"github.com/perennialhq/perennial/internal/web"
)

// Platform is where the store keeps its products and sells them.
type Platform interface {
	Variants(shop string) ([]simulator.Variant, error)
	Checkout(spec simulator.ContractSpec) (simulator.Made, error)
}

// Store is a store's domain.
type Store struct {
	Shop      string // <store>.myshopify.com
	Name      string
	AppSecret string // signs what the app proxy forwards
	// MembershipsSecret signs what the app proxy of memberships forwards; empty: they have no
	// app of their own, and AppSecret does.
	MembershipsSecret string
	// HasMemberships reports whether the store has that app.
	HasMemberships func() bool

	Subscriptions string // addresses of the app, without a slash at the end
	Memberships   string
	Platform      Platform
	Clock         clock.Clock
	// Settled waits until the service has received a checkout.
	Settled func(ctx context.Context) error

	client *http.Client
	pages  *template.Template
}

//go:embed page.html
var files embed.FS

//go:embed page.css
var styles string

// maxAnswer is how long the app may take to answer a shopper.
const maxAnswer = 30 * time.Second

// Handler answers shoppers.
func (s *Store) Handler() http.Handler {
	s.client = &http.Client{Timeout: maxAnswer}
	s.pages = template.Must(template.ParseFS(files, "page.html"))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.home)
	mux.HandleFunc("POST /account/login", s.login)
	mux.HandleFunc("POST /account/logout", s.logout)
	mux.HandleFunc("POST /checkout", s.checkout)
	mux.HandleFunc("/apps/{line}", s.forward) // also without the slash, which not every frame leaves
	mux.HandleFunc("/apps/{line}/", s.forward)
	return web.Routes(mux)
}

// done answers a form: browsers go back to the store, programs get JSON.
func (s *Store) done(w http.ResponseWriter, r *http.Request, v any) {
	if web.WantsPage(r) {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client is gone
}

// view is what the page shows.
type view struct {
	Store    string
	Customer string // number of who is signed in, or empty
	Today    string
	Groups   []group
	Thanks   string // number of the contract that was just made
	Problem  string // why the form was refused
	Styles   template.CSS
}

// group is a product with its variants.
type group struct {
	Title      string
	Collection string
	Plans      []demo.Plan
	Variants   []simulator.Variant
}

func (s *Store) home(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, http.StatusOK, view{Thanks: r.URL.Query().Get("thanks")})
}

// fail answers a form that was refused: browsers are shown the store with the reason,
// programs get a problem.
func (s *Store) fail(w http.ResponseWriter, r *http.Request, err error) {
	f, refused := errors.AsType[*fault.Error](err)
	if !refused || f.Kind != fault.Invalid || !web.WantsPage(r) {
		web.WriteError(w, r, err)
		return
	}
	web.Note(r.Context(), err)
	s.show(w, r, http.StatusBadRequest, view{Problem: f.Message})
}

// show answers with the store's page.
func (s *Store) show(w http.ResponseWriter, r *http.Request, status int, v view) {
	variants, err := s.Platform.Variants(s.Shop)
	if err != nil {
		web.WriteError(w, r, err)
		return
	}
	v.Styles = template.CSS(styles) //nolint:gosec // it is ours
	v.Store, v.Customer, v.Today = s.Name, s.session(r), s.Clock.Now().Format("Monday, 2 January 2006, 15:04 MST")
	for _, one := range variants {
		if n := len(v.Groups); n == 0 || v.Groups[n-1].Title != one.ProductTitle {
			g := group{Title: one.ProductTitle}
			if len(one.Collections) > 0 {
				g.Collection = one.Collections[0].Title
			}
			g.Plans = demo.PlansFor(one)
			v.Groups = append(v.Groups, g)
		}
		g := &v.Groups[len(v.Groups)-1]
		one.Title = strings.TrimPrefix(one.Title, one.ProductTitle+" - ")
		g.Variants = append(g.Variants, one)
	}
	var body bytes.Buffer
	if err := s.pages.ExecuteTemplate(&body, "page.html", v); err != nil {
		web.WriteError(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", web.ContentPolicy(styles, "form-action 'self'"))
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // the shopper is gone
}
