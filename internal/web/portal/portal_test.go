package portal_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/portal"
)

// porter is the domain as the pages see it. It knows one link, one session and
// one token.
type porter struct {
	err       error // of whatever is asked for, save the store
	entered   int
	left      []string
	email, ip string
	contracts []contract.Contract
	coming    []billing.Record
	as        login.Principal
	support   string // the user of the dashboard who is in; empty: the customer
}

const (
	link    = "the-link"
	session = "the-session"
	token   = "the-token"
)

func (p *porter) Shop(_ context.Context, handle string) (shop.Shop, error) {
	if strings.ContainsAny(handle, "\x00/") {
		return shop.Shop{}, errors.New("a database would refuse the question")
	}
	if handle != "demo" {
		return shop.Shop{}, fault.New(fault.NotFound, "the store is not known here")
	}
	return shop.Shop{ID: 7, Domain: "demo.myshopify.com", TimeZone: "America/New_York"}, nil
}

func (p *porter) CheckLink(_ context.Context, of shop.ID, value string) error {
	if of != 7 || value != link {
		return fault.New(fault.NotFound, "this link is not known")
	}
	return p.err
}

func (p *porter) Enter(ctx context.Context, of shop.ID, value string) (string, error) {
	if err := p.CheckLink(ctx, of, value); err != nil {
		return "", err
	}
	p.entered++
	return session, nil
}

func (p *porter) RequestLink(_ context.Context, _ shop.ID, email, ip string) error {
	p.email, p.ip = email, ip
	return p.err
}

func (p *porter) Authenticate(_ context.Context, of shop.ID, value string, via login.Via) (login.Principal, error) {
	if value == session && via == login.ByLink || value == token && via == login.ByToken {
		who := login.Principal{Shop: of, Customer: 5, Via: via, OpenedBy: p.support}
		if p.support != "" {
			who.Until = time.Date(2026, time.January, 31, 12, 30, 0, 0, time.UTC)
		}
		return who, nil
	}
	return login.Principal{}, fault.New(fault.Unauthenticated, "the visitor is not signed in")
}

func (p *porter) SignOut(_ context.Context, _ shop.ID, value string) error {
	p.left = append(p.left, value)
	return p.err
}

func (p *porter) Contracts(_ context.Context, as login.Principal) ([]contract.Contract, error) {
	p.as = as
	return p.contracts, p.err
}

func (p *porter) AttemptsWhere(_ context.Context, of shop.ID, q billing.Question, _ page.Request) ([]billing.Record, int, error) {
	var list []billing.Record
	for _, r := range p.coming {
		if of == p.as.Shop && q.Customer == p.as.Customer && q.Upcoming && q.Line == r.Of.Line {
			list = append(list, r)
		}
	}
	return list, len(list), p.err
}

// site is the pages over a porter.
type site struct {
	*testing.T
	*porter
	handler http.Handler
	log     *bytes.Buffer
}

func open(t *testing.T, p *porter, secure bool) *site {
	t.Helper()
	s := &site{t, p, nil, &bytes.Buffer{}}
	var err error
	s.handler, err = portal.New(portal.Options{Frame: web.Frame{Log: slog.New(slog.NewTextHandler(s.log, nil))}, Login: p, Orders: p, Secure: secure})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ask sends a request with headers, given as name, value. A form is sent as one.
func (s *site) ask(method, target string, form url.Values, headers ...string) *httptest.ResponseRecorder {
	s.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(form.Encode()))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	if w.Code != http.StatusSeeOther {
		s.wantPage(w)
	}
	return w
}

// wantPage checks what every page has.
func (s *site) wantPage(w *httptest.ResponseRecorder) {
	s.Helper()
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
		"X-Content-Type-Options": "nosniff",
	} {
		if got := w.Header().Get(name); got != want {
			s.Errorf("%d: %s is %q, want %q", w.Code, name, got, want)
		}
	}
	policy := w.Header().Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") {
		s.Errorf("policy %q", policy)
	}
	if body := w.Body.String(); strings.Contains(body, "<script") || !strings.Contains(body, "<h1>") {
		s.Errorf("page:\n%s", body)
	}
}

func TestSignInLinkIsUsedOnlyByItsButton(t *testing.T) {
	t.Parallel()
	s := open(t, &porter{}, false)
	for _, method := range []string{"GET", "HEAD", "GET"} {
		w := s.ask(method, "/p/demo/l/"+link, nil)
		if w.Code != http.StatusOK || s.entered != 0 || !strings.Contains(w.Body.String(), `<form method="post" action="/p/demo/l/the-link"><button>Continue</button>`) || w.Header().Get("Set-Cookie") != "" {
			t.Fatalf("%s answered %d:\n%s", method, w.Code, w.Body)
		}
	}
	w := s.ask("POST", "/p/demo/l/"+link, nil)
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/p/demo" || s.entered != 1 {
		t.Errorf("answered %d to %s after %d uses", w.Code, w.Header().Get("Location"), s.entered)
	}
	if strings.Contains(s.log.String(), link) {
		t.Errorf("the log holds the link:\n%s", s.log)
	}
}

