package roomtest_test

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
	"github.com/perennialhq/perennial/internal/web/dashboard/people"
)

// inlineScript finds scripts that are not files of the service.
var inlineScript = regexp.MustCompile(`<script(?: src="https?:|>| [^s])|\son[a-z]+=`)

const password = dashboardtest.Password

// shellSite is the dashboard with its users.
type shellSite struct{ *dashboardtest.Site }

func openShell(t *testing.T) *shellSite {
	t.Helper()
	t.Parallel()
	return &shellSite{dashboardtest.Open(t, func(_ *dashboardtest.Site, o *dashboard.Options) {
		o.Rooms = append(o.Rooms, people.New(people.Options{Staff: o.Staff}))
	})}
}

// link returns the path of the link that was mailed last to an address.
func (s *shellSite) link(to string) string {
	s.Helper()
	found := ""
	err := s.DB.Notify().Update(s.Context(), s.First.ID, func(tx notify.Tx) error {
		list, err := tx.DueMessages(s.Context(), s.Clock.Now(), 100)
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

func TestSignInLeadsToPageThatWasAskedFor(t *testing.T) {
	s := openShell(t)
	p := s.Get("/admin/stores/first/users")
	s.Want(p, http.StatusOK, "Sign in", `name="next" value="/admin/stores/first/users"`)
	p = s.Post("/admin/signin", "email", "ana@staff.example", "password", "wrong", "next", "/admin/stores/first/users")
	s.Want(p, http.StatusUnprocessableEntity, "The e-mail address or the password is wrong.", `value="ana@staff.example"`)
	p = s.Post("/admin/signin", "email", "ana@staff.example", "password", password, "next", "/admin/stores/first/users")
	s.Want(p, http.StatusOK, "Invite a user")
	if p.Path != "/admin/stores/first/users" {
		t.Errorf("it leads to %s", p.Path)
	}
	s.Post("/admin/signout")
	if p := s.Get("/admin/stores/first"); !strings.HasPrefix(p.Path, "/admin/signin") {
		t.Errorf("after signing out %s is shown", p.Path)
	}
}

func TestSignInLeadsNowhereElse(t *testing.T) {
	s := openShell(t)
	for _, next := range []string{"https://evil.example", "//evil.example", "/admin/stores/../../evil", `/admin/stores/\evil`, "/p/first", "/admin/stores/first?x=y", "/admin/stores/%2e%2e", "/admin/signin"} {
		s.Browser = s.NewBrowser()
		if p := s.Post("/admin/signin", "email", "ana@staff.example", "password", password, "next", next); p.Path != "/admin/stores/first" {
			t.Errorf("next %q leads to %s", next, p.Path)
		}
	}
}

func TestEveryPageHasStrictHeaders(t *testing.T) {
	s := openShell(t)
	s.SignIn("ana@staff.example")
	for _, path := range []string{"/admin/signin", "/admin/reset", "/admin/stores/first", "/admin/stores/first/users", "/admin/stores/first/charging", "/admin/stores/first/personal-data", "/admin/stores/first/account", "/admin/nothing", "/admin/stores/nobody"} {
		p := s.Get(path)
		want := "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; script-src 'self'; connect-src 'self'; frame-ancestors 'none'"
		if got := p.Header.Get("Content-Security-Policy"); got != want || p.Header.Get("X-Frame-Options") != "DENY" || p.Header.Get("Referrer-Policy") != "no-referrer" || p.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s has the headers %v", path, p.Header)
		}
		if inlineScript.MatchString(p.Text) || strings.Contains(p.Text, "style=") || strings.Contains(p.Text, "https://cdn") {
			t.Errorf("%s has a script or a style of its own:\n%s", path, p.Text)
		}
	}
	at := regexp.MustCompile(`/admin/assets/[0-9a-f]{16}\.css`).FindString(s.Get("/admin/signin").Text)
	if p := s.Get(at); p.Status != http.StatusOK || p.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" || !strings.HasPrefix(p.Header.Get("Content-Type"), "text/css") {
		t.Errorf("the style sheet %s: %d %v", at, p.Status, p.Header)
	}
}

func TestFormOfAnotherSiteIsRefused(t *testing.T) {
	s := openShell(t)
	s.SignIn("ana@staff.example")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/admin/stores/first/users/invite", strings.NewReader("email=eve@staff.example&role=OWNER"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", "https://evil.example")
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	s.Want(s.Do(req), http.StatusForbidden, "Another site sent this form")
	if list, err := s.Staff.Invitations(t.Context(), s.First.ID); err != nil || len(list) != 0 {
		t.Errorf("invitations %+v, %v", list, err)
	}
}

