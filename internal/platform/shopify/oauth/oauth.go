// Package oauth is the platform's side of an installation: the pages that merchants are
// sent to, the checks of what comes back, and the endpoint that issues access tokens. It
// keeps nothing.
package oauth

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/platform"
)

// Options are what an App needs to know. The zero value of a field has a default, except
// for the credentials.
type Options struct {
	ClientID string
	Secret   string        // client secret; with none, nothing is genuine
	BaseURL  string        // where a store answers; {shop} stands for its domain
	HTTP     *http.Client  // nil: the default client. Its redirects are never followed
	Timeout  time.Duration // of one request
	Clock    clock.Clock   // by which expiry is computed; nil: the machine's
}

// App is an app at the platform. It implements platform.Authorizer and is safe for
// concurrent use.
type App struct {
	id      string
	secret  string
	baseURL string
	http    *http.Client
	timeout time.Duration
	clock   clock.Clock
}

var _ platform.Authorizer = (*App)(nil)

// What an Options field means when it is left empty.
const (
	defaultBaseURL = "https://{shop}"
	defaultTimeout = 15 * time.Second
)

// New returns an app.
func New(o Options) *App {
	a := &App{id: o.ClientID, secret: o.Secret, baseURL: o.BaseURL, timeout: o.Timeout, clock: o.Clock}
	if a.baseURL == "" {
		a.baseURL = defaultBaseURL
	}
	if a.timeout == 0 {
		a.timeout = defaultTimeout
	}
	if a.clock == nil {
		a.clock = clock.System{}
	}
	if o.HTTP == nil {
		o.HTTP = http.DefaultClient
	}
	own := *o.HTTP
	// A redirect would carry the client secret to whatever host it names.
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	a.http = &own
	return a
}

// at returns an address of a store, whose domain must be valid.
func (a *App) at(shop, path string) string {
	return strings.ReplaceAll(a.baseURL, "{shop}", shop) + path
}

// ConsentURL returns the address at which a merchant agrees to the scopes.
func (a *App) ConsentURL(shop string, scopes []string, redirect, state string) string {
	q := url.Values{"client_id": {a.id}, "scope": {strings.Join(scopes, ",")}, "redirect_uri": {redirect}, "state": {state}}
	return a.at(shop, "/admin/oauth/authorize?"+q.Encode())
}

// AppURL returns the address of the app in the store's admin. It depends on nothing that
// a request has brought but the domain.
func (a *App) AppURL(shop string) string { return a.at(shop, "/admin/apps/"+url.PathEscape(a.id)) }

// notGenuine is the failure of what cannot be the platform's.
func notGenuine(format string, args ...any) *fault.Error {
	return fault.New(fault.Unauthenticated, format, args...).Entity("shop")
}
