package roomtest_test

import (
	"fmt"
	"html"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/domain/retention/sessiontest"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/cancelling"
	"github.com/perennialhq/perennial/internal/web/portal/home"
	"github.com/perennialhq/perennial/internal/web/portal/portaltest"
	"github.com/perennialhq/perennial/internal/web/portal/subscription"
)

// cancellingSite is a portal whose customer has a subscription, every two weeks for 24.50.
type cancellingSite struct {
	*portaltest.Site
	did *sessiontest.Changes
}

func openCancelling(t *testing.T) *cancellingSite {
	t.Helper()
	s := &cancellingSite{}
	s.Site = portaltest.Open(t, func(p *portaltest.Site) []portal.Room {
		sessions, did := p.Leaving()
		s.did = did
		return []portal.Room{
			home.New(home.Options{Homes: p.Overview}), subscription.New(subscription.Options{Sheets: p.Overview, Changes: p.Portal}), cancelling.New(cancelling.Options{Sessions: sessions}),
		}
	})
	s.Put(s.First, []contract.Contract{portaltest.Subscription(1)}, portaltest.Orders(1, 8)...)
	s.SignIn(portaltest.Maya)
	return s
}

const cancellingPath = portaltest.At + "/s/1"

// shown checks the status of a page and what it says.
func (s *cancellingSite) shown(p portaltest.Page, status int, says ...string) portaltest.Page {
	s.Helper()
	text := html.UnescapeString(p.Text)
	if p.Status != status {
		s.Errorf("%s answered %d, want %d", p.Path, p.Status, status)
	}
	for _, want := range says {
		if !strings.Contains(text, want) {
			s.Errorf("%s does not say %q:\n%s", p.Path, want, text)
		}
	}
	return p
}

func TestCustomerCancelsThroughEveryStep(t *testing.T) {
	t.Parallel()
	s := openCancelling(t)
	s.shown(s.Get(cancellingPath), http.StatusOK, cancellingPath+"/cancel")
	p := s.shown(s.Get(cancellingPath+"/cancel"), http.StatusOK, "Why are you cancelling?", "I have too much", "Skip this question and cancel", "Continue")
	p = s.shown(s.Send(p, "/s/1/cancel/reason", "reason", "too-much", "comment", "Two bags are enough"), http.StatusOK, "You can skip your next 2 orders", "You’d pay nothing until", "Skip 2 orders", "Cancel now", "Back to the question")
	back := s.shown(s.Get(cancellingPath+"/cancel?step=reason"), http.StatusOK, "Why are you cancelling?", "Two bags are enough", `value="too-much" checked`)
	again := s.shown(s.Send(back, "/s/1/cancel/reason", "reason", "too-much", "comment", "Two bags are enough"), http.StatusOK, "You can skip your next 2 orders")
	if again.Path != p.Path {
		t.Errorf("the same answer leads to %s", again.Path)
	}
	p = s.shown(s.Send(p, "/s/1/cancel/accept", "do", "decline"), http.StatusOK)
	if diff := cmp.Diff([]string{"skip", "skip"}, s.did.Asked); diff != "" {
		t.Error(diff)
	}
	s.shown(p, http.StatusOK, "The orders are skipped.")
}

func TestCustomerDeclinesAndCancels(t *testing.T) {
	t.Parallel()
	s := openCancelling(t)
	p := s.Send(s.Get(cancellingPath+"/cancel"), "/s/1/cancel/reason", "reason", "too-much")
	version, session := hiddenField(t, p, "version"), hiddenField(t, p, "session")
	token := hiddenField(t, p, "token")
	p = s.shown(s.Post(cancellingPath+"/cancel/decline", "token", token, "version", version, "session", session), http.StatusOK,
		"Cancel House Blend Coffee and Earl Grey Loose Leaf?", "It ends today, Friday, February 26", "you won’t be charged $24.50", "You have had 9 orders.", "Cancel subscription", "Keep subscription")
	p = s.shown(s.Send(p, "/s/1/cancel/confirm"), http.StatusOK, "Cancelled. Nothing more will be charged.", "C-1-"+session, "What could the store do better?")
	s.shown(s.Send(p, "/s/1/cancelled", "comment", "<b>Smaller</b> bags"), http.StatusOK, "Your comment was sent to the store.", "<b>Smaller</b> bags")
	if diff := cmp.Diff([]string{"CANCELLED"}, s.did.Asked); diff != "" {
		t.Error(diff)
	}
	s.shown(s.Post(cancellingPath+"/cancel/confirm", "token", token, "session", session), http.StatusOK, "Cancelled. Nothing more will be charged.")
	if len(s.did.Asked) != 1 {
		t.Errorf("cancelled twice: %v", s.did.Asked)
	}
}

