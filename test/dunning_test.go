package test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// declines orders the next charges of the contract to be declined.
func (s *subscription) declines(code string, n int) {
	s.t.Helper()
	for range n {
		s.call("POST", "/platform/outcomes", map[string]any{"contractId": s.id, "code": code}, nil)
	}
}

// settings changes settings of the store.
func (s *subscription) settings(dunning map[string]any) {
	s.t.Helper()
	s.call("POST", "/settings", map[string]any{"dunning": dunning}, nil)
	s.begin()
}

// begin leaves out of the story what the log says so far.
func (s *subscription) begin() {
	s.t.Helper()
	var last []struct{ ID int64 }
	s.get("/activity-logs?size=1&sort=id,desc", &last)
	s.log = last[0].ID
}

// trigger asks for an attempt to be charged now.
func (s *subscription) trigger(id int64) int {
	s.t.Helper()
	return s.put(fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", id), nil, nil)
}

// wantStory asserts the exact list of entries since the story began, each as "day
// event status", with the store's days.
func (s *subscription) wantStory(want ...string) {
	s.t.Helper()
	var list []struct {
		EventType, Status string
		CreateAt          time.Time `json:"createAt"`
	}
	s.get(fmt.Sprintf("/activity-logs?size=100&sort=id,asc&id.greaterThan=%d", s.log), &list)
	zone := newYork(s.t)
	var got []string
	for _, e := range list {
		if beside(e.EventType) {
			continue
		}
		got = append(got, e.CreateAt.In(zone).Format("Jan 2")+" "+e.EventType+" "+e.Status)
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("entries:\n%s\nwant:\n%s", lines(got), lines(want))
	}
}

// wantMails asserts the exact list of e-mails, each as "day kind".
func (s *subscription) wantMails(want ...string) {
	s.t.Helper()
	zone := newYork(s.t)
	var got []string
	for _, m := range s.letters("") {
		got = append(got, m.At.In(zone).Format("Jan 2")+" "+m.Kind)
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("e-mails:\n%s\nwant:\n%s", lines(got), lines(want))
	}
}

// wantTries asserts the days on which the platform was asked for charges, and the
// hour of each.
func (s *subscription) wantTries(want ...string) {
	s.t.Helper()
	zone := newYork(s.t)
	var got []string
	keys := make(map[string]bool)
	for _, a := range s.contract(s.id).Attempts {
		at := a.CreatedAt.In(zone)
		got = append(got, fmt.Sprintf("%s %d", at.Format("Jan 2 15h"), a.Cycle))
		keys[a.Key] = true
	}
	if !slices.Equal(got, want) || len(keys) != len(got) {
		s.t.Errorf("tries under %d keys:\n%s\nwant:\n%s", len(keys), lines(got), lines(want))
	}
}

// wantOrders asserts the cycles that have an order, and that each has exactly one.
func (s *subscription) wantOrders(cycles ...int) {
	s.t.Helper()
	var got []int
	for _, o := range s.orders() {
		got = append(got, o.Cycle)
	}
	if !slices.Equal(got, cycles) {
		s.t.Errorf("orders of the cycles %v, want %v", got, cycles)
	}
}

// Entries of the log, without their days.
const (
	decline    = "BILLING_ATTEMPT_TRIGGERED FAILURE"
	paid       = "BILLING_ATTEMPT_TRIGGERED SUCCESS"
	byHand     = "BILLING_ATTEMPT_TRIGGERED INFO"
	mailed     = "SEND_TRANSACTION_FAILED_EMAIL SUCCESS"
	mailedAuth = "SEND_SECURITY_CHALLENGE_EMAIL SUCCESS"
	warned     = "SEND_SUSPENSION_WARNING_EMAIL SUCCESS"
	mailedEnd  = "SEND_SUSPENSION_EMAIL SUCCESS"
	staff      = "BILLING_ATTEMPT_NOTIFICATION FAILURE"
	left       = "DUNNING_ATTEMPT_SKIPPED SKIPPED"
)

// standing is what a contract's row says of its unpaid order.
type standing struct {
	State, Class, ErrorCode, FinalAction string
	Cycle, Tries                         int
	NextRetryAt, EndsAt                  *time.Time
}

func (s *subscription) standing() *standing {
	s.t.Helper()
	var list []struct {
		Dunning bool
		State   *standing `json:"dunningState"`
	}
	s.get(fmt.Sprintf("/subscription-contract-details?subscriptionContractId=%d", s.id), &list)
	if list[0].Dunning != (list[0].State != nil) {
		s.t.Errorf("dunning is %v with the state %+v", list[0].Dunning, list[0].State)
	}
	return list[0].State
}

func TestInsufficientFundsAreRetriedOnPaydaysThenPause(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.begin()
	s.declines("INSUFFICIENT_FUNDS", 7)
	s.pass("P13D")
	if d := s.standing(); d == nil || d.State != "OPEN" || d.Class != "FUNDS" || d.Tries != 2 || d.NextRetryAt == nil || d.FinalAction != "PAUSE" {
		t.Errorf("the contract shows %+v", d)
	}
	if past := s.past(); past[0].Status != "FAILURE" || past[0].AttemptCount != 2 {
		t.Errorf("past %+v", past)
	}
	s.pass("P39D")
	s.wantStory(
		"Nov 11 "+decline, "Nov 11 "+mailed, "Nov 13 "+decline, "Nov 15 "+decline, "Nov 18 "+mailed, "Nov 20 "+decline, "Nov 21 "+decline,
		"Nov 25 "+mailed, "Nov 27 "+decline, "Nov 29 "+warned, "Dec 1 "+decline, "Dec 1 DUNNING_PAUSED SUCCESS", "Dec 1 CONTRACT_PAUSED SUCCESS", "Dec 1 "+mailedEnd,
	)
	s.wantMails("Nov 11 transaction_failed", "Nov 18 transaction_failed", "Nov 25 transaction_failed", "Nov 29 suspension_warning", "Dec 1 suspension")
	s.wantTries("Nov 11 09h 1", "Nov 13 09h 1", "Nov 15 09h 1", "Nov 20 09h 1", "Nov 21 09h 1", "Nov 27 09h 1", "Dec 1 09h 1")
	s.wantOrders()
	if c := s.row(); c.Status != "paused" || s.standing() != nil || s.contract(s.id).Status != "PAUSED" {
		t.Errorf("contract %+v, at the platform %s", c, s.contract(s.id).Status)
	}
	if past := s.past(); len(past) != 1 || past[0].Status != "FAILURE" {
		t.Errorf("past %+v", past)
	}
}

func TestDeclineWithoutReasonIsRetriedUntilPaid(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.begin()
	s.declines("CARD_DECLINED", 3)
	s.pass("P45D")
	s.wantStory("Nov 11 "+decline, "Nov 11 "+mailed, "Nov 12 "+decline, "Nov 14 "+decline, "Nov 16 "+paid, "Dec 11 "+paid)
	s.wantMails("Nov 11 transaction_failed")
	s.wantTries("Nov 11 09h 1", "Nov 12 09h 1", "Nov 14 09h 1", "Nov 16 09h 1", "Dec 11 09h 2")
	s.wantOrders(1, 2)
	if d := s.standing(); d != nil {
		t.Errorf("the contract still shows %+v", d)
	}
}

// Whatever may be tried again comes to an end.
func TestExhaustedRetriesPauseContract(t *testing.T) {
	t.Parallel()
	end := []string{"Nov 27 DUNNING_PAUSED SUCCESS", "Nov 27 CONTRACT_PAUSED SUCCESS", "Nov 27 " + mailedEnd}
	for code, begins := range map[string][]string{
		"CARD_DECLINED": {"Nov 11 " + decline, "Nov 11 " + mailed, "Nov 12 " + decline, "Nov 14 " + decline, "Nov 16 " + decline, "Nov 16 " + mailed},
		"PROCESSING_ERROR": {
			"Nov 11 " + decline, "Nov 11 " + decline, "Nov 11 " + decline, "Nov 12 " + decline, "Nov 12 " + mailed, "Nov 14 " + decline, "Nov 16 " + decline, "Nov 16 " + mailed,
		},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			s.t = t
			s.begin()
			s.declines(code, 12)
			s.pass("P60D")
			middle := []string{"Nov 19 " + decline, "Nov 23 " + decline, "Nov 23 " + mailed, "Nov 25 " + warned, "Nov 27 " + decline}
			s.wantStory(slices.Concat(begins, middle, end)...)
			s.wantOrders()
		})
	}
}

