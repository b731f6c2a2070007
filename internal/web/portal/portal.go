// Package portal is the pages on which subscribers look after their
// subscriptions, on the service's own domain.
package portal

import (
	"context"
	_ "embed"
	"errors"
	"html/template"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// Path is what the paths of all pages begin with. A store's handle follows.
const Path = "/p/"

// Login authenticates subscribers. Failures are faults.
type Login interface {
	Shop(ctx context.Context, handle string) (shop.Shop, error)
	CheckLink(ctx context.Context, of shop.ID, link string) error
	Enter(ctx context.Context, of shop.ID, link string) (string, error)
	RequestLink(ctx context.Context, of shop.ID, email, clientIP string) error
	Authenticate(ctx context.Context, of shop.ID, value string, via login.Via) (login.Principal, error)
	SignOut(ctx context.Context, of shop.ID, value string) error
	Contracts(ctx context.Context, p login.Principal) ([]contract.Contract, error)
}

// Orders knows which orders are to come.
type Orders interface {
	AttemptsWhere(ctx context.Context, of shop.ID, q billing.Question, p page.Request) ([]billing.Record, int, error)
}

// Options are what the pages need.
type Options struct {
	Frame  web.Frame
	Login  Login
	Orders Orders
	Secure bool // the pages are reached over HTTPS
}

//go:embed pages.html
var pages string

//go:embed portal.css
var styles string

// portal answers with pages.
type portal struct {
	Options
	pages  *template.Template
	policy string // Content-Security-Policy
}

// New returns the handler of everything below Path.
func New(o Options) (http.Handler, error) {
	parsed, err := template.New("pages").Parse(pages)
	if err != nil {
		return nil, err
	}
	p := &portal{Options: o, pages: parsed, policy: web.ContentPolicy(styles, "form-action 'self'")}

	mux := http.NewServeMux()
	mux.HandleFunc("GET /p/{shop}", p.page(p.home))
	mux.HandleFunc("GET /p/{shop}/signin", p.page(p.signIn))
	mux.HandleFunc("POST /p/{shop}/signin", p.page(p.sendLink))
	mux.HandleFunc("GET /p/{shop}/l", p.page(p.look))
	mux.HandleFunc("POST /p/{shop}/l", p.page(p.enter))
	mux.HandleFunc("POST /p/{shop}/signout", p.page(p.signOut))
	mux.HandleFunc("/", p.unknown)
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.fail(w, r, view{}, fault.New(fault.Forbidden, "another site has sent this form").Code("crossOrigin"))
	}))
	return withoutLink(o.Frame.Around(cross.Handler(web.Tidy(web.Mux(mux), p.unknown)))), nil
}

func (p *portal) unknown(w http.ResponseWriter, r *http.Request) {
	p.fail(w, r, view{}, fault.New(fault.NotFound, "there is no such page").Code("pathNotFound"))
}

type linkKey struct{}

// withoutLink takes the secret of a link out of the path before anybody writes
// the path down.
func withoutLink(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		before, secret, found := strings.Cut(r.URL.Path, "/l/")
		if found {
			u := *r.URL
			u.Path, u.RawPath = before+"/l", ""
			r = r.WithContext(context.WithValue(r.Context(), linkKey{}, strings.TrimSuffix(secret, "/")))
			r.URL = &u
		}
		next.ServeHTTP(w, r)
	})
}

func linkOf(ctx context.Context) string {
	secret, _ := ctx.Value(linkKey{}).(string)
	return secret
}

// view is what a page shows.
type view struct {
	Styles    template.CSS
	Shop      string // the store's domain; empty when there is none
	Home      string // path of the store's first page
	Title     string
	Link      string // secret of the link that the page continues with
	Sent      bool   // the form was sent
	Problem   string
	RequestID string
	Contracts []row
	Support   *support // nil: the customer is in
}

// support says that a user of the dashboard is in as the customer.
type support struct{ By, Until string }

// page finds the store that a path names. Pages are not cached and send no referrer.
func (p *portal) page(show func(w http.ResponseWriter, r *http.Request, of shop.Shop, v view) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var v view
		of, err := p.shop(r)
		if err == nil {
			v.Shop, v.Home = of.Domain, Path+login.Handle(of.Domain)
			err = show(w, r, of, v)
		}
		if err != nil {
			p.fail(w, r, v, err)
		}
	}
}

func (p *portal) shop(r *http.Request) (shop.Shop, error) {
	handle := strings.ToLower(r.PathValue("shop"))
	if !login.IsHandle(handle) {
		return shop.Shop{}, fault.New(fault.NotFound, "store not found").Code("shopNotFound")
	}
	return p.Login.Shop(r.Context(), handle)
}

// render answers with a page.
func (p *portal) render(w http.ResponseWriter, status int, name string, v view) error {
	v.Styles = template.CSS(styles) //nolint:gosec // it is ours
	h := w.Header()
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Robots-Tag", "noindex")
	return web.Render(w, p.pages, status, name, p.policy, v)
}

// problems are the texts of the page for each kind of failure.
var problems = map[fault.Kind]struct {
	status int
	title  string
	words  string
}{
	fault.Invalid:            {http.StatusBadRequest, "That did not work", ""},
	fault.FailedPrecondition: {http.StatusGone, "This link no longer works", "Ask for a new one: each link works once, for two hours."},
	fault.NotFound:           {http.StatusNotFound, "Page not found", "The address may be incomplete. Links in e-mails work once, for two hours."},
	fault.Forbidden:          {http.StatusForbidden, "That did not work", "The form came from another site, so nothing was done."},
	fault.RateLimited:        {http.StatusTooManyRequests, "Too many requests", "Try again in an hour."},
	fault.TooLarge:           {http.StatusRequestEntityTooLarge, "That did not work", "The form is too large."},
	fault.Unavailable:        {http.StatusServiceUnavailable, "We cannot answer now", "Try again in a minute. Nothing was changed."},
}

// fail answers with a page that says what went wrong, as far as the reader can
// do something about it.
func (p *portal) fail(w http.ResponseWriter, r *http.Request, v view, err error) {
	web.Note(r.Context(), err)
	told, known := problems[fault.KindOf(err)]
	if !known {
		told.status, told.title, told.words = http.StatusInternalServerError, "Something is wrong on our side", "Try again in a minute."
	}
	v.Title, v.Problem = told.title, told.words
	v.RequestID = w.Header().Get("X-Request-Id")
	if f, ok := errors.AsType[*fault.Error](err); ok {
		if v.Problem == "" && known {
			v.Problem = f.Message
		}
		web.SetRetryAfter(w, f)
	}
	if err := p.render(w, told.status, "problem", v); err != nil {
		web.WriteError(w, r, err)
	}
}
