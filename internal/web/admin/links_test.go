package admin

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/webtest"
)

// porter is the domain as the operations on links see it.
type porter struct {
	of  shop.ID
	by  activity.Actor
	who *login.CustomerRef
	err error
}

func (p *porter) SendLink(_ context.Context, of shop.ID, who login.CustomerRef, by activity.Actor) error {
	p.of, p.who, p.by = of, &who, by
	return p.err
}

func (p *porter) NewLink(_ context.Context, of shop.ID, who login.CustomerRef) (login.Credential, error) {
	p.of, p.who = of, &who
	return login.Credential{Customer: 5, Value: "https://subs.example/p/demo/l/abc", ExpiresAt: noon().Add(2 * time.Hour)}, p.err
}

func (p *porter) NewToken(_ context.Context, of shop.ID, who login.CustomerRef) (login.Credential, error) {
	p.of, p.who = of, &who
	return login.Credential{Customer: 5, Value: "abc", ExpiresAt: noon().Add(2 * time.Hour)}, p.err
}

func serveLinks(t *testing.T, p *porter) *server {
	t.Helper()
	s := &server{fakes: &fakes{}, t: t, log: &bytes.Buffer{}, clock: clock.NewManual(noon())}
	o := options(s.fakes, shop.Subscriptions, s.log, s.clock)
	o.Links = p
	s.handler = New(o)
	return s
}

const (
	magicPath = "/api/external/v2/subscription-contracts-email-magic-link"
	linkPath  = "/api/external/v2/manage-subscription-link"
	tokenPath = "/api/external/v2/customer-portal-token"
)

func TestMagicLinkAnswersSentence(t *testing.T) {
	t.Parallel()
	p := &porter{}
	w := serveLinks(t, p).ask("GET", magicPath+"?email=ann%2Bbox@example.com", "")
	if w.Code != http.StatusOK || w.Body.String() != "\"Email triggered successfully.\"\n" || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("answered %d %q %s", w.Code, w.Body, w.Header().Get("Content-Type"))
	}
	if p.of != 7 || *p.who != (login.CustomerRef{Line: shop.Subscriptions, Email: "ann+box@example.com"}) || p.by != by() {
		t.Errorf("asked for %+v of shop %d by %+v", p.who, p.of, p.by)
	}
}

func TestLinkQueryNamesCustomer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		target string
		want   login.CustomerRef
	}{
		"a token by number":           {tokenPath + "?customerId=5", login.CustomerRef{Customer: 5}},
		"a token by graph id":         {tokenPath + "?customerId=gid://shopify/Customer/5", login.CustomerRef{Customer: 5}},
		"a token by address":          {tokenPath + "?email=a@b.example", login.CustomerRef{Email: "a@b.example"}},
		"a token by both":             {tokenPath + "?customerId=5&email=a@b.example", login.CustomerRef{Customer: 5, Email: "a@b.example"}},
		"a link by address":           {linkPath + "?email=a@b.example", login.CustomerRef{Email: "a@b.example"}},
		"a link by number":            {linkPath + "?customerId=5", login.CustomerRef{Customer: 5}},
		"a link by number in path":    {linkPath + "/5", login.CustomerRef{Customer: 5}},
		"a link by graph id in path":  {linkPath + "/gid%3A%2F%2Fshopify%2FCustomer%2F5", login.CustomerRef{Customer: 5}},
		"a link with both, and slash": {linkPath + "/5/?email=a@b.example", login.CustomerRef{Customer: 5, Email: "a@b.example"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &porter{}
			w := serveLinks(t, p).ask("GET", test.target, "")
			if w.Code != http.StatusOK || p.who == nil || p.of != 7 {
				t.Fatalf("answered %d %s", w.Code, w.Body)
			}
			test.want.Line = shop.Subscriptions
			if diff := cmp.Diff(test.want, *p.who); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLinkOperationsRefuseInvalidValues(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]struct {
		detail, key string
	}{
		magicPath:                      {"Required request parameter 'email' for method parameter type String is not present", "parameterMissing"},
		magicPath + "?email=":          {"Required request parameter 'email' for method parameter type String is not present", "parameterMissing"},
		tokenPath:                      {"Required request parameter 'customerId' for method parameter type Long is not present", "parameterMissing"},
		linkPath:                       {"Required request parameter 'customerId' for method parameter type Long is not present", "parameterMissing"},
		tokenPath + "?customerId=x":    {"", ""},
		linkPath + "/x":                {"", ""},
		magicPath + "?email=a&email=b": {"parameter 'email' is given 2 times: give it once", ""},
		tokenPath + "?customerId=gid://shopify/Order/5": {"", ""},
	} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			p := &porter{}
			w := serveLinks(t, p).ask("GET", target, "")
			got := webtest.Problem(t, w)
			if w.Code != http.StatusBadRequest || want.detail != "" && got.Detail != want.detail || want.key != "" && got.ErrorKey != want.key || p.of != 0 {
				t.Errorf("answered %d %+v", w.Code, got)
			}
		})
	}
}

func TestLinkFaultBecomesProblem(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err    error
		status int
		retry  string
	}{
		"an address without a contract": {fault.New(fault.Invalid, "no contract").Code("subscriberNotFound"), http.StatusBadRequest, ""},
		"the e-mail is off":             {fault.New(fault.FailedPrecondition, "off").Code("templateDisabled"), http.StatusBadRequest, ""},
		"too often":                     {fault.New(fault.RateLimited, "often").RetryAfter(90*time.Second + time.Millisecond), http.StatusTooManyRequests, "91"},
		"a bug":                         {errors.New("bug"), http.StatusInternalServerError, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serveLinks(t, &porter{err: test.err}).ask("GET", magicPath+"?email=a@b.example", "")
			if w.Code != test.status || w.Header().Get("Retry-After") != test.retry {
				t.Errorf("answered %d, retry after %q", w.Code, w.Header().Get("Retry-After"))
			}
		})
	}
}

func TestLinksRequireTheirScope(t *testing.T) {
	t.Parallel()
	for _, target := range []string{magicPath + "?email=a@b.example", tokenPath + "?customerId=5", linkPath + "?customerId=5", linkPath + "/5"} {
		p := &porter{}
		w := serveLinks(t, p).ask("GET", target, "", "X-API-Key", noneKey)
		if w.Code != http.StatusForbidden || webtest.Problem(t, w).Params == nil || p.of != 0 {
			t.Errorf("%s: answered %d %s", target, w.Code, w.Body)
		}
	}
}

func TestLinksAndTokensMatchGoldenFiles(t *testing.T) {
	t.Parallel()
	s := serveLinks(t, &porter{})
	webtest.Golden(t, "manage-subscription-link.json", s.ask("GET", linkPath+"/5", "").Body.Bytes())
	webtest.Golden(t, "customer-portal-token.json", s.ask("GET", tokenPath+"?customerId=5", "").Body.Bytes())
}
