package test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// mail is an e-mail that the sandbox caught.
type mail struct {
	ID, To, Kind, Subject, Text, HTML string
	At                                time.Time
	Links                             []string
}

func (s *subscription) mails(query string) []mail {
	s.t.Helper()
	var list []mail
	s.call("GET", "/mail?"+query, nil, &list)
	return list
}

// magicLink asks for a link and returns the status.
func (s *subscription) magicLink(email string) int {
	s.t.Helper()
	return s.send("GET", s.urls.Subscriptions+api+"/subscription-contracts-email-magic-link?email="+url.QueryEscape(email), s.key, nil, nil)
}

// browser is a person with cookies of their own.
type browser struct {
	*testing.T
	cookies []*http.Cookie
}

// open asks for a page and returns the status, where it leads and what it says.
func (b *browser) open(method, address string, headers ...string) (status int, to, page string) {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), method, address, nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range b.cookies {
		r.AddCookie(c)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Body.Close()
	text, err := io.ReadAll(w.Body)
	if err != nil {
		b.Fatal(err)
	}
	b.cookies = append(b.cookies, w.Cookies()...)
	return w.StatusCode, w.Header.Get("Location"), string(text)
}

const linkSent = "MERCHANT_EXTERNAL_API SEND_SUBSCRIPTION_MANAGEMENT_LINK SUCCESS"

func TestMailedLinkOpensPortalOnce(t *testing.T) {
	t.Parallel()
	s := subscribeBesideOthers(t, nil)
	if got := s.magicLink("ANA@shopper.example"); got != http.StatusOK {
		t.Fatalf("asking for a link answered %d", got)
	}
	list := s.letters("to=ana@shopper.example&kind=management_link")
	if len(list) != 1 || len(list[0].Links) == 0 || !strings.Contains(list[0].Text, list[0].Links[0]) || !strings.Contains(list[0].HTML, list[0].Links[0]) ||
		!list[0].At.Equal(s.now()) || list[0].ID == "" || list[0].Subject == "" {
		t.Fatalf("mails %+v", list)
	}
	s.wantEntries(created, linkSent)

	link := list[0].Links[0]
	ana, scanner, thief := &browser{T: t}, &browser{T: t}, &browser{T: t}
	for range 2 { // mail programs look at links before people do
		if status, _, page := scanner.open("GET", link); status != http.StatusOK || !strings.Contains(page, "Continue") {
			t.Fatalf("looking answered %d:\n%s", status, page)
		}
	}
	status, to, _ := ana.open("POST", link)
	if status != http.StatusSeeOther || to != "/p/demo" {
		t.Fatalf("continuing answered %d to %s", status, to)
	}
	home := s.urls.Subscriptions + to
	if status, _, page := ana.open("GET", home); status != http.StatusOK || !strings.Contains(page, listed(s.id)) || !strings.Contains(page, amount("25.00")) {
		t.Errorf("the list answered %d:\n%s", status, page)
	}
	if status, _, _ := thief.open("POST", link); status != http.StatusGone || len(thief.cookies) != 0 {
		t.Errorf("the second use answered %d with %v", status, thief.cookies)
	}
	if status, to, _ := scanner.open("GET", home); status != http.StatusSeeOther || to != "/p/demo/signin" {
		t.Errorf("without a session the list answered %d to %s", status, to)
	}
	if status, _, _ := ana.open("GET", s.urls.Subscriptions+"/p/other"); status != http.StatusSeeOther {
		t.Errorf("the session opens another store: %d", status)
	}
	s.pass("PT13H")
	if status, _, _ := ana.open("GET", home); status != http.StatusSeeOther {
		t.Errorf("after 13 hours without use the list answered %d", status)
	}
}

// listed is the link of a subscription on the portal's first page.
func listed(id int64) string { return fmt.Sprintf(`href="/p/demo/s/%d"`, id) }

// amount is how the portal's first page says what the next order comes to.
func amount(usd string) string { return `<p class="amount">$` + usd + "</p>" }

// What the page says of the next order is what it comes to: with its delivery, its
// discounts and what is ordered once.
func TestPortalShowsNextOrdersAmount(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"deliveryPrice": "4.90"})
	s.halfOnce()
	page := func() (int, string) {
		s.magicLink("ana@shopper.example")
		ana, mails := &browser{T: t}, s.letters("kind=management_link")
		ana.open("POST", mails[len(mails)-1].Links[0])
		status, _, page := ana.open("GET", s.urls.Subscriptions+"/p/demo")
		return status, page
	}
	said := func(when, want string) {
		t.Helper()
		status, page := page()
		if status != http.StatusOK || !strings.Contains(page, want) {
			t.Errorf("%s the page answered %d, want %q in\n%s", when, status, want, page)
		}
	}
	said("with a discount", amount("17.40"))
	said("with a discount", `<time datetime="2026-11-11">`)
	if got := s.put(oneOffPath(s.id, s.upcoming()[0].ID, 4003, ""), nil, nil); got != http.StatusOK {
		t.Fatalf("adding a one-time product answered %d", got)
	}
	said("with a one-time product", "This order only")
	var queue []struct{ OrderAmount float64 }
	s.get(fmt.Sprintf("/subscription-billing-attempts/top-orders?contractId=%d", s.id), &queue)
	next := fmt.Sprintf("%.2f", queue[0].OrderAmount)
	if next == "17.40" {
		t.Error("the one-time product costs nothing")
	}
	said("with a one-time product", amount(next))
	s.until("2026-11-12")
	s.wantAmounts(next)
	said("when the discount is used up", amount("29.90"))
	said("when the discount is used up", `<time datetime="2026-12-11">`)
	s.status(http.StatusNoContent, "PAUSED")
	if _, page := page(); strings.Contains(page, "Your next order") || strings.Contains(page, `class="amount"`) {
		t.Errorf("in a pause the page shows an order:\n%s", page)
	}
}

