package dashboard_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

const password = "correct horse battery"

// site is the dashboard of two stores, and a browser.
type site struct {
	*testing.T
	*httptest.Server
	browser *http.Client
	staff   *staff.Service
	db      *store.DB
	clock   *clock.Manual
	state   dashboard.State
	log     *bytes.Buffer
	first   shop.Shop
	life    life
}

// put stores what the test has changed of the first store.
func (s *site) put() {
	s.Helper()
	err := s.db.Update(s.Context(), s.first.ID, func(tx *store.Tx) error { return tx.PutShop(s.Context(), s.first) })
	if err != nil {
		s.Fatal(err)
	}
	s.first.Version++
}

// State returns the state that the test has set.
func (s *site) State(context.Context, shop.Shop) (dashboard.State, error) { return s.state, nil }

func open(t *testing.T) *site {
	t.Helper()
	t.Parallel()
	s := &site{T: t, db: storetest.SQLite(t), clock: clock.NewManual(time.Date(2026, time.November, 25, 12, 0, 0, 0, time.UTC)), log: &bytes.Buffer{}}
	s.staff = &staff.Service{Store: s.db.Staff(), Clock: s.clock, RealClock: s.clock, PublicURL: "https://perennial.example"}
	for _, name := range []string{"first", "second"} {
		of := shop.Shop{Domain: name + ".myshopify.com", Token: "shpat_x", TimeZone: "UTC", Currency: "EUR", Connected: true, CreatedAt: s.clock.Now()}
		if err := s.db.Shops().AddShop(t.Context(), &of); err != nil {
			t.Fatal(err)
		}
		if name == "first" {
			s.first = of
		}
	}
	s.add("ana@staff.example", staff.Owner)
	pages, err := dashboard.New(dashboard.Options{
		Frame: web.Frame{Log: slog.New(slog.NewTextHandler(s.log, nil))}, Staff: s.staff, Setup: s, Charging: &s.life, Syncs: &s.life, Privacy: &s.life, Clock: s.clock,
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
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Server = httptest.NewServer(pages)
	t.Cleanup(s.Close)
	s.browser = s.newBrowser()
	return s
}

func (s *site) newBrowser() *http.Client {
	s.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.Fatal(err)
	}
	return &http.Client{Jar: jar}
}

func (s *site) add(email string, role staff.Role) {
	s.Helper()
	if err := s.staff.Add(s.Context(), s.first.ID, email, "", role, password); err != nil {
		s.Fatal(err)
	}
}

// page is an answer.
type page struct {
	status int
	path   string
	text   string
	header http.Header
}

func (s *site) do(req *http.Request) page {
	s.Helper()
	answer, err := s.browser.Do(req)
	if err != nil {
		s.Fatal(err)
	}
	defer answer.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(answer.Body); err != nil {
		s.Fatal(err)
	}
	return page{answer.StatusCode, answer.Request.URL.RequestURI(), body.String(), answer.Header}
}

func (s *site) get(path string) page {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.URL+path, nil)
	if err != nil {
		s.Fatal(err)
	}
	return s.do(req)
}

