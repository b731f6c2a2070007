// Package storefront plays a store's own domain: shoppers sign in, look at what
// can be subscribed to, check out, and reach the app through the app proxy.
package storefront

import (
	"context"
	"embed"
	"encoding/json"
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
	Shop          string // <store>.myshopify.com
	Name          string
	AppSecret     string // signs what the app proxy forwards
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
	if strings.Contains(r.Header.Get("Accept"), "text/html") {
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
}

// group is a product with its variants.
type group struct {
	Title      string
	Collection string
	Plans      []demo.Plan
	Variants   []simulator.Variant
}

func (s *Store) home(w http.ResponseWriter, r *http.Request) {
	variants, err := s.Platform.Variants(s.Shop)
	if err != nil {
		web.WriteError(w, r, err)
		return
	}
	v := view{Store: s.Name, Customer: s.session(r), Today: s.Clock.Now().Format("Monday, 2 January 2006, 15:04 MST"), Thanks: r.URL.Query().Get("thanks")}
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
		g.Variants = append(g.Variants, one)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'")
	if err := s.pages.ExecuteTemplate(w, "page.html", v); err != nil {
		web.WriteError(w, r, fault.Because(fault.Internal, err, "the page could not be shown"))
	}
}