func TestCookieIsBoundToHostOverHTTPS(t *testing.T) {
	s := openShell(t)
	pages, err := dashboard.New(dashboard.Options{Frame: web.Frame{Log: slog.New(slog.DiscardHandler), Secure: true}, Staff: s.Staff, Clock: s.Clock, Secure: true})
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
	s := openShell(t)
	s.SignIn("ana@staff.example")
	s.Want(s.Post("/admin/stores/first/users/invite", "email", "not an address", "role", "SUPPORT"), http.StatusUnprocessableEntity, "is not an e-mail address", `value="not an address"`, `aria-invalid="true"`)
	s.Want(s.Post("/admin/stores/first/users/invite", "email", "ben@staff.example", "role", "SUPPORT"), http.StatusOK, "The invitation was sent.", "Open invitations", "ben@staff.example")
	owner := s.Browser
	s.Browser = s.NewBrowser()
	link := s.link("ben@staff.example")
	s.Want(s.Get(link), http.StatusOK, "Join first.myshopify.com", "You join as Support")
	s.Want(s.Post(link, "name", "Ben", "password", "short"), http.StatusUnprocessableEntity, "at least 12 characters", `value="Ben"`)
	p := s.Post(link, "name", "Ben", "password", password)
	s.Want(p, http.StatusOK, "Setup guide")
	s.Want(s.Get("/admin/stores/first/users"), http.StatusForbidden, "Your role Support does not permit this")
	if strings.Contains(p.Text, "/users") {
		t.Error("the navigation shows a page that the user may not open")
	}
	s.Want(s.Get(link), http.StatusNotFound, "ask for a new one")
	if strings.Contains(s.Log.String(), strings.TrimPrefix(link, "/admin/invitation/first/")) {
		t.Error("the secret of the link is in the log")
	}

	s.Browser = owner
	ben, err := s.Staff.Find(t.Context(), s.First.ID, "ben@staff.example")
	if err != nil {
		t.Fatal(err)
	}
	id := regexp.MustCompile(`name="user" value="(\d+)">[^<]*<select name="role" aria-label="Role of Ben"`).FindStringSubmatch(s.Get("/admin/stores/first/users").Text)
	if id == nil {
		t.Fatal("the page has no form for Ben's role")
	}
	s.Want(s.Post("/admin/stores/first/users/role", "user", id[1], "role", "ANALYST"), http.StatusOK, "The role was changed.")
	s.Want(s.Post("/admin/stores/first/users/role", "user", id[1], "role", "KING"), http.StatusUnprocessableEntity, "is not a role")
	remove := "/admin/stores/first/users/" + id[1] + "/remove"
	s.Want(s.Get(remove), http.StatusOK, "Remove ben@staff.example", "can no longer open the dashboard")
	s.Want(s.Post(remove), http.StatusOK, "The user was removed.")
	s.Want(s.Get(remove), http.StatusNotFound)
	for _, bad := range []string{"x", "+5", "99999999999999999999"} {
		s.Want(s.Get("/admin/stores/first/users/"+bad+"/remove"), http.StatusNotFound)
	}
	if _, err := s.Staff.Find(t.Context(), s.First.ID, ben.Email); !fault.Is(err, fault.NotFound) {
		t.Errorf("Ben is still there: %v", err)
	}
	s.Want(s.Post("/admin/stores/first/users/withdraw", "withdraw", "nobody@staff.example"), http.StatusOK, "The invitation was withdrawn.")
}

