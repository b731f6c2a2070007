package roomtest_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/web/portal/portaltest"
)

// accountFields are the unseen fields of the platform's page.
var accountFields = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)

// pickAccount chooses Maya on the platform's page, and returns the address to which the browser goes.
func pickAccount(t *testing.T, s *portaltest.Site, platform string, p portaltest.Page) string {
	t.Helper()
	s.Want(p, http.StatusOK, "Sign in to first.myshopify.com", "Maya Okafor")
	form := url.Values{"customer": {"7001"}}
	for _, field := range accountFields.FindAllStringSubmatch(p.Text, -1) {
		form.Set(field[1], strings.NewReplacer("&#43;", "+", "&amp;", "&").Replace(field[2]))
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.PostForm(platform+strings.SplitN(p.Path, "?", 2)[0], form)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	to := answer.Header.Get("Location")
	if !strings.HasPrefix(to, s.Own.URL+portaltest.At+login.AccountReturnPath+"?") {
		t.Fatalf("the platform answers %d and sends the browser to %q", answer.StatusCode, to)
	}
	return strings.TrimPrefix(to, s.Own.URL)
}

func TestAccountIsOfferedWhereItIsSet(t *testing.T) {
	t.Parallel()
	s, _ := openProxied(t)
	s.Want(s.Get(portaltest.At+"/signin"), http.StatusOK, `name="email"`)
	if p := s.Get(portaltest.At + "/signin"); strings.Contains(p.Text, "signin/account") {
		t.Error("a store without customer accounts offers them")
	}
	s.Want(s.Get(portaltest.At+"/signin/account"), http.StatusConflict, "This store doesn’t offer that.", `name="email"`)
	s.Want(s.Get(portaltest.At+login.AccountReturnPath), http.StatusNotFound, "This sign-in is not known here.", `name="email"`)
	s.OpenAccounts()
	s.Want(s.Get(portaltest.At+"/signin"), http.StatusOK, `name="email"`, `href="/p/first/signin/account"`, "Sign in with your store account")
	s.Want(s.Get("/p/second/signin/account"), http.StatusConflict, "This store doesn’t offer that.")
}

func TestAccountLeadsToScreenThatWasWanted(t *testing.T) {
	t.Parallel()
	s, _ := openProxied(t)
	_, platform := s.OpenAccounts()
	if p := s.Get(portaltest.At + "/form"); p.Path != portaltest.At+"/signin" {
		t.Fatalf("without a session the page is %s", p.Path)
	}
	to := pickAccount(t, s, platform.URL, s.Get(portaltest.At+"/signin/account"))
	if p := s.Get(to); p.Status != http.StatusOK || p.Path != portaltest.At+"/form" {
		t.Errorf("the sign-in leads to %d %s", p.Status, p.Path)
	}
	s.Want(s.Get(portaltest.At), http.StatusOK, "Hello, Maya")
	s.Want(s.Get(to), http.StatusConflict, "This sign-in was used already.")
	s.Want(s.Get(portaltest.At), http.StatusOK, "Hello, Maya")

	out := s.Post(portaltest.At + "/signout")
	s.Want(out, http.StatusOK, "You are signed out here", "/logout?id_token_hint=", `href="/p/first/signin"`)
	if p := s.Get(portaltest.At); p.Path != portaltest.At+"/signin" {
		t.Errorf("after signing out the first screen is %s", p.Path)
	}
	log, query := s.Log.String(), strings.SplitN(to, "?", 2)[1]
	given, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range given {
		if strings.Contains(log, values[0]) {
			t.Errorf("the log has the %s of the sign-in", name)
		}
	}
	if strings.Contains(log, "eyJ") {
		t.Error("the log has a token")
	}
}

func TestSignInThatDoesNotEndWellSignsNobodyIn(t *testing.T) {
	t.Parallel()
	s, _ := openProxied(t)
	_, platform := s.OpenAccounts()
	with := func(to, name, value string) string {
		at, err := url.Parse(to)
		if err != nil {
			t.Fatal(err)
		}
		q := at.Query()
		q.Set(name, value)
		if name == "error" {
			q.Del("code")
		}
		at.RawQuery = q.Encode()
		return at.String()
	}
	begin := func() string { return pickAccount(t, s, platform.URL, s.Get(portaltest.At+"/signin/account")) }
	s.Want(s.Get(with(begin(), "error", "access_denied")), http.StatusConflict, "You didn’t sign in with your store account.", `name="email"`)
	s.Want(s.Get(with(begin(), "code", "other")), http.StatusConflict, "The store didn’t confirm who you are.")
	s.Want(s.Get(with(begin(), "state", strings.Repeat("A", 43))), http.StatusNotFound, "This sign-in is not known here.")
	s.Want(s.Get("/p/second"+strings.TrimPrefix(begin(), portaltest.At)), http.StatusNotFound, "This sign-in is not known here.")
	late := begin()
	s.Clock.Set(portaltest.Now.Add(login.AccountLife))
	s.Want(s.Get(late), http.StatusConflict, "That took too long.")
	s.Clock.Set(portaltest.Now)
	elsewhere := begin()
	jar := s.Browser.Jar
	s.Browser.Jar = nil
	s.Want(s.Get(elsewhere), http.StatusConflict, "You began to sign in in another browser.")
	s.Browser.Jar = jar
	waiting := begin()
	platform.Close()
	s.Want(s.Get(waiting), http.StatusServiceUnavailable, "The store’s sign-in doesn’t answer just now.", `name="email"`)
	if p := s.Get(portaltest.At); p.Path != portaltest.At+"/signin" {
		t.Errorf("a customer is signed in: %s", p.Path)
	}
	s.Clock.Set(portaltest.Now.Add(time.Hour))
	s.Want(s.Get(portaltest.At+"/signin/account"), http.StatusServiceUnavailable, "The store’s sign-in doesn’t answer just now.")
}