func TestSupportSessionSaysSo(t *testing.T) {
	t.Parallel()
	s := open(t, &porter{}, false)
	if w := s.ask("GET", "/p/demo", nil, "Cookie", "portal-dev="+session); strings.Contains(w.Body.String(), "Support session") {
		t.Error("the customer's own session is marked")
	}
	s.support = "ana@staff.example"
	if w := s.ask("GET", "/p/demo", nil, "Cookie", "portal-dev="+session); !strings.Contains(w.Body.String(), "Support session of ana@staff.example, until 07:30 EST.") {
		t.Errorf("the page does not say that it is a support session:\n%s", w.Body)
	}
}

func TestSessionCookieIsRestrictedToHost(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		secure bool
		want   string
	}{
		"over HTTPS": {true, "__Host-portal=the-session; Path=/; Max-Age=2592000; HttpOnly; Secure; SameSite=Lax"},
		"without":    {false, "portal-dev=the-session; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax"},
	} {
		s := open(t, &porter{}, test.secure)
		cookie := s.ask("POST", "/p/demo/l/"+link, nil).Header().Get("Set-Cookie")
		if cookie != test.want {
			t.Errorf("%s: %s", name, cookie)
		}
		name, _, _ := strings.Cut(cookie, ";")
		if w := s.ask("GET", "/p/demo", nil, "Cookie", name); w.Code != http.StatusOK || s.as != (login.Principal{Shop: 7, Customer: 5, Via: login.ByLink}) {
			t.Errorf("%s: answered %d for %+v", name, w.Code, s.as)
		}
	}
}

func TestInvalidSignInLinkShowsError(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		target string
		err    error
		want   int
	}{
		"a link that does not exist":    {"/p/demo/l/other", nil, http.StatusNotFound},
		"no link":                       {"/p/demo/l/", nil, http.StatusNotFound},
		"a link that was used":          {"/p/demo/l/" + link, fault.New(fault.FailedPrecondition, "used"), http.StatusGone},
		"a link of an unknown store":    {"/p/nobody/l/" + link, nil, http.StatusNotFound},
		"a store that cannot be one":    {"/p/a%00b/l/" + link, nil, http.StatusNotFound},
		"a store with slashes":          {"/p/demo%2Fx/l/" + link, nil, http.StatusNotFound},
		"when the database is away":     {"/p/demo/l/" + link, fault.New(fault.Unavailable, "away"), http.StatusServiceUnavailable},
		"when something is wrong on us": {"/p/demo/l/" + link, errors.New("bug in row 9"), http.StatusInternalServerError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, &porter{err: test.err}, false)
			for _, method := range []string{"GET", "POST"} {
				w := s.ask(method, test.target, nil)
				if w.Code != test.want || w.Header().Get("Set-Cookie") != "" || strings.Contains(w.Body.String(), "row 9") || strings.Contains(w.Body.String(), link) {
					t.Errorf("%s answered %d:\n%s", method, w.Code, w.Body)
				}
			}
		})
	}
}

func TestFormOfOtherSiteIsRefused(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/p/demo/l/" + link, "/p/demo/signin", "/p/demo/signout"} {
		for _, headers := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://evil.example"}} {
			s := open(t, &porter{}, false)
			w := s.ask("POST", target, url.Values{"email": {"a@b.example"}}, headers...)
			if w.Code != http.StatusForbidden || s.entered != 0 || s.email != "" || s.left != nil {
				t.Errorf("%s with %v answered %d", target, headers, w.Code)
			}
		}
	}
}

func TestVisitorWithoutSessionIsSentToForm(t *testing.T) {
	t.Parallel()
	s := open(t, &porter{}, false)
	for name, headers := range map[string][]string{
		"without a cookie":        nil,
		"with another session":    {"Cookie", "portal-dev=other"},
		"with a token as session": {"Cookie", "portal-dev=" + token},
		"with a session as token": {"Authorization", "Bearer " + session},
		"with the other cookie":   {"Cookie", "__Host-portal=" + session},
	} {
		if w := s.ask("GET", "/p/demo", nil, headers...); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/p/demo/signin" {
			t.Errorf("%s: answered %d %s", name, w.Code, w.Header().Get("Location"))
		}
	}
	if w := s.ask("GET", "/p/demo/signin", nil); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `name="email"`) {
		t.Errorf("answered %d:\n%s", w.Code, w.Body)
	}
}

