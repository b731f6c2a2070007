package test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// notice is what a story looks at in a message of the interface.
type notice struct {
	ID         int64
	Kind       string
	Channel    string
	Recipient  *string
	ContractID *int64
	Status     string
	Reason     *string
	SentAt     *time.Time
}

// notices returns the messages that a query selects, newest first.
func (s *subscription) notices(query string) (list []notice) {
	s.t.Helper()
	s.get("/notifications?"+query, &list)
	return list
}

// wantNotices asserts the exact list of messages, each as "kind STATUS".
func (s *subscription) wantNotices(query string, want ...string) {
	s.t.Helper()
	var got []string
	for _, n := range s.notices(query) {
		got = append(got, n.Kind+" "+n.Status)
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("messages of %q:\n%s\nwant:\n%s", query, lines(got), lines(want))
	}
}

func TestIntegrationReadsMessagesAndSendsOneAgain(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"customer": map[string]any{"email": "ana@refused.example"}})
	s.pass("PT1M")
	s.wantNotices("", "subscription_created FAILED")
	failed := s.notices("")[0]
	if failed.Channel != "mail" || failed.Recipient == nil || *failed.Recipient != "ana@refused.example" || failed.ContractID == nil || *failed.ContractID != s.id ||
		failed.Reason == nil || !strings.Contains(*failed.Reason, "refused by the simulated mail server") || failed.SentAt != nil {
		t.Errorf("it says %+v", failed)
	}
	s.wantNotices("status=SENT")
	s.wantNotices(fmt.Sprintf("contractId=%d&kind=subscription_created&status=failed", s.id), "subscription_created FAILED")
	s.wantNotices(fmt.Sprintf("contractId=%d", s.id+1))
	var again notice
	resend := fmt.Sprintf("/notifications/%d/resend", failed.ID)
	s.demand("POST", resend, s.key, nil).into(t, &again)
	if again.ID == failed.ID || again.Status != "QUEUED" || again.Kind != failed.Kind {
		t.Errorf("sent again is %+v", again)
	}
	s.pass("PT1M")
	s.wantNotices("", "subscription_created FAILED", "subscription_created FAILED")

	bob := fmt.Sprintf("contractId=%d", s.checkout(map[string]any{"customer": map[string]any{"email": "bob@shopper.example"}}))
	s.pass("PT1M")
	s.wantNotices(bob, "subscription_created SENT")
	want(t, s.demand("POST", fmt.Sprintf("/notifications/%d/resend", s.notices(bob)[0].ID), s.key, nil), http.StatusBadRequest, "notificationNotFailed")

	var other struct{ APIKey string }
	s.call("POST", "/platform/shops", map[string]any{"domain": "second.myshopify.com", "ianaTimeZone": "Europe/Paris", "currencyCode": "EUR"}, &other)
	want(t, s.demand("POST", resend, other.APIKey, nil), http.StatusNotFound, "notificationNotFound")
	if a := s.demand("GET", "/notifications", other.APIKey, nil); a.status != http.StatusOK || strings.TrimSpace(string(a.body)) != "[]" {
		t.Errorf("the other store is shown %d %s", a.status, a.body)
	}
	var narrow keyView
	s.demand("POST", "/api-keys", s.key, map[string]any{"name": "Reader", "scopes": []string{"contracts:read"}}).into(t, &narrow)
	want(t, s.demand("GET", "/notifications", narrow.APIKey, nil), http.StatusOK, "")
	want(t, s.demand("POST", resend, narrow.APIKey, nil), http.StatusForbidden, "insufficientScope")
}

func TestIntegrationChoosesMailsOfACustomer(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.call("POST", "/settings", map[string]any{"enabledSms": []string{"transaction_failed"}}, nil)
	ana := s.customerOf(s.id)
	path := fmt.Sprintf("/notification-preferences/%d", ana)
	type preferences struct {
		Emails  map[string]bool
		Version int64
		SMS     struct{ Agreed bool }
	}
	var is preferences
	s.get(path, &is)
	if !is.Emails["upcoming_order"] || is.Version != 0 || is.SMS.Agreed {
		t.Errorf("before: %+v", is)
	}
	s.agrees(anasPhone)
	s.demand("PUT", path, s.key, map[string]any{"emails": map[string]any{"upcoming_order": false}, "sms": map[string]any{"agreed": false}}).into(t, &is)
	if is.Emails["upcoming_order"] || !is.Emails["paused"] || is.Version != 2 || !is.SMS.Agreed {
		t.Errorf("after: %+v", is)
	}
	s.pass("P8D") // the order would be announced
	s.wantNotices("", "upcoming_order SUPPRESSED", "subscription_created SENT")
	if n := s.notices("status=SUPPRESSED"); len(n) != 1 || n[0].Reason == nil || !strings.Contains(*n[0].Reason, "does not want") {
		t.Errorf("suppressed are %+v", n)
	}
	want(t, s.demand("PUT", path, s.key, map[string]any{"emails": map[string]any{"transaction_failed": false}}), http.StatusBadRequest, "bodyField")
	want(t, s.demand("PUT", path, s.key, map[string]any{"emails": map[string]any{"paused": false}, "version": 7}), http.StatusConflict, "changedMeanwhile")
	want(t, s.demand("GET", "/notification-preferences/4711", s.key, nil), http.StatusNotFound, "customerNotFound")
	var other struct{ APIKey string }
	s.call("POST", "/platform/shops", map[string]any{"domain": "second.myshopify.com", "ianaTimeZone": "Europe/Paris", "currencyCode": "EUR"}, &other)
	want(t, s.demand("GET", path, other.APIKey, nil), http.StatusNotFound, "customerNotFound")
	want(t, s.demand("PUT", path, other.APIKey, map[string]any{"emails": map[string]any{"paused": false}}), http.StatusNotFound, "customerNotFound")
}
