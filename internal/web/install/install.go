// Package install is how merchants get in: the start and the end of an installation, and
// the page that the platform's admin opens in its frame. What is true is decided by
// package connection.
package install

import (
	"context"
	_ "embed"
	"errors"
	"html/template"
	"net/http"
	"net/url"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/connection"
	"github.com/perennialhq/perennial/internal/web"
)

// Paths of the pages. An app other than the primary one has its name appended.
const (
	Path      = "/auth"
	EntryPath = "/auth/entry" // the app's address at the platform
)

// Service decides about installations. Failures are faults.
type Service interface {
	Begin(app connection.AppName, shop string) (consent, cookie string, err error)
	Finish(ctx context.Context, app connection.AppName, query url.Values, cookie string) (domain string, err error)
	Enter(ctx context.Context, app connection.AppName, token string) (connection.Entry, error)
	AppURL(app connection.AppName, domain string) (string, error)
}

// Options are what the pages need.
type Options struct {
	Frame   web.Frame
	Service Service
	Secure  bool // the pages are reached over HTTPS
	// ClientIDs are public ids of the apps, by name.
	ClientIDs map[connection.AppName]string
	// Bridge is the address of the platform's script for embedded pages.
	Bridge string
	// Ancestors returns the origins whose pages may have a store's pages in a frame.
	Ancestors func(domain string) []string
	// Home is the path to which a merchant goes who was let in by the primary app; "": a page
	// that says so, as for other apps.
	Home string
}

//go:embed pages.html
var pages string

//go:embed install.css
var styles string

//go:embed enter.js
var enterScript string

//go:embed leave.js
var leaveScript string

// handler answers with pages.
type handler struct {
	Options
	pages  *template.Template
	origin string // of the bridge
}

// New returns the handler of Path and everything below it.
func New(o Options) (http.Handler, error) {
	parsed, err := template.New("pages").Parse(pages)
	if err != nil {
		return nil, err
	}
	bridge, err := url.Parse(o.Bridge)
	if err != nil {
		return nil, err
	}
	h := &handler{Options: o, pages: parsed, origin: bridge.Scheme + "://" + bridge.Host}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /auth", h.begin)
	mux.HandleFunc("GET /auth/callback", h.finish)
	mux.HandleFunc("GET /auth/callback/{app}", h.finish)
	mux.HandleFunc("GET /auth/entry", h.enter)
	mux.HandleFunc("GET /auth/entry/{app}", h.enter)
	mux.HandleFunc("GET /auth/enter.js", script(enterScript))
	mux.HandleFunc("GET /auth/leave.js", script(leaveScript))
	mux.HandleFunc("/", h.unknown)
	return o.Frame.Around(web.Tidy(mux, h.unknown)), nil
}

func script(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		_, _ = w.Write([]byte(text)) // a reader that has gone away is no failure
	}
}

// view is what a page shows.
type view struct {
	Styles    template.CSS
	Title     string
	Shop      string
	App       connection.AppName
	ClientID  string
	Bridge    string // "": the page is not in the admin's frame
	Script    string
	Address   string // to which the page leads
	Problem   string
	RequestID string
	Missing   []string // what the store has not granted, in words
}

// appOf returns the app that a request is for: its path or its query names one that is
// not the primary.
func appOf(r *http.Request) connection.AppName {
	for _, name := range []string{r.PathValue("app"), r.URL.Query().Get("app")} {
		if name != "" {
			return connection.AppName(name)
		}
	}
	return connection.Primary
}

func (h *handler) unknown(w http.ResponseWriter, r *http.Request) {
	h.fail(w, r, "", fault.New(fault.NotFound, "no such page").Code("pathNotFound"))
}

// fail shows why a request was not carried out.
func (h *handler) fail(w http.ResponseWriter, r *http.Request, domain string, err error) {
	web.Note(r.Context(), err)
	status, words := shown(err)
	h.show(w, r, status, "problem", domain, view{Title: "That did not work", Problem: words, App: appOf(r)})
}

// statuses are those of the failures whose message a merchant may read.
var statuses = map[fault.Kind]int{
	fault.Invalid: http.StatusBadRequest, fault.Unauthenticated: http.StatusUnauthorized, fault.FailedPrecondition: http.StatusConflict,
	fault.NotFound: http.StatusNotFound, fault.Conflict: http.StatusConflict, fault.Unavailable: http.StatusServiceUnavailable,
}

// shown returns the status of a failure and what a merchant reads of it.
func shown(err error) (status int, words string) {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		if status, known := statuses[f.Kind]; known {
			return status, web.Sentence(f)
		}
	}
	return http.StatusInternalServerError, "Something is wrong on our side. Try again in a minute."
}

// contentPolicy returns the Content-Security-Policy of a page. Only the admin of the store
// may have it in a frame, and only there has it the platform's script.
func (h *handler) contentPolicy(domain string, v view) string {
	more := []string{"form-action 'self'"}
	if v.Bridge != "" {
		more = append(more, "script-src 'self' "+h.origin, "connect-src 'self' "+h.origin)
	}
	var ancestors []string
	if domain != "" {
		ancestors = h.Ancestors(domain)
	}
	return web.FramedContentPolicy(styles, ancestors, more...)
}

// show writes a page.
func (h *handler) show(w http.ResponseWriter, r *http.Request, status int, name, domain string, v view) {
	v.Styles, v.Shop, v.ClientID, v.RequestID = template.CSS(styles), domain, h.ClientIDs[v.App], w.Header().Get("X-Request-Id") //nolint:gosec // the styles are ours
	w.Header().Set("Referrer-Policy", "no-referrer")
	if err := web.Render(w, h.pages, status, name, h.contentPolicy(domain, v), v); err != nil {
		web.WriteError(w, r, err)
	}
}