func (s *site) post(path string, fields ...string) page {
	s.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	req, err := http.NewRequestWithContext(s.Context(), http.MethodPost, s.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return s.do(req)
}

func (s *site) signIn(email string) {
	s.Helper()
	s.browser = s.newBrowser()
	if p := s.post("/admin/signin", "email", email, "password", password); p.status != http.StatusOK || p.path != "/admin/stores/first" {
		s.Fatalf("signing in leads to %d %s", p.status, p.path)
	}
}

// link returns the path of the link that was mailed last to an address.
func (s *site) link(to string) string {
	s.Helper()
	found := ""
	err := s.db.Notify().Update(s.Context(), s.first.ID, func(tx notify.Tx) error {
		list, err := tx.DueMessages(s.Context(), s.clock.Now(), 100)
		for _, m := range list {
			if at := regexp.MustCompile(`https://perennial\.example(\S+)`).FindStringSubmatch(m.Text); m.To == to && at != nil {
				found = at[1]
			}
		}
		return err
	})
	if err != nil || found == "" {
		s.Fatalf("no link was mailed to %s: %v", to, err)
	}
	return found
}

func (s *site) want(p page, status int, says ...string) {
	s.Helper()
	if p.status != status {
		s.Errorf("%s answers %d, want %d", p.path, p.status, status)
	}
	for _, words := range says {
		if !strings.Contains(p.text, words) {
			s.Errorf("%s does not say %q:\n%s", p.path, words, p.text)
		}
	}
}

func TestSignInLeadsToPageThatWasAskedFor(t *testing.T) {
	s := open(t)
	p := s.get("/admin/stores/first/users")
	s.want(p, http.StatusOK, "Sign in", `name="next" value="/admin/stores/first/users"`)
	p = s.post("/admin/signin", "email", "ana@staff.example", "password", "wrong", "next", "/admin/stores/first/users")
	s.want(p, http.StatusUnprocessableEntity, "The e-mail address or the password is wrong.", `value="ana@staff.example"`)
	p = s.post("/admin/signin", "email", "ana@staff.example", "password", password, "next", "/admin/stores/first/users")
	s.want(p, http.StatusOK, "Invite a user")
	if p.path != "/admin/stores/first/users" {
		t.Errorf("it leads to %s", p.path)
	}
	s.post("/admin/signout")
	if p := s.get("/admin/stores/first"); !strings.HasPrefix(p.path, "/admin/signin") {
		t.Errorf("after signing out %s is shown", p.path)
	}
}

func TestSignInLeadsNowhereElse(t *testing.T) {
	s := open(t)
	for _, next := range []string{"https://evil.example", "//evil.example", "/admin/stores/../../evil", `/admin/stores/\evil`, "/p/first", "/admin/stores/first?x=y", "/admin/stores/%2e%2e", "/admin/signin"} {
		s.browser = s.newBrowser()
		if p := s.post("/admin/signin", "email", "ana@staff.example", "password", password, "next", next); p.path != "/admin/stores/first" {
			t.Errorf("next %q leads to %s", next, p.path)
		}
	}
}

func TestEveryPageHasStrictHeaders(t *testing.T) {
	s := open(t)
	s.signIn("ana@staff.example")
	for _, path := range []string{"/admin/signin", "/admin/reset", "/admin/stores/first", "/admin/stores/first/users", "/admin/stores/first/charging", "/admin/stores/first/personal-data", "/admin/stores/first/account", "/admin/nothing", "/admin/stores/nobody"} {
		p := s.get(path)
		want := "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
		if got := p.header.Get("Content-Security-Policy"); got != want || p.header.Get("X-Frame-Options") != "DENY" || p.header.Get("Referrer-Policy") != "no-referrer" || p.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s has the headers %v", path, p.header)
		}
		if strings.Contains(p.text, "<script") || strings.Contains(p.text, "style=") || strings.Contains(p.text, "https://cdn") {
			t.Errorf("%s has a script or a style of its own:\n%s", path, p.text)
		}
	}
	at := regexp.MustCompile(`/admin/assets/[0-9a-f]{16}\.css`).FindString(s.get("/admin/signin").text)
	if p := s.get(at); p.status != http.StatusOK || p.header.Get("Cache-Control") != "public, max-age=31536000, immutable" || !strings.HasPrefix(p.header.Get("Content-Type"), "text/css") {
		t.Errorf("the style sheet %s: %d %v", at, p.status, p.header)
	}
}

func TestFormOfAnotherSiteIsRefused(t *testing.T) {
	s := open(t)
	s.signIn("ana@staff.example")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/admin/stores/first/users/invite", strings.NewReader("email=eve@staff.example&role=OWNER"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", "https://evil.example")
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	s.want(s.do(req), http.StatusForbidden, "Another site sent this form")
	if list, err := s.staff.Invitations(t.Context(), s.first.ID); err != nil || len(list) != 0 {
		t.Errorf("invitations %+v, %v", list, err)
	}
}

