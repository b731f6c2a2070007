// Package storefront plays a store's own domain: shoppers sign in, look at what is sold,
// choose how often it comes, check out, and reach the app through the app proxy. Its theme
// has the blocks that merchants install.
package storefront

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"html/template"
	"io/fs"
	"net/http"
	"strconv"
	"time"

	"github.com/perennialhq/perennial/extensions"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox/storefront/theme"
	"github.com/perennialhq/perennial/internal/web"
)

// Platform is where the store keeps its products and sells them.
type Platform interface {
	Shelf(shop string) ([]simulator.Product, error)
	Variants(shop string) ([]simulator.Variant, error)
	Buy(p simulator.Purchase) (simulator.Purchased, error)
	Bought(shop string, order int64) (simulator.Purchased, error)
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
	Dashboard     string // address at which plans are made; empty: it is not named
	Platform      Platform
	Clock         clock.Clock
	// Settled waits until the service has received a checkout.
	Settled func(ctx context.Context) error

	client    *http.Client
	pages     *template.Template
	extension *theme.Extension
}

//go:embed pages/*.html
var files embed.FS

//go:embed shop.css
var styles []byte

// maxAnswer is how long the app may take to answer a shopper.
const maxAnswer = 30 * time.Second

// Handler answers shoppers.
func (s *Store) Handler() http.Handler {
	s.client = &http.Client{Timeout: maxAnswer}
	s.pages = template.Must(template.New("").Funcs(template.FuncMap{"money": theme.Format, "url": theme.URL}).ParseFS(files, "pages/*.html"))
	var err error
	if s.extension, err = theme.Read(extensions.Storefront()); err != nil {
		panic(err) // the files are embedded, and tested
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.list)
	mux.HandleFunc("GET /products/{handle}", s.product)
	mux.HandleFunc("GET /pictures/{handle}", s.picture)
	mux.HandleFunc("GET /assets/{name}", s.asset)
	mux.HandleFunc("POST /cart/add", s.addToCart)
	mux.HandleFunc("POST /cart/change", s.changeCart)
	mux.HandleFunc("GET /cart", s.showCart)
	mux.HandleFunc("GET /checkout", s.showCheckout)
	mux.HandleFunc("POST /checkout", s.checkout)
	mux.HandleFunc("GET /thanks", s.thanks)
	mux.HandleFunc("GET /account/login", s.list) // whose head has the sign-in
	mux.HandleFunc("GET /account/logout", s.logout)
	mux.HandleFunc("POST /account/login", s.login)
	mux.HandleFunc("POST /account/logout", s.logout)
	mux.HandleFunc("/apps/{line}", s.forward) // also without the slash, which not every frame leaves
	mux.HandleFunc("/apps/{line}/", s.forward)
	return web.Routes(mux)
}

// asset answers with a style sheet or script of the shop or of the extension.
func (s *Store) asset(w http.ResponseWriter, r *http.Request) {
	name, text := r.PathValue("name"), styles
	if name != "shop.css" {
		var err error
		if text, err = fs.ReadFile(extensions.Storefront(), "assets/"+name); err != nil {
			web.WriteError(w, r, fault.New(fault.NotFound, "no such path: %s", r.URL.Path).Code("pathNotFound"))
			return
		}
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(text))
}

// view is what every page of the store shows.
type view struct {
	Store    string
	Title    string
	Customer string // number of who is signed in, or empty
	Today    string
	Path     string // of the page, to come back to
	InCart   int    // pieces
	Problem  string // why a form was refused

	Stylesheets, Scripts []string // of blocks

	Page any // what the page itself shows
}

// done answers a form: browsers go on to a page, programs get JSON.
func (s *Store) done(w http.ResponseWriter, r *http.Request, to string, v any) {
	if web.WantsPage(r) {
		http.Redirect(w, r, to, http.StatusSeeOther)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client is gone
}

// refused answers a form that was refused: browsers are shown a page with the reason,
// programs get a problem.
func (s *Store) refused(w http.ResponseWriter, r *http.Request, err error, again func(w http.ResponseWriter, r *http.Request, status int, problem string)) {
	f, is := errors.AsType[*fault.Error](err)
	if !is || f.Kind != fault.Invalid || !web.WantsPage(r) {
		web.WriteError(w, r, err)
		return
	}
	web.Note(r.Context(), err)
	again(w, r, http.StatusBadRequest, f.Message)
}

// policy lets pages load what the store itself has.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// show answers with a page.
func (s *Store) show(w http.ResponseWriter, r *http.Request, status int, name string, v view) {
	v.Store, v.Customer, v.Today = s.Name, s.session(r), s.Clock.Now().Format("Monday, 2 January 2006, 15:04 MST")
	if v.Path = r.URL.RequestURI(); r.URL.Path == "/account/login" {
		v.Path = back(r)
	}
	if r.Method != http.MethodGet {
		v.Path = "/"
	}
	for _, item := range s.cart(r) {
		v.InCart += item.Quantity
	}
	if err := web.Render(w, s.pages, status, name, policy, v); err != nil {
		web.WriteError(w, r, err)
	}
}

// number reads a number of a form or a query; what is absent is 0.
func number(r *http.Request, name string) (int64, error) {
	text := r.FormValue(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fault.New(fault.Invalid, "%s: %q is not a number", name, text).Field(name)
	}
	return n, nil
}
