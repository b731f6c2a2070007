package test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// textMessage is an SMS that the sandbox caught.
type textMessage struct {
	To, From, Text, Kind string
	Segments             int
	At                   time.Time
	Links                []string
}

// texts returns the SMS that were caught.
func (s *subscription) texts() (list []textMessage) {
	s.t.Helper()
	s.call("GET", "/sms", nil, &list)
	return list
}

// wantTexts asserts the exact list of SMS, each as "day hour kind".
func (s *subscription) wantTexts(want ...string) {
	s.t.Helper()
	zone := newYork(s.t)
	var got []string
	for _, m := range s.texts() {
		got = append(got, strings.TrimSpace(m.At.In(zone).Format("Jan 2 15h ")+m.Kind))
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("SMS:\n%s\nwant:\n%s", lines(got), lines(want))
	}
}

// answers writes an SMS and returns the reply.
func (s *subscription) answers(from, text string) string {
	s.t.Helper()
	var got struct{ Reply string }
	s.call("POST", "/sms", map[string]any{"from": from, "text": text}, &got)
	return got.Reply
}

// reminded returns the field about the SMS before the order that comes next.
func (s *subscription) reminded() string {
	s.t.Helper()
	var orders []struct {
		Upcoming string `json:"upcomingOrderSmsSentStatus"`
	}
	s.get(fmt.Sprintf("/subscription-billing-attempts/top-orders?contractId=%d", s.id), &orders)
	return orders[0].Upcoming
}

// smsFields returns the fields about SMS of the contract, and of an order.
func (s *subscription) smsFields(order int64) string {
	s.t.Helper()
	var rows []struct {
		Created string `json:"subscriptionCreatedSmsSentStatus"`
	}
	s.get(fmt.Sprintf("/subscription-contract-details?subscriptionContractId=%d", s.id), &rows)
	is := s.attemptRead(order)
	return fmt.Sprint(rows[0].Created, " ", is["upcomingOrderSmsSentStatus"], " ", is["transactionFailedSmsSentStatus"])
}

const anasPhone = "+16135550101"

// agrees lets Ana agree to SMS to a number in the portal.
func (s *subscription) agrees(phone string) {
	s.t.Helper()
	var got struct {
		SMS struct {
			Offered, Agreed bool
			Phone           string
			Since           time.Time
		}
	}
	ana := s.visit(s.customerOf(s.id))
	ana.want(http.StatusOK, "PUT", "/preferences", map[string]any{"sms": map[string]any{"agreed": true, "phone": phone}}, &got)
	if !got.SMS.Agreed || !got.SMS.Offered || got.SMS.Phone != phone || !got.SMS.Since.Equal(s.now()) {
		s.t.Errorf("the portal says %+v", got.SMS)
	}
}

// customerOf returns the customer of a contract.
func (s *subscription) customerOf(contract int64) int64 {
	s.t.Helper()
	var c struct{ Customer struct{ ID int64 } }
	s.call("GET", fmt.Sprintf("/platform/contracts/%d", contract), nil, &c)
	return c.Customer.ID
}