func TestProcessingErrorIsRetriedSoonWithoutEMail(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.begin()
	s.declines("PROCESSING_ERROR", 4)
	s.pass("P20D")
	s.wantStory("Nov 11 "+decline, "Nov 11 "+decline, "Nov 11 "+decline, "Nov 12 "+decline, "Nov 12 "+mailed, "Nov 14 "+paid)
	s.wantTries("Nov 11 09h 1", "Nov 11 10h 1", "Nov 11 15h 1", "Nov 12 09h 1", "Nov 14 09h 1")
	s.wantOrders(1)
}

func TestUnusableCardIsNotRetriedBeforeReplacement(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"paymentMethod": "expired"})
	s.begin()
	s.pass("P14D")
	s.wantTries("Nov 11 09h 1")
	var method struct{ PaymentMethodID string }
	s.call("GET", fmt.Sprintf("/platform/contracts/%d", s.id), nil, &method)
	s.call("POST", "/platform/payment-methods/"+method.PaymentMethodID, map[string]any{"status": "valid"}, nil)
	s.pass("PT5M")
	s.wantStory("Nov 11 "+decline, "Nov 11 "+mailed, "Nov 14 "+mailed, "Nov 15 IMMEDIATE_RETRY_TRIGGERED INFO", "Nov 15 "+paid)
	s.wantMails("Nov 11 transaction_failed", "Nov 14 transaction_failed")
	s.wantOrders(1)
	s.pass("P30D")
	s.wantOrders(1, 2)
}

