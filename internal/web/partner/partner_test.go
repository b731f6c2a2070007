package partner

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/webtest"
)

// fakes stands in for the domain.
type fakes struct {
	connection partner.Connection
	command    partner.ConnectCommand
	code       string
	id         partner.ConnectionID
	err        error
}

func (f *fakes) ByKey(context.Context, string) (partner.App, error) { return partner.App{}, f.err }

func (f *fakes) Authenticate(_ context.Context, id access.AppID, secret string) (partner.App, error) {
	if id != "reports" || secret != "right" {
		return partner.App{}, fault.New(fault.Unauthenticated, "wrong").Code("partnerCredentialsInvalid")
	}
	return partner.App{ID: id}, nil
}

func (f *fakes) Used(context.Context, shop.ID, access.AppID, partner.ConnectionID, bool) {}

func (f *fakes) Connect(_ context.Context, _ partner.App, cmd partner.ConnectCommand) (partner.Connection, error) {
	f.command = cmd
	return f.connection, f.err
}

func (f *fakes) Exchange(_ context.Context, _ partner.App, code string, id partner.ConnectionID, _ string) (string, partner.Connection, error) {
	f.code, f.id = code, id
	return "prn_token", f.connection, f.err
}

func (f *fakes) Status(_ context.Context, _ partner.App, id partner.ConnectionID) (partner.Connection, error) {
	f.id = id
	return f.connection, f.err
}

func (f *fakes) Withdraw(_ context.Context, _ partner.App, id partner.ConnectionID, _ string) (partner.Connection, error) {
	f.id = id
	return f.connection, f.err
}

func (f *fakes) RotateToken(_ context.Context, _ partner.App, id partner.ConnectionID, _ string) (string, partner.Connection, error) {
	f.id = id
	return "prn_token", f.connection, f.err
}

func (f *fakes) DomainOf(context.Context, partner.Connection) (string, error) {
	return "demo.myshopify.com", nil
}

func noon() time.Time { return time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC) }

func options(f *fakes) Options {
	at := clock.NewManual(noon())
	return Options{
		Frame:   web.Frame{Log: slog.New(slog.DiscardHandler), Clock: at},
		Gate:    web.Gate{Partners: f, Limits: &web.Buckets{Clock: at}, Clock: at},
		Service: f, PublicURL: "https://perennial.example/",
	}
}

func pending() *fakes {
	return &fakes{connection: partner.Connection{
		ID: 12, Shop: 7, App: "reports", State: partner.Pending, Scopes: []access.Scope{access.ContractsRead}, ExpiresAt: noon().AddDate(0, 0, 7), ClientState: "mine",
	}}
}

func (f *fakes) ask(method, path, body string, credentials ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("X-Request-Id", "req-1")
	if len(credentials) == 0 {
		credentials = []string{"reports", "right"}
	}
	if credentials[0] != "" {
		r.SetBasicAuth(credentials[0], credentials[1])
	}
	w := httptest.NewRecorder()
	New(options(f)).ServeHTTP(w, r)
	return w
}

func wire(t *testing.T, name string, w *httptest.ResponseRecorder, status int) {
	t.Helper()
	if w.Code != status {
		t.Fatalf("answered %d: %s", w.Code, w.Body)
	}
	webtest.Golden(t, name, w.Body.Bytes())
}

const path = "/api/partner/reports"

func TestHandshakeMatchesGoldenFiles(t *testing.T) {
	t.Parallel()
	f := pending()
	wire(t, "connection-pending.json", f.ask("POST", path+"/connect", `{"shop_domain":"demo.myshopify.com","callback_nonce":"0123456789","scopes":["contracts:read"],"state":"mine"}`), http.StatusAccepted)
	if f.command.Domain != "demo.myshopify.com" || f.command.Nonce != "0123456789" || len(f.command.Scopes) != 1 || f.command.ClientState != "mine" {
		t.Errorf("asked for %+v", f.command)
	}
	f.connection.State, f.connection.ExpiresAt, f.connection.Token, f.connection.TokenAt = partner.Connected, time.Time{}, 9, noon()
	wire(t, "connection-connected.json", f.ask("GET", path+"/connections/12", ""), http.StatusOK)
	wire(t, "token.json", f.ask("POST", path+"/token", `{"code":"prc_x","connection_id":12}`), http.StatusOK)
	if f.code != "prc_x" || f.id != 12 {
		t.Errorf("exchanged %q of %d", f.code, f.id)
	}
	for _, last := range []string{"disconnect", "rotate"} {
		f.id = 0
		if w := f.ask("POST", path+"/connections/12/"+last, ""); w.Code != http.StatusOK || f.id != 12 {
			t.Errorf("%s: %d of %d", last, w.Code, f.id)
		}
	}
}

func TestInvalidRequestIsRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		path, body  string
		credentials []string
		status      int
		key, params string
	}{
		"no credentials":                    {"/connect", `{}`, []string{""}, 401, "partnerCredentialsMissing", ""},
		"another application's credentials": {"/connect", `{}`, []string{"others", "right"}, 401, "partnerCredentialsMissing", ""},
		"a wrong secret":                    {"/connect", `{}`, []string{"reports", "wrong"}, 401, "partnerCredentialsInvalid", ""},
		"no body":                           {"/connect", ``, nil, 400, "bodyMissing", ""},
		"a scope that is none":              {"/connect", `{"scopes":["moon:read"]}`, nil, 400, "scopeUnknown", "scopes"},
		"a nonce that is no text":           {"/connect", `{"callback_nonce":"a\u0000b"}`, nil, 400, "invalid", "callback_nonce"},
		"a token without a code":            {"/token", `{}`, nil, 400, "bodyField", "code"},
		"a connection that is no number":    {"/connections/x/rotate", ``, nil, 400, "invalid", "connection"},
		"a path that is unknown":            {"/nothing", ``, nil, 404, "pathNotFound", ""},
	} {
		w := pending().ask("POST", path+test.path, test.body, test.credentials...)
		p := webtest.Problem(t, w)
		params := ""
		if p.Params != nil {
			params = *p.Params
		}
		if w.Code != test.status || p.ErrorKey != test.key || params != test.params {
			t.Errorf("%s: %d %q at %q, want %d %q %q: %s", name, w.Code, p.ErrorKey, params, test.status, test.key, test.params, w.Body)
		}
		if basic := strings.HasPrefix(w.Header().Get("WWW-Authenticate"), "Basic"); basic != (w.Code == http.StatusUnauthorized) {
			t.Errorf("%s: WWW-Authenticate is %q", name, w.Header().Get("WWW-Authenticate"))
		}
	}
	f := pending()
	f.err = fault.New(fault.DependencyFailed, "the application did not confirm").Code("callbackFailed")
	if w := f.ask("POST", path+"/connect", `{}`); w.Code != http.StatusFailedDependency {
		t.Errorf("a callback that failed: %d", w.Code)
	}
}

func TestDocumentDescribesEveryField(t *testing.T) {
	t.Parallel()
	webtest.Described(t, newAPI(options(pending())).Document())
}

func TestCommittedDocumentMatchesCode(t *testing.T) {
	t.Parallel()
	webtest.Committed(t, "partner.yaml", "partner", newAPI(options(pending())))
}

func TestDocumentAndReferenceAreServed(t *testing.T) {
	t.Parallel()
	w := pending().ask("GET", Path+"openapi.json", "", "")
	if w.Code != http.StatusOK || !bytes.Contains(w.Body.Bytes(), []byte("callback_nonce")) {
		t.Errorf("openapi.json answered %d", w.Code)
	}
	if doc := webtest.Valid(t, w.Body.Bytes()); len(doc.Paths.Map()) != 5 {
		t.Errorf("%d paths", len(doc.Paths.Map()))
	}
	o := options(pending())
	api := newAPI(o)
	pages := webtest.Reference(t, api.Handler(o.Frame), root, api.Document())
	for _, want := range []string{"callback_nonce", `-u &#34;$APP_ID:$APP_SECRET&#34;`} {
		if !strings.Contains(pages, want) {
			t.Errorf("the reference does not show %q", want)
		}
	}
}