func TestPasswordIsResetByMail(t *testing.T) {
	s := openShell(t)
	known := s.Post("/admin/reset", "email", "ana@staff.example")
	unknown := s.Post("/admin/reset", "email", "eve@staff.example")
	s.Want(known, http.StatusOK, "a link is on its way")
	if strings.ReplaceAll(known.Text, "ana@", "eve@") != unknown.Text {
		t.Errorf("the answers differ:\n%s\n%s", known.Text, unknown.Text)
	}
	if err := s.Staff.SendReset(t.Context(), staff.SendReset{Email: "ana@staff.example"}); err != nil {
		t.Fatal(err)
	}
	link := s.link("ana@staff.example")
	s.Want(s.Get(link), http.StatusOK, "Set a new password")
	s.Want(s.Post(link, "password", "short"), http.StatusUnprocessableEntity, "at least 12 characters")
	s.Want(s.Post(link, "password", "another long password"), http.StatusOK, "Your password was changed. Sign in with the new one.")
	s.Want(s.Get(link), http.StatusNotFound, "ask for a new one")
	if strings.Contains(s.Log.String(), strings.TrimPrefix(link, "/admin/reset/")) {
		t.Error("the secret of the link is in the log")
	}
}

func TestStoreOfOthersIsNotFound(t *testing.T) {
	s := openShell(t)
	s.SignIn("ana@staff.example")
	unknown := s.Get("/admin/stores/nobody")
	other := s.Get("/admin/stores/second")
	s.Want(other, http.StatusNotFound, "Store not found.")
	clean := regexp.MustCompile(`<code>.*?</code>`)
	if clean.ReplaceAllString(unknown.Text, "") != clean.ReplaceAllString(other.Text, "") {
		t.Error("the page of another store differs from that of no store")
	}
	s.Want(s.Post("/admin/stores/second/users/invite", "email", "x@staff.example", "role", "OWNER"), http.StatusNotFound)
	for _, path := range []string{"/admin/stores/FIRST", "/admin/stores/first/nothing", "/admin//signin", "/admin/stores/a%00b"} {
		s.Want(s.Get(path), http.StatusNotFound)
	}
}

func TestTooManyAttemptsSayWhenToTryAgain(t *testing.T) {
	s := openShell(t)
	for range 10 {
		s.Post("/admin/signin", "email", "ana@staff.example", "password", "wrong")
	}
	p := s.Post("/admin/signin", "email", "ana@staff.example", "password", password)
	s.Want(p, http.StatusTooManyRequests, "Too many attempts. Try again in 15 minutes.")
	if p.Header.Get("Retry-After") != "900" {
		t.Errorf("Retry-After is %q", p.Header.Get("Retry-After"))
	}
}