func TestReplacedCardIsChargedOnce(t *testing.T) {
	t.Parallel()
	for kind, found := range map[string]string{"webhook_lost": "Nov 16", "webhook_late": "Nov 15", "webhook_duplicated": "Nov 15"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := subscribeChecked(t, map[string]any{"paymentMethod": "expired"})
			s.begin()
			s.pass("P14D")
			var method struct{ PaymentMethodID string }
			s.call("GET", fmt.Sprintf("/platform/contracts/%d", s.id), nil, &method)
			s.declines("INSUFFICIENT_FUNDS", 1)
			s.call("POST", "/platform/faults", map[string]any{"rate": 1, "kinds": []string{kind}, "seed": 3, "for": "PT1H"}, nil)
			s.call("POST", "/platform/payment-methods/"+method.PaymentMethodID, map[string]any{"status": "valid"}, nil)
			s.pass("PT2H")
			s.call("DELETE", "/platform/faults", nil, nil)
			s.pass("P1D")
			s.wantStory("Nov 11 "+decline, "Nov 11 "+mailed, "Nov 14 "+mailed, found+" IMMEDIATE_RETRY_TRIGGERED INFO", found+" "+decline)
			s.pass("P30D")
			s.wantOrders(1, 2)
		})
	}
}

func TestUnreplacedCardPausesContract(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"paymentMethod": "expired"})
	s.begin()
	s.pass("P60D")
	s.wantStory("Nov 11 "+decline, "Nov 11 "+mailed, "Nov 14 "+mailed, "Nov 18 "+mailed, "Nov 23 "+warned, "Nov 25 DUNNING_PAUSED SUCCESS", "Nov 25 CONTRACT_PAUSED SUCCESS", "Nov 25 "+mailedEnd)
	s.wantTries("Nov 11 09h 1")
	s.wantOrders()
}

// The amount that an e-mail about a decline names is the amount that is charged in the
// end: with one-time products, less the discounts.
func TestDeclineEMailNamesChargedAmount(t *testing.T) {
	t.Parallel()
	for name, query := range map[string]string{"a percentage": "percentage=25&discountTitle=Quarter", "for one order": "percentage=50&discountTitle=Half&recurringCycleLimit=1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, map[string]any{"deliveryPrice": "4.90"})
			s.change("PUT", fmt.Sprintf("/subscription-contracts-add-discount?contractId=%d&%s", s.id, query), nil)
			if got := s.put(oneOffPath(s.id, s.upcoming()[0].ID, 4003, ""), nil, nil); got != http.StatusOK {
				t.Fatalf("adding a one-time product answered %d", got)
			}
			s.declines("INSUFFICIENT_FUNDS", 1)
			s.pass("P25D")
			mails, orders := s.letters(""), s.orders()
			if len(orders) != 1 || len(mails) == 0 || !strings.Contains(mails[0].Text, "Amount due: $"+orders[0].Amount) {
				t.Errorf("the mails %+v do not name what was charged: %+v", mails, orders)
			}
		})
	}
}

func TestAuthenticationRequiredIsRetriedOnce(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.begin()
	s.declines("AUTHENTICATION_REQUIRED", 2)
	s.pass("P30D")
	s.wantStory("Nov 11 "+decline, "Nov 11 "+mailedAuth, "Nov 13 "+mailedAuth, "Nov 16 "+warned, "Nov 18 "+decline, "Nov 18 DUNNING_PAUSED SUCCESS", "Nov 18 CONTRACT_PAUSED SUCCESS", "Nov 18 "+mailedEnd)
	s.wantTries("Nov 11 09h 1", "Nov 18 09h 1")
	s.wantOrders()
}