func TestLinkExpiresAfterTwoHours(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.magicLink("ana@shopper.example")
	var made struct {
		ManageSubscriptionLink string    `json:"manageSubscriptionLink"`
		TokenExpirationTime    time.Time `json:"tokenExpirationTime"`
	}
	s.get("/manage-subscription-link?email=ana@shopper.example", &made)
	if want := s.now().Add(2 * time.Hour); !made.TokenExpirationTime.Equal(want) {
		t.Errorf("ends %s, want %s", made.TokenExpirationTime, want)
	}
	s.pass("PT2H")
	for _, link := range []string{s.letters("")[0].Links[0], made.ManageSubscriptionLink} {
		for _, method := range []string{"GET", "POST"} {
			b := &browser{T: t}
			if status, _, page := b.open(method, link); status != http.StatusGone || len(b.cookies) != 0 || !strings.Contains(page, `name="email"`) {
				t.Errorf("%s answered %d:\n%s", method, status, page)
			}
		}
	}
}

func TestPortalTokenOpensItsCustomersList(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	bobs := s.checkout(map[string]any{"customer": map[string]any{"email": "bob@shopper.example"}})
	var made struct {
		CustomerID int64 `json:"customerId"`
		Token      string
	}
	s.get("/customer-portal-token?email=bob@shopper.example", &made)
	var again struct{ Token string }
	s.get(fmt.Sprintf("/customer-portal-token?customerId=%d", made.CustomerID), &again)
	for _, token := range []string{made.Token, again.Token} {
		status, _, page := (&browser{T: t}).open("GET", s.urls.Subscriptions+"/p/demo", "Authorization", "Bearer "+token)
		if status != http.StatusOK || !strings.Contains(page, listed(bobs)) || strings.Contains(page, listed(s.id)) {
			t.Errorf("answered %d:\n%s", status, page)
		}
	}
	s.pass("PT2H")
	if status, _, _ := (&browser{T: t}).open("GET", s.urls.Subscriptions+"/p/demo", "Authorization", "Bearer "+made.Token); status != http.StatusSeeOther {
		t.Errorf("after two hours: %d", status)
	}
}

func TestRefusedLinksAreNotMailed(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	for _, email := range []string{"eve@shopper.example", "ana", "ana@shopper.example\r\nBcc: eve@shopper.example", ""} {
		if got := s.magicLink(email); got != http.StatusBadRequest {
			t.Errorf("%q answered %d", email, got)
		}
	}
	if list := s.letters(""); len(list) != 0 {
		t.Errorf("mails %+v", list)
	}
	for n := range 6 {
		want := http.StatusOK
		if n == 5 {
			want = http.StatusTooManyRequests
		}
		if got := s.magicLink("ana@shopper.example"); got != want {
			t.Errorf("request %d answered %d, want %d", n+1, got, want)
		}
	}
	if list := s.letters(""); len(list) != 5 {
		t.Errorf("%d mails", len(list))
	}
	s.wantEntries(created, linkSent, linkSent, linkSent, linkSent, linkSent)
}

func TestMailsAreCountedAndRestoredWithSnapshot(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.magicLink("ana@shopper.example")
	before := s.letters("")
	var kept struct{ ID string }
	s.call("POST", "/snapshot", nil, &kept)
	s.magicLink("ana@shopper.example")
	if n := len(s.letters("")); n != 2 {
		t.Fatalf("%d mails", n)
	}
	s.call("POST", "/restore", kept, nil)
	if after := s.letters(""); len(after) != 1 || after[0].ID != before[0].ID {
		t.Errorf("after the restore: %+v", after)
	}
	s.magicLink("ana@shopper.example")
	s.letters("")
	var report struct{ Mails int }
	s.call("POST", "/clock", map[string]string{"advance": "PT1H"}, &report)
	if report.Mails != 0 || len(s.letters("")) != 2 {
		t.Errorf("%d mails while nothing was due, %d in all", report.Mails, len(s.letters("")))
	}
	s.call("POST", "/reset", nil, nil)
	if list := s.letters(""); len(list) != 0 {
		t.Errorf("after a reset: %+v", list)
	}
}