func TestEmbeddedPageNeedsTokenWithEachRequest(t *testing.T) {
	s := openShell(t)
	s.SignIn("ana@staff.example") // the cookie opens nothing in the platform's admin
	bring := s.Get("/admin/stores/first?embedded=1")
	s.Want(bring, http.StatusOK, `id="bring"`, `<meta name="shopify-api-key" content="client-id">`, `<script src="https://cdn.platform.example/app-bridge.js">`)
	policy := "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; script-src 'self' https://cdn.platform.example; connect-src 'self' https://cdn.platform.example; frame-ancestors https://first.myshopify.com https://admin.platform.example"
	if got := bring.Header.Get("Content-Security-Policy"); got != policy || bring.Header.Get("X-Frame-Options") != "" {
		t.Errorf("the policy is %s", got)
	}
	home := s.Get("/admin/stores/first?embedded=1&id_token=first/71")
	s.Want(home, http.StatusOK, "Setup guide", `data-theme="light"`, "<s-app-nav>", `href="/admin/stores/first?embedded=1"`)
	if home.Header.Get("Content-Security-Policy") != policy || strings.Contains(home.Text, "Sign out") || strings.Contains(home.Text, "first/71") || strings.Contains(home.Text, "%2F71") {
		t.Errorf("the embedded page is\n%s", home.Text)
	}
	s.Want(s.Post("/admin/stores/first/users/invite?embedded=1", "email", "x@staff.example", "role", "SUPPORT"), http.StatusUnauthorized)
	s.Want(s.Post("/admin/stores/first/users/invite?embedded=1", "email", "x@staff.example", "role", "SUPPORT", "id_token", "first/71"), http.StatusForbidden, "Your role Analyst")
	for _, row := range []struct {
		path   string
		status int
	}{
		{"/admin/stores/first?embedded=1&id_token=forged", http.StatusUnauthorized},
		{"/admin/stores/first/nothing?embedded=1&id_token=first/71", http.StatusNotFound},
	} {
		p := s.Get(row.path)
		s.Want(p, row.status)
		if got := p.Header.Get("Content-Security-Policy"); got != policy || p.Header.Get("X-Frame-Options") != "" {
			t.Errorf("%s is not shown in the frame: %s", row.path, got)
		}
	}
	s.Want(s.Get("/admin/stores/first?embedded=1&id_token=second/71"), http.StatusNotFound)
	s.Want(s.Get("/admin/stores/first/account?embedded=1&id_token=first/71"), http.StatusNotFound)
	if p := s.Get("/admin?embedded=1&shop=first.myshopify.com"); p.Path != "/admin/stores/first?embedded=1" {
		t.Errorf("the start leads to %s", p.Path)
	}
	if p := s.Get("/admin?shop=evil.myshopify.com&id_token=first/71"); p.Path != "/admin/stores/first?embedded=1&id_token=first%2F71" {
		t.Errorf("the start with a token leads to %s", p.Path)
	}
}

// getPart asks for a part of a page, as the script of the page does.
func getPart(s *dashboardtest.Site, path string) dashboardtest.Page {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.URL+path, http.NoBody)
	if err != nil {
		s.Fatal(err)
	}
	req.Header.Set("HX-Request", "true")
	return s.Do(req)
}

func TestPartOfPageThatFailsIsAnsweredWithPart(t *testing.T) {
	s := openShell(t)
	const figures = "/admin/stores/first/home/figures"
	p := getPart(s.Site, figures)
	s.Want(p, http.StatusUnauthorized, "You are not signed in", `href="/admin/signin"`)
	s.SignIn("ana@staff.example")
	s.Fails = errors.New("the disk is <broken>")
	p = getPart(s.Site, figures)
	s.Want(p, http.StatusInternalServerError, "Something is wrong on our side", "Request <code>", `hx-get="`+figures+`"`)
	if strings.Contains(p.Text, "<html") || strings.Contains(p.Text, "broken") {
		t.Errorf("the part is\n%s", p.Text)
	}
	s.Want(s.Get(figures), http.StatusInternalServerError, "<html", "Go to the dashboard")
	s.Want(getPart(s.Site, figures+"?embedded=1"), http.StatusUnauthorized, "data-problem")
	s.Fails = nil
	s.Want(getPart(s.Site, figures), http.StatusOK, `id="figures"`)
}

func TestInstallingMerchantManagesUsersInPlatformsAdmin(t *testing.T) {
	s := openShell(t)
	s.Want(s.Get("/admin/stores/second/users?embedded=1&id_token=second/71"), http.StatusOK, "Invite a user", "Store user 71")
	s.Want(s.Post("/admin/stores/second/users/invite?embedded=1", "email", "x@staff.example", "role", "ADMIN", "id_token", "second/71"), http.StatusOK, `id="bring"`) // the page after it gets a token of its own
	list, err := s.Staff.Invitations(t.Context(), s.Second.ID)
	if err != nil || len(list) != 1 || list[0].Role != staff.Admin {
		t.Errorf("invitations %+v, %v", list, err)
	}
}