func TestCookieIsBoundToHostOverHTTPS(t *testing.T) {
	s := open(t)
	pages, err := dashboard.New(dashboard.Options{Frame: web.Frame{Log: slog.New(slog.DiscardHandler), Secure: true}, Staff: s.staff, Setup: s, Clock: s.clock, Secure: true})
	if err != nil {
		t.Fatal(err)
	}
	rec := httptest.NewRecorder()
	req := httptest.NewRequest(http.MethodPost, "/admin/signin", strings.NewReader(url.Values{"email": {"ana@staff.example"}, "password": {password}}.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	pages.ServeHTTP(rec, req)
	got := rec.Header().Get("Set-Cookie")
	if !strings.HasPrefix(got, "__Host-dashboard=") || !strings.HasSuffix(got, "; Path=/; Max-Age=1209600; HttpOnly; Secure; SameSite=Lax") {
		t.Errorf("the cookie is %q", got)
	}
}

func TestUsersAreInvitedChangedAndRemoved(t *testing.T) {
	s := open(t)
	s.signIn("ana@staff.example")
	s.want(s.post("/admin/stores/first/users/invite", "email", "not an address", "role", "SUPPORT"), http.StatusUnprocessableEntity, "is not an e-mail address", `value="not an address"`, `aria-invalid="true"`)
	s.want(s.post("/admin/stores/first/users/invite", "email", "ben@staff.example", "role", "SUPPORT"), http.StatusOK, "The invitation was sent.", "Open invitations", "ben@staff.example")
	owner := s.browser
	s.browser = s.newBrowser()
	link := s.link("ben@staff.example")
	s.want(s.get(link), http.StatusOK, "Join first.myshopify.com", "You join as Support")
	s.want(s.post(link, "name", "Ben", "password", "short"), http.StatusUnprocessableEntity, "at least 12 characters", `value="Ben"`)
	p := s.post(link, "name", "Ben", "password", password)
	s.want(p, http.StatusOK, "Setup guide")
	s.want(s.get("/admin/stores/first/users"), http.StatusForbidden, "Your role Support does not permit this")
	if strings.Contains(p.text, "/users") {
		t.Error("the navigation shows a page that the user may not open")
	}
	s.want(s.get(link), http.StatusNotFound, "ask for a new one")
	if strings.Contains(s.log.String(), strings.TrimPrefix(link, "/admin/invitation/first/")) {
		t.Error("the secret of the link is in the log")
	}

	s.browser = owner
	ben, err := s.staff.Find(t.Context(), s.first.ID, "ben@staff.example")
	if err != nil {
		t.Fatal(err)
	}
	id := regexp.MustCompile(`name="user" value="(\d+)">[^<]*<select name="role" aria-label="Role of Ben"`).FindStringSubmatch(s.get("/admin/stores/first/users").text)
	if id == nil {
		t.Fatal("the page has no form for Ben's role")
	}
	s.want(s.post("/admin/stores/first/users/role", "user", id[1], "role", "ANALYST"), http.StatusOK, "The role was changed.")
	s.want(s.post("/admin/stores/first/users/role", "user", id[1], "role", "KING"), http.StatusUnprocessableEntity, "is not a role")
	remove := "/admin/stores/first/users/" + id[1] + "/remove"
	s.want(s.get(remove), http.StatusOK, "Remove ben@staff.example", "can no longer open the dashboard")
	s.want(s.post(remove), http.StatusOK, "The user was removed.")
	s.want(s.get(remove), http.StatusNotFound)
	for _, bad := range []string{"x", "+5", "99999999999999999999"} {
		s.want(s.get("/admin/stores/first/users/"+bad+"/remove"), http.StatusNotFound)
	}
	if _, err := s.staff.Find(t.Context(), s.first.ID, ben.Email); !fault.Is(err, fault.NotFound) {
		t.Errorf("Ben is still there: %v", err)
	}
	s.want(s.post("/admin/stores/first/users/withdraw", "withdraw", "nobody@staff.example"), http.StatusOK, "The invitation was withdrawn.")
}

func TestPasswordIsResetByMail(t *testing.T) {
	s := open(t)
	known := s.post("/admin/reset", "email", "ana@staff.example")
	unknown := s.post("/admin/reset", "email", "eve@staff.example")
	s.want(known, http.StatusOK, "a link is on its way")
	if strings.ReplaceAll(known.text, "ana@", "eve@") != unknown.text {
		t.Errorf("the answers differ:\n%s\n%s", known.text, unknown.text)
	}
	if err := s.staff.SendReset(t.Context(), staff.SendReset{Email: "ana@staff.example"}); err != nil {
		t.Fatal(err)
	}
	link := s.link("ana@staff.example")
	s.want(s.get(link), http.StatusOK, "Set a new password")
	s.want(s.post(link, "password", "short"), http.StatusUnprocessableEntity, "at least 12 characters")
	s.want(s.post(link, "password", "another long password"), http.StatusOK, "Your password was changed. Sign in with the new one.")
	s.want(s.get(link), http.StatusNotFound, "ask for a new one")
	if strings.Contains(s.log.String(), strings.TrimPrefix(link, "/admin/reset/")) {
		t.Error("the secret of the link is in the log")
	}
}

func TestStoreOfOthersIsNotFound(t *testing.T) {
	s := open(t)
	s.signIn("ana@staff.example")
	unknown := s.get("/admin/stores/nobody")
	other := s.get("/admin/stores/second")
	s.want(other, http.StatusNotFound, "Store not found.")
	clean := regexp.MustCompile(`<code>.*?</code>`)
	if clean.ReplaceAllString(unknown.text, "") != clean.ReplaceAllString(other.text, "") {
		t.Error("the page of another store differs from that of no store")
	}
	s.want(s.post("/admin/stores/second/users/invite", "email", "x@staff.example", "role", "OWNER"), http.StatusNotFound)
	for _, path := range []string{"/admin/stores/FIRST", "/admin/stores/first/nothing", "/admin//signin", "/admin/stores/a%00b"} {
		s.want(s.get(path), http.StatusNotFound)
	}
}

func TestTooManyAttemptsSayWhenToTryAgain(t *testing.T) {
	s := open(t)
	for range 10 {
		s.post("/admin/signin", "email", "ana@staff.example", "password", "wrong")
	}
	p := s.post("/admin/signin", "email", "ana@staff.example", "password", password)
	s.want(p, http.StatusTooManyRequests, "Too many attempts. Try again in 15 minutes.")
	if p.header.Get("Retry-After") != "900" {
		t.Errorf("Retry-After is %q", p.header.Get("Retry-After"))
	}
}

func TestEmbeddedPageNeedsTokenWithEachRequest(t *testing.T) {
	s := open(t)
	s.signIn("ana@staff.example") // the cookie opens nothing in the platform's admin
	bring := s.get("/admin/stores/first?embedded=1")
	s.want(bring, http.StatusOK, `id="bring"`, `<meta name="shopify-api-key" content="client-id">`, `<script src="https://cdn.platform.example/app-bridge.js">`)
	policy := "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; script-src 'self' https://cdn.platform.example; connect-src 'self' https://cdn.platform.example; frame-ancestors https://first.myshopify.com https://admin.platform.example"
	if got := bring.header.Get("Content-Security-Policy"); got != policy || bring.header.Get("X-Frame-Options") != "" {
		t.Errorf("the policy is %s", got)
	}
	home := s.get("/admin/stores/first?embedded=1&id_token=first/71")
	s.want(home, http.StatusOK, "Setup guide", `data-theme="light"`, "<s-app-nav>", `href="/admin/stores/first?embedded=1"`)
	if home.header.Get("Content-Security-Policy") != policy || strings.Contains(home.text, "Sign out") || strings.Contains(home.text, "71") {
		t.Errorf("the embedded page is\n%s", home.text)
	}
	s.want(s.post("/admin/stores/first/users/invite?embedded=1", "email", "x@staff.example", "role", "SUPPORT"), http.StatusUnauthorized)
	s.want(s.post("/admin/stores/first/users/invite?embedded=1", "email", "x@staff.example", "role", "SUPPORT", "id_token", "first/71"), http.StatusForbidden, "Your role Analyst")
	s.want(s.get("/admin/stores/first?embedded=1&id_token=forged"), http.StatusUnauthorized)
	s.want(s.get("/admin/stores/first?embedded=1&id_token=second/71"), http.StatusNotFound)
	s.want(s.get("/admin/stores/first/account?embedded=1&id_token=first/71"), http.StatusNotFound)
	if p := s.get("/admin?embedded=1&shop=first.myshopify.com"); p.path != "/admin/stores/first?embedded=1" {
		t.Errorf("the start leads to %s", p.path)
	}
	if p := s.get("/admin?shop=evil.myshopify.com&id_token=first/71"); p.path != "/admin/stores/first?embedded=1&id_token=first%2F71" {
		t.Errorf("the start with a token leads to %s", p.path)
	}
}

func TestInstallingMerchantManagesUsersInPlatformsAdmin(t *testing.T) {
	s := open(t)
	s.want(s.get("/admin/stores/second/users?embedded=1&id_token=second/71"), http.StatusOK, "Invite a user", "Store user 71")
	s.want(s.post("/admin/stores/second/users/invite?embedded=1", "email", "x@staff.example", "role", "ADMIN", "id_token", "second/71"), http.StatusOK, `id="bring"`) // the page after it gets a token of its own
	list, err := s.staff.Invitations(t.Context(), s.first.ID+1)
	if err != nil || len(list) != 1 || list[0].Role != staff.Admin {
		t.Errorf("invitations %+v, %v", list, err)
	}
}

func TestSetupGuideSaysWhatIsLeft(t *testing.T) {
	s := open(t)
	s.signIn("ana@staff.example")
	s.want(s.get("/admin/stores/first"), http.StatusOK, "0 of 6 done", "6 steps are left.", "Install the app again", "Ask the operator to set PERENNIAL_PUBLIC_URL.")
	s.state = dashboard.State{Connected: true, ScopesKnown: true, Missing: []string{"read orders", "write discounts"}, WebhookURL: true, WebhookError: "address not allowed", Mail: true}
	s.want(s.get("/admin/stores/first"), http.StatusOK, "2 of 7 done", "Missing: read orders; write discounts.", "The platform refuses: address not allowed")
	s.state = dashboard.State{Connected: true, ScopesKnown: true, WebhookURL: true, Subscribed: true, Plans: true, Mail: true, ProxySeen: s.clock.Now(), Contracts: true}
	s.want(s.get("/admin/stores/first"), http.StatusOK, "all 7 steps are done", "first on 25 Nov 2026")
}