func TestListShowsContractsOfSubscriber(t *testing.T) {
	t.Parallel()
	month := contract.Policy{Interval: cadence.Month, Count: 1}
	weeks := contract.Policy{Interval: cadence.Week, Count: 2}
	line := contract.LineItem{Title: `Tea <script>alert(1)</script>`, VariantTitle: "Green", Quantity: 2, Price: money.Amount{Minor: 1050, Currency: "USD"}}
	p := &porter{contracts: []contract.Contract{
		{ID: 42, Line: shop.Subscriptions, Status: contract.Active, Currency: "USD", Billing: month, Lines: []contract.LineItem{line}, DeliveryPrice: money.Amount{Minor: 400, Currency: "USD"}},
		{ID: 43, Line: shop.Memberships, Status: contract.Paused, Currency: "USD", Billing: weeks},
	}}
	once := billing.OneOff{Quantity: 1, Variant: platform.Variant{ID: 9, ProductTitle: "Mug", Price: money.Amount{Minor: 500, Currency: "USD"}}}
	p.coming = []billing.Record{
		{Attempt: billing.Attempt{Contract: 42, Cycle: 2, Status: billing.Queued, BillingDate: time.Date(2025, 3, 1, 2, 0, 0, 0, time.UTC)}, Of: p.contracts[0], OneOffs: []billing.OneOff{once}},
		{Attempt: billing.Attempt{Contract: 42, Cycle: 3, Status: billing.Queued, BillingDate: time.Date(2025, 4, 1, 2, 0, 0, 0, time.UTC)}, Of: p.contracts[0]},
	}
	s := open(t, p, false)
	w := s.ask("GET", "/p/demo/", nil, "Authorization", "Bearer "+token)
	if w.Code != http.StatusOK || s.as.Via != login.ByToken {
		t.Fatalf("answered %d for %+v", w.Code, s.as)
	}
	body := w.Body.String()
	for _, want := range []string{
		"Subscription 42", "Active", "2 × Tea &lt;script&gt;alert(1)&lt;/script&gt;, Green", "1 × Mug", "Every month", "Next order on Friday, 28 February 2025: 30.00 USD, before taxes",
		"Membership 43", "Paused", "Every 2 weeks",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q:\n%s", want, body)
		}
	}
	if strings.Count(body, "Next order") != 1 {
		t.Error("a paused one has a next order")
	}
	p.contracts = nil
	if w := s.ask("GET", "/p/demo", nil, "Cookie", "portal-dev="+session); !strings.Contains(w.Body.String(), "You have no subscriptions yet.") {
		t.Errorf("without contracts:\n%s", w.Body)
	}
}

func TestFormRequestsSignInLink(t *testing.T) {
	t.Parallel()
	s := open(t, &porter{}, false)
	w := s.ask("POST", "/p/demo/signin", url.Values{"email": {" ada@shopper.example "}}, "Origin", "http://example.com")
	if w.Code != http.StatusOK || s.email != "ada@shopper.example" || s.ip != "192.0.2.1" || !strings.Contains(w.Body.String(), "If this address has a subscription") {
		t.Errorf("answered %d after asking for %q by %q:\n%s", w.Code, s.email, s.ip, w.Body)
	}
	s.err = fault.New(fault.RateLimited, "often").RetryAfter(time.Minute)
	if w := s.ask("POST", "/p/demo/signin", url.Values{"email": {"a@b.example"}}); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "60" {
		t.Errorf("too often: %d %s", w.Code, w.Header().Get("Retry-After"))
	}
	s.err = fault.New(fault.Invalid, "%q is not an e-mail address", "<b>")
	if w := s.ask("POST", "/p/demo/signin", url.Values{"email": {"<b>"}}); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "&lt;b&gt;&#34; is not an e-mail address") || !strings.Contains(w.Body.String(), `name="email"`) {
		t.Errorf("no address: %d\n%s", w.Code, w.Body)
	}
	for name, bad := range map[string]string{"what is no text": "email=%ff%fe", "what cannot be read": "email=%zz"} {
		r := httptest.NewRequest("POST", "/p/demo/signin", strings.NewReader(bad))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		if w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
}

func TestSignOutEndsSession(t *testing.T) {
	t.Parallel()
	s := open(t, &porter{}, true)
	w := s.ask("POST", "/p/demo/signout", nil, "Cookie", "__Host-portal="+session)
	if w.Code != http.StatusSeeOther || len(s.left) != 1 || s.left[0] != session || !strings.HasPrefix(w.Header().Get("Set-Cookie"), "__Host-portal=; Path=/; Max-Age=0; HttpOnly; Secure") {
		t.Errorf("answered %d %s after %v", w.Code, w.Header().Get("Set-Cookie"), s.left)
	}
}

func TestUnknownPathAnswersNotFound(t *testing.T) {
	t.Parallel()
	s := open(t, &porter{}, false)
	for _, target := range []string{"/p/demo/nothing", "/p/", "/p/demo/l/a/b", "/p/demo//signin/../x", "/p/DEMO/nothing"} {
		if w := s.ask("GET", target, nil); w.Code != http.StatusNotFound {
			t.Errorf("%s answered %d", target, w.Code)
		}
	}
	if w := s.ask("PUT", "/p/demo/signin", nil); w.Code != http.StatusNotFound {
		t.Errorf("another method answered %d", w.Code)
	}
	if w := s.ask("GET", "/p/DEMO/signin", nil); w.Code != http.StatusOK {
		t.Errorf("capital letters answered %d", w.Code)
	}
}