func TestQuestionCanBeSkippedAndSubscriptionKept(t *testing.T) {
	t.Parallel()
	s := openCancelling(t)
	p := s.Get(cancellingPath + "/cancel")
	p = s.shown(s.Post(cancellingPath+"/cancel/decline", "token", hiddenField(t, p, "token"), "version", hiddenField(t, p, "version")), http.StatusOK, "Cancel subscription", "Keep subscription")
	s.shown(s.Post(cancellingPath+"/cancel/keep", "token", hiddenField(t, p, "token"), "session", hiddenField(t, p, "session")), http.StatusOK, "Your subscription goes on. Nothing was cancelled.")
	if len(s.did.Asked) != 0 {
		t.Errorf("asked for %v", s.did.Asked)
	}
}

func TestRefusedStepIsShownWithItsReason(t *testing.T) {
	t.Parallel()
	s := openCancelling(t)
	p := s.Get(cancellingPath + "/cancel")
	s.shown(s.Send(p, "/s/1/cancel/reason", "comment", "Nothing"), http.StatusUnprocessableEntity, "Why are you cancelling?", "Nothing")
	p = s.Send(p, "/s/1/cancel/reason", "reason", "too-much")
	s.did.Err = fault.New(fault.FailedPrecondition, "the order is being charged").Code("billingInProgress")
	p = s.shown(s.Send(p, "/s/1/cancel/accept"), http.StatusUnprocessableEntity, "You can skip your next 2 orders")
	s.Put(s.First, []contract.Contract{changedContract(s)})
	s.shown(s.Send(p, "/s/1/cancel/accept"), http.StatusConflict, "You can skip your next 2 orders")
}

// changedContract is the contract after another caller has changed it.
func changedContract(s *cancellingSite) contract.Contract {
	c := portaltest.Subscription(1)
	c.Version = 1
	c.Note = "changed"
	return c
}

func TestInstructionsHaveAButtonThatCancels(t *testing.T) {
	t.Parallel()
	s := openCancelling(t)
	s.Publish(flow.Flow{Mode: flow.Instructions, Instructions: "Call us first.\n{{shop.secret}} <b>", Support: "help@store.example"})
	p := s.shown(s.Get(cancellingPath+"/cancel"), http.StatusOK, "Before you cancel", "Call us first.", "help@store.example", "Cancel now")
	if strings.Contains(p.Text, "<b>") {
		t.Error("the instructions are not escaped")
	}
	s.shown(s.Send(p, "/s/1/cancel/decline"), http.StatusOK, "Cancel subscription")
}

func TestConfirmationComesFirstWithoutAQuestion(t *testing.T) {
	t.Parallel()
	s := openCancelling(t)
	s.Publish(flow.Flow{Mode: flow.Immediate})
	p := s.shown(s.Get(cancellingPath+"/cancel"), http.StatusOK, "Cancel subscription", "What happens")
	s.shown(s.Send(p, "/s/1/cancel/confirm"), http.StatusOK, "Cancelled. Nothing more will be charged.")
}

func TestEveryOfferSaysWhatItDoes(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		offer flow.Offer
		says  []string
	}{
		"a pause":      {flow.Offer{Kind: flow.Pause, Months: 2}, []string{"You can pause until Monday, April 26", "Pause until"}},
		"a discount":   {flow.Offer{Kind: flow.Discount, Percent: 20, Orders: 3}, []string{"20% off your next 3 orders", "instead of $24.50", "Take the discount"}},
		"a later date": {flow.Offer{Kind: flow.Reschedule, Days: 7}, []string{"Your next order can come on Wednesday, March 10", "Move it to"}},
		"support":      {flow.Offer{Kind: flow.Support}, []string{"The store can help", "mailto:help@store.example"}},
		"a sample":     {flow.Offer{Kind: flow.Sample, Variants: []int64{4001}}, []string{"Try Mountain Water Decaf, 250 g for free", "costs nothing"}},
		"a link":       {flow.Offer{Kind: flow.PaymentLink}, []string{"You can update your payment method", "maya@"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openCancelling(t)
			s.Publish(flow.Flow{Mode: flow.Retention, Budget: 100_000, Support: "help@store.example", Reasons: []flow.Reason{{Key: "why", Label: map[string]string{"en": "Because"}, Offers: []flow.Offer{row.offer}}}})
			p := s.shown(s.Send(s.Get(cancellingPath+"/cancel"), "/s/1/cancel/reason", "reason", "why"), http.StatusOK, append(row.says, "Cancel now", "This is the only offer.")...)
			s.shown(s.Send(p, "/s/1/cancel/accept"), http.StatusOK)
			if len(s.did.Asked) == 0 && row.offer.Kind != flow.Support {
				t.Error("nothing was changed")
			}
		})
	}
}

