package roomtest_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/web/portal/portaltest"
)

// linkFor returns the path of a new link for Maya.
func linkFor(t *testing.T, s *portaltest.Site) string {
	t.Helper()
	made, err := s.Login.NewLink(t.Context(), s.First.ID, login.CustomerRef{Customer: portaltest.Maya})
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(made.Value, s.Login.PublicURL)
}

func TestLinkSignsInOnce(t *testing.T) {
	t.Parallel()
	s, _ := openProxied(t)
	link := linkFor(t, s)
	for range 2 { // programs that scan mail follow links
		s.Want(s.Get(link), http.StatusOK, "Continue to your subscriptions")
	}
	s.Want(s.Post(link), http.StatusOK, "Hello, Maya", "Signed in as maya@shopper.example.")
	s.Want(s.Get(link), http.StatusGone, "This link was used already.", `name="email"`)
	s.Want(s.Post(link), http.StatusGone, "This link was used already.")
	if strings.Contains(s.Log.String(), link[strings.LastIndexByte(link, '/')+1:]) {
		t.Error("the log has the secret of the link")
	}
}

func TestLinkThatOpensNothingLeadsToForm(t *testing.T) {
	t.Parallel()
	s, _ := openProxied(t)
	link := linkFor(t, s)
	s.Clock.Set(portaltest.Now.Add(login.LinkLife))
	s.Want(s.Get(link), http.StatusGone, "This link has expired.", `name="email"`)
	s.Want(s.Get(portaltest.At+"/l/nothing"), http.StatusNotFound, "This link doesn’t work.", `name="email"`)
	s.Want(s.Get("/p/second"+strings.TrimPrefix(linkFor(t, s), portaltest.At)), http.StatusNotFound, "This link doesn’t work.")
}

func TestVisitorComesBackToScreenTheyWanted(t *testing.T) {
	t.Parallel()
	s, _ := openProxied(t)
	if p := s.Get(portaltest.At + "/form"); p.Path != portaltest.At+"/signin" || p.Status != http.StatusOK {
		t.Fatalf("without a session the page is %d %s", p.Status, p.Path)
	}
	if p := s.Post(linkFor(t, s)); p.Path != portaltest.At+"/form" {
		t.Errorf("after the sign-in the page is %s", p.Path)
	}
	if p := s.Post(linkFor(t, s)); p.Path != portaltest.At {
		t.Errorf("after the next sign-in the page is %s", p.Path)
	}
}

func TestFormForLinkAnswersAlike(t *testing.T) {
	t.Parallel()
	s, _ := openProxied(t)
	known := s.Post(portaltest.At+"/signin", "email", " maya@shopper.example ")
	s.Want(known, http.StatusOK, "Check your e-mail", "If maya@shopper.example has a subscription, we have sent a link. It works once, for 120 minutes.", "Send it again", "Use another address")
	unknown := s.Post(portaltest.At+"/signin", "email", "nobody@shopper.example")
	if strings.ReplaceAll(unknown.Text, "nobody@", "maya@") != known.Text {
		t.Errorf("an unknown address is answered otherwise:\n%s\n%s", known.Text, unknown.Text)
	}
	s.Want(s.Post(portaltest.At+"/signin", "email", "<b>maya"), http.StatusUnprocessableEntity, "Enter an e-mail address, such as name@example.com.", `value="&lt;b&gt;maya"`, `aria-invalid="true"`)
	for range 30 {
		s.Post(portaltest.At+"/signin", "email", "maya@shopper.example")
	}
	p := s.Post(portaltest.At+"/signin", "email", "maya@shopper.example")
	s.Want(p, http.StatusTooManyRequests, "That was tried too often. Try again in 60 minutes.", `value="maya@shopper.example"`)
	if p.Header.Get("Retry-After") == "" {
		t.Error("the answer does not say when to come again")
	}
}

func TestFormOnOwnDomainMustBeOurs(t *testing.T) {
	t.Parallel()
	s, room := openProxied(t)
	s.SignIn(portaltest.Maya)
	token := hiddenField(t, s.Get(portaltest.At+"/form"), "token")
	s.Want(s.Post(portaltest.At+"/form"), http.StatusForbidden)
	req := s.Request(http.MethodPost, s.Own.URL+portaltest.At+"/form", "token", token)
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	s.Want(s.Do(req), http.StatusForbidden)
	if room.times != 0 {
		t.Fatalf("%d forms were carried out", room.times)
	}
	s.Want(s.Post(portaltest.At+"/form", "token", token), http.StatusOK)
	if room.times != 1 {
		t.Errorf("%d forms were carried out", room.times)
	}
}

func TestSessionEnds(t *testing.T) {
	t.Parallel()
	s, _ := openProxied(t)
	s.SignIn(portaltest.Maya)
	if p := s.Post(portaltest.At + "/signout"); p.Path != portaltest.At+"/signin" {
		t.Errorf("signing out leads to %s", p.Path)
	}
	if p := s.Get(portaltest.At); p.Path != portaltest.At+"/signin" {
		t.Errorf("after that the first screen is %s", p.Path)
	}
	s.SignIn(portaltest.Maya)
	s.Clock.Set(portaltest.Now.Add(13 * time.Hour))
	if p := s.Get(portaltest.At); p.Path != portaltest.At+"/signin" {
		t.Errorf("after 13 hours the first screen is %s", p.Path)
	}
	s.SignIn(portaltest.Maya)
	if p := s.Get("/p/second"); p.Path != "/p/second/signin" {
		t.Errorf("at another store the first screen is %s", p.Path)
	}
}

