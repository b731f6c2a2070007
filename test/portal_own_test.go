package test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// signIn opens the portal with a link from an e-mail and returns a shopper on the service's own address.
func (s *subscription) signIn(email string) *shopper {
	s.t.Helper()
	s.magicLink(email)
	mails, b := s.letters("kind=management_link&to="+email), &browser{T: s.t}
	if len(mails) == 0 {
		s.t.Fatalf("no link was sent to %s", email)
	}
	if status, _, _ := b.open("POST", mails[len(mails)-1].Links[0]); status != http.StatusSeeOther || len(b.cookies) != 1 {
		s.t.Fatalf("continuing answered %d with %v", status, b.cookies)
	}
	p := s.visit(0)
	p.own, p.cookie = "/p/demo/api", b.cookies[0].Name+"="+b.cookies[0].Value
	return p
}

// token returns a shopper with a portal token.
func (s *subscription) tokenOf(customer int64) *shopper {
	s.t.Helper()
	var made struct{ Token string }
	s.get(fmt.Sprintf("/customer-portal-token?customerId=%d", customer), &made)
	p := s.visit(0)
	p.own, p.headers = "/p/demo/api", map[string]string{"Authorization": "Bearer " + made.Token}
	return p
}

// The session of a link and a token open the same operations as the store's own domain, for their
// customer alone, at their store alone, for as long as they live.
func TestPortalInterfaceOpensWithLinkAndToken(t *testing.T) {
	t.Parallel()
	s := subscribeBesideOthers(t, nil)
	customer := s.payer(s.id)
	_, bobs := s.bob()
	for name, ana := range map[string]*shopper{"a session": s.signIn("ana@shopper.example"), "a token": s.tokenOf(customer)} {
		var who int64
		ana.want(200, "GET", "/logged-in-customer", nil, &who)
		if who != customer {
			t.Errorf("%s is customer %d's", name, who)
		}
		first := s.upcoming()[0]
		ana.want(200, "PUT", fmt.Sprintf("/subscription-billing-attempts/skip-order/%d", first.ID), nil, nil)
		ana.want(200, "PUT", fmt.Sprintf("/subscription-billing-attempts/unskip-order/%d", first.ID), nil, nil)
		ana.want(200, "GET", "/subscription-billing-attempts/top-orders?size=2", nil, nil)
		if link := ana.answer.Get("Link"); !strings.Contains(link, "</p/demo/api/subscription-billing-attempts/top-orders?page=0&size=2>") {
			t.Errorf("%s: links lead to %s", name, link)
		}
		ana.want(200, "PUT", "/preferences", map[string]any{"language": "de", "emails": map[string]bool{"order_skipped": false}}, nil)
		if got := ana.ask("PUT", "/preferences", map[string]any{"emails": map[string]bool{"transaction_failed": false}}, nil); got != 400 {
			t.Errorf("%s switches off what is always sent: %d", name, got)
		}
		if got := ana.ask("GET", fmt.Sprintf("/contracts/%d", bobs), nil, nil); got != 404 {
			t.Errorf("%s shows another customer's contract: %d %s", name, got, ana.text)
		}
		shops := ana.own
		ana.own = "/p/other/api"
		if got := ana.ask("GET", "/logged-in-customer", nil, nil); got != 401 || !strings.HasPrefix(ana.answer.Get("WWW-Authenticate"), "Bearer") {
			t.Errorf("%s at another store: %d %s", name, got, ana.text)
		}
		ana.own = "/p/nosuch/api"
		if got := ana.ask("GET", "/logged-in-customer", nil, nil); got != 401 {
			t.Errorf("%s at no store: %d %s", name, got, ana.text)
		}
		ana.own = "/p/demo/memberships/api"
		if got := ana.ask("GET", fmt.Sprintf("/contracts/%d", s.id), nil, nil); got != 404 {
			t.Errorf("%s on the other line: %d %s", name, got, ana.text)
		}
		ana.own = shops
		if name == "a session" {
			ana.headers = map[string]string{"Content-Type": "", "Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
			if got := ana.ask("PUT", fmt.Sprintf("/subscription-billing-attempts/skip-order/%d", first.ID), nil, nil); got != 403 || ana.key() != "crossOrigin" {
				t.Errorf("from another site: %d %s", got, ana.text)
			}
			ana.headers = nil
		}
	}
	nobody := s.visit(0)
	nobody.own = "/p/demo/api"
	if got := nobody.ask("GET", "/logged-in-customer", nil, nil); got != 401 {
		t.Errorf("signed out: %d", got)
	}
	before := len(s.letters("kind=management_link"))
	for _, email := range []string{"ana@shopper.example", "nobody@shopper.example"} {
		nobody.want(204, "POST", "/magic-link", map[string]any{"email": email}, nil)
	}
	if after := len(s.letters("kind=management_link")); after != before+1 {
		t.Errorf("%d links were sent, want one", after-before)
	}
	old := s.tokenOf(customer)
	s.pass("PT3H")
	if got := old.ask("GET", "/logged-in-customer", nil, nil); got != 401 {
		t.Errorf("a token of three hours: %d", got)
	}
	if got := s.did(0, "CUSTOMER_PORTAL"); !slices.Equal(got, []string{
		"BILLING_ATTEMPT_SKIPPED customer", "BILLING_ATTEMPT_UPDATED customer", "BILLING_ATTEMPT_SKIPPED customer", "BILLING_ATTEMPT_UPDATED customer", "SEND_SUBSCRIPTION_MANAGEMENT_LINK customer",
	}) {
		t.Errorf("in the log is %q", got)
	}
}