func TestPrepaidAndCommittedContractsSayWhenTheyEnd(t *testing.T) {
	t.Parallel()
	s := openCancelling(t)
	prepaid := portaltest.Subscription(3)
	prepaid.Billing, prepaid.Delivery = contract.Policy{Interval: cadence.Month, Count: 6}, contract.Policy{Interval: cadence.Month, Count: 1}
	prepaid.LastOrderAt, prepaid.NextBillingDate = portaltest.Charged(2026, time.November, 26), portaltest.Charged(2027, time.May, 26)
	prepaid.Series.Start = prepaid.NextBillingDate
	s.Put(s.First, []contract.Contract{prepaid})
	s.shown(s.Send(s.Get(portaltest.At+"/s/3/cancel"), "/s/3/cancel/reason", "reason", "trying"), http.StatusOK, "that you have paid for",
		"What will still be delivered", "<dt>Friday, March 26</dt><dd>Paid</dd>", "<dt>Monday, April 26</dt><dd>Paid</dd>")
	s.First.Settings.FreezeUntilMinCycles = true
	s.PutShop()
	held := portaltest.Subscription(4)
	held.MinCycles = 12
	s.Put(s.First, []contract.Contract{held}, portaltest.Orders(4, 8)...)
	s.shown(s.Send(s.Get(portaltest.At+"/s/4/cancel"), "/s/4/cancel/reason", "reason", "too-much"), http.StatusOK, "after the orders that you agreed to",
		"What will still be charged", "<dt>Wednesday, March 3</dt><dd>$24.50</dd>", "<dt>Wednesday, March 31</dt><dd>$24.50</dd>", "<dt>Total of 3 orders, before taxes</dt><dd>$73.50</dd>")
}

func TestCancelPagesListChargeInFlight(t *testing.T) {
	t.Parallel()
	s := openCancelling(t)
	s.Publish(flow.Flow{Mode: flow.Immediate})
	orders := portaltest.Orders(5, 3)
	orders[3].Status = billing.Requesting
	s.Put(s.First, []contract.Contract{portaltest.Subscription(5)}, orders...)
	p := s.shown(s.Get(portaltest.At+"/s/5/cancel"), http.StatusOK, "An order is being charged right now.", "<dt>Wednesday, March 3, being charged now</dt><dd>$24.50</dd>", "The order on Wednesday, March 17 won’t be sent")
	s.shown(s.Send(p, "/s/5/cancel/confirm"), http.StatusOK, "Cancelled. One order is still being charged.", "<dt>Wednesday, March 3, being charged now</dt><dd>$24.50</dd>")
}

func TestSessionOfAnotherContractIsNotFound(t *testing.T) {
	t.Parallel()
	s := openCancelling(t)
	s.Put(s.First, []contract.Contract{portaltest.Subscription(2)}, portaltest.Orders(2, 8)...)
	p := s.Send(s.Get(cancellingPath+"/cancel"), "/s/1/cancel/reason", "reason", "too-much")
	token, session := hiddenField(t, p, "token"), hiddenField(t, p, "session")
	s.shown(s.Post(portaltest.At+"/s/2/cancel/confirm", "token", token, "session", session), http.StatusNotFound)
	s.shown(s.Get(fmt.Sprintf("%s/cancelled?session=%s", cancellingPath, session)), http.StatusNotFound) // it has not cancelled anything
	theirs := portaltest.Subscription(7)
	theirs.Customer.ID = portaltest.Noah
	s.Put(s.First, []contract.Contract{theirs})
	s.SignIn(portaltest.Noah)
	s.shown(s.Get(cancellingPath+"/cancel"), http.StatusNotFound)
	if len(s.did.Asked) != 0 {
		t.Errorf("asked for %v", s.did.Asked)
	}
}