func TestUnmetChallengeIsMailedWithItsAddress(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.begin()
	s.declines("CHALLENGE", 1)
	s.pass("P11D")
	mails := s.letters("")
	if len(mails) != 1 || mails[0].Kind != "security_challenge" || !strings.Contains(mails[0].Links[0], "/subscriptions/challenges/") {
		t.Errorf("mails %+v, want one with the address at which the payment is confirmed", mails)
	}
	var sent []struct{ SecurityChallengeSentStatus, TransactionFailedEmailSentStatus string }
	s.get(fmt.Sprintf("/subscription-billing-attempts/past-orders?contractId=%d", s.id), &sent)
	if sent[0].SecurityChallengeSentStatus != "SENT" || sent[0].TransactionFailedEmailSentStatus != "UNSENT" {
		t.Errorf("the attempt says %+v", sent[0])
	}
	s.pass("P4D")
	s.wantStory("Nov 11 BILLING_ATTEMPT_UPDATED INFO", "Nov 11 "+mailedAuth, "Nov 13 "+decline, "Nov 13 "+mailedAuth)
	mails = s.letters("")
	if len(mails) != 2 || mails[1].Links[0] != mails[0].Links[0] {
		t.Errorf("mails %+v, want a second one with the same address: the platform holds the charge open", mails)
	}
}

// Only who can confirm a payment is asked to, at the address where that is done.
func TestConfirmationEMailLinksToChallenge(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]struct{ label, act string }{
		"CHALLENGE":               {"Confirm the payment:\nhttps://demo.myshopify.com/subscriptions/challenges/", "You can also choose another payment method"},
		"AUTHENTICATION_REQUIRED": {"Update payment:\nhttp", "/p/demo/s/9001/payment"},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			s.declines(code, 1)
			s.pass("P16D")
			kinds := make(map[string]bool)
			for _, m := range s.letters("") {
				kinds[m.Kind] = true
				if !strings.Contains(m.Text, want.label) || !strings.Contains(m.Text, want.act) || strings.Contains(m.Subject, "confirm") && code != "CHALLENGE" {
					t.Errorf("the mail %s, %q, does not say %q and %q:\n%s", m.Kind, m.Subject, want.label, want.act, m.Text)
				}
			}
			if !kinds["security_challenge"] || !kinds["suspension_warning"] {
				t.Errorf("mails %v", kinds)
			}
		})
	}
}

// ended ends the contract's open charge, as the customer who confirms the payment or
// fails to.
func (s *subscription) ended(code string) {
	s.t.Helper()
	all := s.contract(s.id).Attempts
	s.call("POST", fmt.Sprintf("/platform/attempts/%d", all[len(all)-1].ID), map[string]any{"code": code}, nil)
}

func TestChallengeEndsAsCustomerDecides(t *testing.T) {
	t.Parallel()
	const asked = "Nov 11 BILLING_ATTEMPT_UPDATED INFO"
	for _, row := range []struct {
		name   string
		days   string // until the customer acts
		code   string
		story  []string // after the customer was asked
		orders []int
		tries  []string
	}{
		{"met in time", "P1D", "SUCCESS", []string{"Nov 12 " + paid}, []int{1}, []string{"Nov 11 09h 1"}},
		{"met when it was thought to be lost", "P4D", "SUCCESS", []string{"Nov 13 " + decline, "Nov 13 " + mailedAuth, "Nov 15 " + paid}, []int{1}, []string{"Nov 11 09h 1"}},
		{
			"not met, and tried once more", "P1D", "AUTHENTICATION_FAILED",
			[]string{"Nov 12 " + decline, "Nov 12 " + mailedAuth, "Nov 13 " + mailedAuth, "Nov 16 " + warned, "Nov 18 " + paid}, []int{1}, []string{"Nov 11 09h 1", "Nov 18 09h 1"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			s.t = t
			s.begin()
			s.declines("CHALLENGE", 1)
			s.pass("P10DT3H")
			s.pass(row.days)
			s.ended(row.code)
			s.pass("P10D")
			s.wantStory(append([]string{asked, "Nov 11 " + mailedAuth}, row.story...)...)
			s.wantOrders(row.orders...)
			s.wantTries(row.tries...)
		})
	}
}