func TestSMSGoToCustomersWhoAgree(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.wantTexts() // off by default
	s.call("POST", "/settings", map[string]any{"enabledSms": []string{"upcoming_order", "transaction_failed"}}, nil)
	first := s.upcoming()[0].ID
	s.pass("P8D") // the reminder falls due, and Ana has not agreed
	s.wantTexts()
	if got := s.smsFields(first); got != "SMS_SETTINGS_DISABLED PHONE_NUMBER_EMPTY UNSENT" {
		t.Errorf("without a consent: %s", got)
	}
	s.agrees(anasPhone)
	s.declines("INSUFFICIENT_FUNDS", 1)
	s.pass("P3D")
	if got := s.texts(); len(got) != 1 {
		t.Fatalf("the decline is reported by %+v", got)
	}
	m := s.texts()[0]
	if m.To != anasPhone || m.Kind != "transaction_failed" || m.Segments != 1 || !strings.Contains(m.Text, "we could not charge $25.00") || len(m.Links) != 1 || !strings.Contains(m.Links[0], "/p/demo/s/") {
		t.Errorf("it says %+v", m)
	}
	if hour := m.At.In(newYork(t)).Hour(); hour < 9 || hour >= 20 {
		t.Errorf("sent at %s", m.At.In(newYork(t)))
	}
	if got := s.smsFields(first); got != "SMS_SETTINGS_DISABLED PHONE_NUMBER_EMPTY SENT" {
		t.Errorf("after the decline: %s", got)
	}
	s.pass("P28D") // the order is paid by a retry, and the next one announced
	s.wantTexts("Nov 11 09h transaction_failed", "Dec 8 09h upcoming_order")
	if got := s.reminded(); got != "SENT" {
		t.Errorf("after the reminder: %s", got)
	}
	texts := s.texts()
	if last := texts[len(texts)-1]; last.Kind != "upcoming_order" || !strings.Contains(last.Text, "your order of $25.00 comes on") || strings.Count(last.Text, "http") != 1 {
		t.Errorf("the reminder says %+v", last)
	}

	if reply := s.answers(anasPhone, "help"); !strings.Contains(reply, "Reply STOP to end") {
		t.Errorf("HELP is answered %q", reply)
	}
	if reply := s.answers(anasPhone, "Thanks!"); reply != "" {
		t.Errorf("another text is answered %q", reply)
	}
	if reply := s.answers("+16135559999", "STOP"); reply != "" {
		t.Errorf("a stranger is answered %q", reply)
	}
	if reply := s.answers(anasPhone, "Stop"); !strings.Contains(reply, "no more SMS") {
		t.Errorf("STOP is answered %q", reply)
	}
	before := len(s.texts())
	s.pass("P31D")
	if n := len(s.texts()); n != before {
		t.Errorf("%d SMS after STOP", n-before)
	}
	if got := s.reminded(); got != "STOP_FROM_CONTRACT" {
		t.Errorf("after STOP: %s", got)
	}
	if reply := s.answers(anasPhone, "START"); !strings.Contains(reply, "you get SMS") {
		t.Errorf("START is answered %q", reply)
	}
	s.pass("P31D")
	if texts := s.texts(); texts[len(texts)-1].Kind != "upcoming_order" {
		t.Error("no SMS after START")
	}
}

func TestSMSProviderRefusesNumbersAndHangs(t *testing.T) {
	t.Parallel()
	s := subscribeChecked(t, nil)
	s.call("POST", "/settings", map[string]any{"enabledSms": []string{"upcoming_order"}}, nil)
	s.agrees("+15005550009") // no mobile number
	s.pass("P9D")
	if got := s.reminded(); got != "FAILED" {
		t.Errorf("a refused number: %s", got)
	}
	s.agrees("+15005550050") // taken, and never delivered
	s.pass("P31D")
	if got := s.reminded(); got != "FAILED" {
		t.Errorf("an SMS that is not delivered: %s", got)
	}
	s.agrees("+15005550004") // has answered STOP to the provider
	s.pass("P31D")
	if got := s.reminded(); got != "FAILED" {
		t.Errorf("a number that has answered STOP: %s", got)
	}
	var is struct{ SMS struct{ Agreed bool } }
	s.visit(s.customerOf(s.id)).want(http.StatusOK, "GET", "/preferences", nil, &is)
	if is.SMS.Agreed {
		t.Error("the consent for a number that has answered STOP holds")
	}

	s.agrees(anasPhone)
	s.call("POST", "/sms/faults", map[string]any{"hang": 2}, nil)
	before := len(s.texts())
	s.pass("P31D")
	if got, n := s.reminded(), len(s.texts())-before; got != "SENT" || n != 1 {
		t.Errorf("a provider that hangs twice: %s with %d SMS", got, n)
	}
	if got := s.request("POST", s.urls.Control+"/settings", map[string]any{"enabledSms": []string{"canceled"}}); got.status != http.StatusBadRequest || got.errorKey() != "smsKind" {
		t.Errorf("a kind without an SMS: %d %s", got.status, got.errorKey())
	}
}