func TestSupportSessionIsMarked(t *testing.T) {
	t.Parallel()
	s, _ := openProxied(t)
	made, err := s.Login.OpenAs(t.Context(), s.First.ID, 1, portaltest.Maya, activity.Actor{Source: activity.MerchantPortal, By: "ana@staff.example"})
	if err != nil {
		t.Fatal(err)
	}
	s.Want(s.Post(strings.TrimPrefix(made.Value, s.Login.PublicURL)), http.StatusOK, "Support session of ana@staff.example, until 04:30 PST.", "Hello, Maya")
	s.Clock.Set(portaltest.Now.Add(login.SupportLife))
	if p := s.Get(portaltest.At); p.Path != portaltest.At+"/signin" {
		t.Errorf("after half an hour the first screen is %s", p.Path)
	}
}

func TestTokenOfServerOpensPages(t *testing.T) {
	t.Parallel()
	s, _ := openProxied(t)
	made, err := s.Login.NewToken(t.Context(), s.First.ID, login.CustomerRef{Customer: portaltest.Maya})
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]string{portaltest.At: portaltest.At, "/p/second": "/p/second/signin"} {
		req := s.Request(http.MethodGet, s.Own.URL+at)
		req.Header.Set("Authorization", "Bearer "+made.Value)
		if p := s.Do(req); p.Path != want {
			t.Errorf("%s leads to %s, want %s", at, p.Path, want)
		}
	}
}

func TestCustomerWithoutSubscriptionsIsShownTheStore(t *testing.T) {
	t.Parallel()
	s, _ := openProxied(t)
	p := s.Through(portaltest.Noah, "", nil)
	s.Want(p, http.StatusOK, "You have no subscriptions yet", `href="https://first.myshopify.com/"`)
}

// What customers, merchants and other stores have stored is text, wherever it is shown.
func TestStoredTextIsNeitherLiquidNorHTML(t *testing.T) {
	t.Parallel()
	s, _ := openProxied(t)
	const canary = `{{ shop.secret }}<script>alert(1)</script>"'><img src=x>`
	c := portaltest.Subscription(2)
	c.Customer.FirstName, c.Customer.Name, c.Note, c.Customer.ID = canary, canary, canary, portaltest.Noah
	c.Lines[0].Title, c.Lines[0].VariantTitle, c.Lines[0].Image, c.Card.Brand = canary, canary, "javascript:alert(1)", canary
	c.Discounts = []contract.Discount{{ID: "d", Code: canary, Percent: 10, AllLines: true}}
	s.Put(s.First, []contract.Contract{c}, portaltest.Orders(2, 3)...)
	for name, p := range map[string]portaltest.Page{"page": s.Through(portaltest.Noah, "", nil), "part": s.Through(portaltest.Noah, "", url.Values{"part": {"1"}})} {
		if p.Status != http.StatusOK || strings.Contains(p.Text, "<script>alert") || strings.Contains(p.Text, "<img src=x>") || strings.Contains(p.Text, "javascript:") {
			t.Errorf("the %s has the canary as HTML:\n%s", name, p.Text)
		}
		if !strings.Contains(p.Text, "&lt;script&gt;") {
			t.Errorf("the %s does not show the canary:\n%s", name, p.Text)
		}
		if strings.HasPrefix(p.Header.Get("Content-Type"), "application/liquid") {
			t.Errorf("the %s is Liquid", name)
		}
	}
}

func TestLanguageIsReaders(t *testing.T) {
	t.Parallel()
	s, _ := openProxied(t)
	p := s.Through(portaltest.Maya, "", url.Values{"locale": {"en"}})
	s.Want(p, http.StatusOK, `<html lang="en" dir="ltr">`, `href="/apps/subscriptions/cp/s/1?locale=en"`)
	if p.Header.Get("Content-Language") != "en" {
		t.Errorf("the header says %q", p.Header.Get("Content-Language"))
	}
}

// What a page needs fits its budget.
func TestFilesOfPagesFitTheirBudget(t *testing.T) {
	t.Parallel()
	s, _ := openProxied(t)
	page := s.Through(portaltest.Maya, "", nil)
	for kind, most := range map[string]int{"css": 12 << 10, "js": 45 << 10} {
		_, rest, _ := strings.Cut(page.Text, "/apps/subscriptions/cp/assets/")
		for !strings.HasPrefix(rest[16:], "."+kind) {
			_, rest, _ = strings.Cut(rest, "/apps/subscriptions/cp/assets/")
		}
		name := rest[:16] + "." + kind
		file := s.Do(s.Request(http.MethodGet, s.Store.URL+portaltest.Proxied+"/assets/"+name))
		if file.Status != http.StatusOK || len(file.Text) > most || len(file.Text) < 1000 || !strings.Contains(file.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d, %d bytes, at most %d are allowed; %s", name, file.Status, len(file.Text), most, file.Header.Get("Cache-Control"))
		}
	}
	policy := page.Header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "form-action 'self'", "base-uri 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy lacks %q: %s", want, policy)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %s", policy)
	}
}