func TestSuspectedFraudIsNeverRetried(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.begin()
	s.declines("FRAUD_SUSPECTED", 1)
	s.pass("P30D")
	s.wantStory("Nov 11 "+decline, "Nov 11 "+staff, "Nov 11 "+mailed, "Nov 23 "+warned, "Nov 25 DUNNING_PAUSED SUCCESS", "Nov 25 CONTRACT_PAUSED SUCCESS", "Nov 25 "+mailedEnd)
	s.wantTries("Nov 11 09h 1")
}

func TestGoneCustomerIsNotRetriedOrMailed(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.begin()
	s.declines("CUSTOMER_NOT_FOUND", 1)
	s.pass("P30D")
	s.wantStory("Nov 11 "+decline, "Nov 11 "+staff, "Nov 11 DUNNING_PAUSED SUCCESS", "Nov 11 CONTRACT_PAUSED SUCCESS")
	s.wantMails()
	s.wantTries("Nov 11 09h 1")
}

func TestStoreThatCannotTakePaymentsHoldsOrders(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.begin()
	s.declines("PAYMENT_PROVIDER_IS_NOT_ENABLED", 1)
	s.pass("P45D")
	if d := s.standing(); d == nil || d.State != "HELD" || d.Cycle != 1 || d.NextRetryAt != nil {
		t.Errorf("the contract shows %+v", d)
	}
	var released struct{ Orders int }
	s.call("POST", "/dunning/solved", nil, &released)
	s.pass("P1D")
	s.wantStory("Nov 11 "+decline, "Nov 11 "+staff, "Dec 11 "+left, "Dec 16 BILLING_ATTEMPT_UPDATED INFO", "Dec 16 "+paid)
	s.wantMails()
	s.wantTries("Nov 11 09h 1", "Dec 16 09h 1")
	s.wantOrders(1)
	if released.Orders != 1 {
		t.Errorf("%d orders were released", released.Orders)
	}
}

func TestOutOfStockOrderIsRetriedFiveDaysThenSkipped(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.begin()
	s.declines("INSUFFICIENT_INVENTORY", 6)
	s.pass("P45D")
	s.wantStory(
		"Nov 11 "+decline, "Nov 11 SEND_OUT_OF_STOCK_EMAIL SUCCESS", "Nov 12 "+decline, "Nov 13 "+decline, "Nov 14 "+decline, "Nov 15 "+decline, "Nov 16 "+decline,
		"Nov 16 DUNNING_SKIPPED SUCCESS", "Dec 11 "+paid,
	)
	s.wantMails("Nov 11 out_of_stock")
	s.wantOrders(2)
	if past := s.past(); len(past) != 2 || past[1].Status != "SKIPPED_DUNNING_MGMT" {
		t.Errorf("past %+v", past)
	}
}

func TestUndeliverableAddressIsRetriedTwice(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.settings(map[string]any{"finalAction": "SKIP"})
	s.declines("INVALID_SHIPPING_ADDRESS", 3)
	s.pass("P30D")
	s.wantStory("Nov 11 "+decline, "Nov 11 "+mailed, "Nov 14 "+decline, "Nov 14 "+mailed, "Nov 16 "+warned, "Nov 18 "+decline, "Nov 18 DUNNING_SKIPPED SUCCESS")
}

func TestCorrectedAddressIsRetriedAtOnce(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.declines("INVALID_SHIPPING_ADDRESS", 1)
	s.pass("P12D")
	s.begin()
	address := map[string]any{
		"firstName": "Ana", "lastName": "Silva", "address1": "1 Main Street", "city": "Albany", "provinceCode": "NY", "countryCode": "US", "zip": "12207", "methodType": "SHIPPING",
	}
	if got := s.put(fmt.Sprintf("/subscription-contracts-update-shipping-address?contractId=%d", s.id), address, nil); got != http.StatusOK {
		t.Fatalf("answered %d", got)
	}
	s.pass("PT5M")
	s.wantStory("Nov 13 SHIPPING_ADDRESS_CHANGE SUCCESS", "Nov 13 IMMEDIATE_RETRY_TRIGGERED INFO", "Nov 13 "+paid)
	s.wantOrders(1)
}

func TestPaidOrderIsNotChargedAgain(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.begin()
	s.declines("INVOICE_ALREADY_PAID", 1)
	s.pass("P45D")
	s.wantStory("Nov 11 DUPLICATE_BILLING_ATTEMPT_DETECTED SKIPPED", "Dec 11 "+paid)
	s.wantMails()
	s.wantTries("Nov 11 09h 1", "Dec 11 09h 2")
	if past := s.past(); past[1].Status != "SKIPPED" {
		t.Errorf("past %+v", past)
	}
}
