package sandbox

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
)

// frozen is a contract whose subscriber has committed to a number of orders, as
// the portal sees it.
type frozen struct {
	*bench
	store shop.Shop
	id    contract.ID
}

var subscriber = activity.Actor{Source: activity.CustomerPortal, By: "ana@shopper.example"}

// commit makes a monthly contract of at least so many orders. Its checkout is on
// November 1, its first order due on November 11.
func commit(t *testing.T, policy string) frozen {
	t.Helper()
	b := startInline(t, Options{Empty: true, MainOnly: true})
	b.direct("POST", "/settings", `{"enableImmediatePlaceOrder":true,"freezeUntilMinCycles":true}`, nil)
	var variants []struct{ VariantID int64 }
	b.direct("GET", "/platform/variants", "", &variants)
	var made struct{ ID int64 }
	b.direct("POST", "/platform/contracts", fmt.Sprintf(`{"customer":{"email":"ana@shopper.example"},"nextBillingDate":"2026-11-11",%s,
		"lines":[{"variantId":%d,"quantity":2,"currentPrice":"12.50"}]}`, policy, variants[0].VariantID), &made)
	store, err := b.front.running().Store.Shops().ShopByDomain(t.Context(), demo.Main)
	if err != nil {
		t.Fatal(err)
	}
	return frozen{b, store, contract.ID(made.ID)}
}

func (f frozen) command() amend.Command {
	return amend.Command{Line: shop.Subscriptions, Contract: f.id, Actor: subscriber}
}

func (f frozen) set(w lifecycle.StatusChange) error {
	_, err := f.front.running().Lifecycle.SetStatus(f.t.Context(), f.store.ID, f.command(), w)
	return err
}

func (f frozen) row() contract.Contract {
	f.t.Helper()
	found, _, err := f.front.running().Store.Search(f.t.Context(), f.store.ID, contract.Filter{Line: shop.Subscriptions, IDPart: fmt.Sprint(f.id)}, page.Request{Size: 1})
	if err != nil || len(found) != 1 {
		f.t.Fatalf("%d contracts: %v", len(found), err)
	}
	return found[0]
}

func (f frozen) refused(what string, err error) {
	f.t.Helper()
	if !fault.Is(err, fault.FailedPrecondition) || !strings.Contains(fmt.Sprint(err), "orders are completed") {
		f.t.Errorf("%s: %v, want a refusal that says how many orders are left", what, err)
	}
}

// wantEntries asserts the exact list of entries since the contract was made.
func (f frozen) wantEntries(want ...string) {
	f.t.Helper()
	list, _, err := f.front.running().Store.Entries(f.t.Context(), f.store.ID, nil, page.Request{Size: 100, Sort: []page.Sort{{Field: activity.FieldID}}})
	if err != nil {
		f.t.Fatal(err)
	}
	var got []string
	for _, e := range list {
		if !strings.HasPrefix(string(e.Event), "SEND_") { // e-mails come beside
			got = append(got, fmt.Sprintf("%s %s %s", e.Actor.Source, e.Event, e.Status))
		}
	}
	got = got[slices.Index(got, "SHOPIFY_EVENT CONTRACT_CREATED SUCCESS"):]
	if !slices.Equal(got, want) {
		f.t.Errorf("entries:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

const (
	wasMade    = "SHOPIFY_EVENT CONTRACT_CREATED SUCCESS"
	wasCharged = "SYSTEM_EVENT BILLING_ATTEMPT_TRIGGERED SUCCESS"
	monthly    = `"billingPolicy":{"interval":"MONTH","intervalCount":1,"minCycles":3}`
)

func TestSubscriberCannotChangeCommittedContract(t *testing.T) {
	t.Parallel()
	f := commit(t, monthly)
	a := f.front.running()
	next := command.SkipNext{Line: shop.Subscriptions, Contract: f.id, Actor: subscriber}
	_, err := a.Command.SkipNext(t.Context(), f.store.ID, next)
	f.refused("skipping", err)
	_, err = a.Command.Reschedule(t.Context(), f.store.ID, command.Reschedule{Line: shop.Subscriptions, Contract: f.id, BillingDate: f.clock.Now().AddDate(0, 0, 3), Actor: subscriber})
	f.refused("moving", err)
	f.refused("pausing", f.set(lifecycle.StatusChange{To: contract.Paused}))
	_, err = a.Edits.SetBillingInterval(t.Context(), f.store.ID, f.command(), terms.Frequency{Interval: f.row().Billing.Interval, Count: 2})
	f.refused("another interval", err)
	attempts, _, err := a.Store.AttemptsWhere(t.Context(), f.store.ID, billing.Question{Line: shop.Subscriptions, Contract: f.id, Upcoming: true}, page.Request{Size: 1})
	if err != nil || len(attempts) != 1 {
		t.Fatalf("%d attempts: %v", len(attempts), err)
	}
	f.refused("ordering now", a.Command.Trigger(t.Context(), f.store.ID, command.Trigger{Line: shop.Subscriptions, Attempt: attempts[0].ID, Actor: subscriber}))
	if _, err := a.Edits.SetNote(t.Context(), f.store.ID, f.command(), "ring twice"); err != nil {
		t.Errorf("a note: %v, want none of the rule's business", err)
	}
	f.advance("P41D") // two renewals: with the order of the checkout the three are complete
	if _, err := a.Command.SkipNext(t.Context(), f.store.ID, next); err != nil {
		t.Errorf("skipping after the last of the orders: %v", err)
	}
	f.wantEntries(wasMade, "CUSTOMER_PORTAL SUBSCRIPTION_CONTRACT_UPDATED SUCCESS", wasCharged, wasCharged, "CUSTOMER_PORTAL BILLING_ATTEMPT_SKIPPED SUCCESS")
}

const (
	endWaits = "CUSTOMER_PORTAL INFORMATIONAL_EVENT SUCCESS"
	endComes = "SYSTEM_EVENT INFORMATIONAL_EVENT SUCCESS"
	wasEnded = "SYSTEM_EVENT CONTRACT_CANCELLED SUCCESS"
)

func TestCancellationWaitsForCommittedOrders(t *testing.T) {
	t.Parallel()
	f := commit(t, monthly)
	if err := f.set(lifecycle.StatusChange{To: contract.Cancelled, Feedback: "enough"}); err != nil {
		t.Fatal(err)
	}
	c := f.row()
	if c.Status != contract.Active || c.Ending == nil || c.Ending.Cycle != 2 || c.Ending.At.Format("2006-01-02") != "2026-12-11" || c.CancellationFeedback != "enough" {
		t.Fatalf("ending: %+v of %+v", c.Ending, c)
	}
	f.advance("P40D")
	if c := f.row(); c.Status != contract.Active {
		t.Errorf("the contract is %s before its last order", c.Status)
	}
	f.advance("P60D")
	if c := f.row(); c.Status != contract.Cancelled || c.Orders != 2 || c.Ending != nil || c.CancellationFeedback != "enough" {
		t.Errorf("ended: %+v", c)
	}
	f.wantEntries(wasMade, endWaits, wasCharged, wasCharged, endComes, wasEnded)
}

// A merchant who skips one of the orders gives the subscriber another one in its
// place.
func TestMissedOrderDoesNotCountTowardCommitment(t *testing.T) {
	t.Parallel()
	f := commit(t, monthly)
	if err := f.set(lifecycle.StatusChange{To: contract.Cancelled}); err != nil {
		t.Fatal(err)
	}
	merchant := activity.Actor{Source: activity.MerchantExternalAPI, By: "key"}
	if _, err := f.front.running().Command.SkipNext(t.Context(), f.store.ID, command.SkipNext{Line: shop.Subscriptions, Contract: f.id, Actor: merchant}); err != nil {
		t.Fatal(err)
	}
	f.advance("P45D")
	if c := f.row(); c.Status != contract.Active || c.Orders != 1 || c.Ending == nil || c.Ending.Cycle != 3 {
		t.Errorf("after one order: %+v of %+v", c.Ending, c)
	}
	f.advance("P60D")
	if c := f.row(); c.Status != contract.Cancelled || c.Orders != 2 {
		t.Errorf("ended %s after %d orders, want CANCELLED after 2", c.Status, c.Orders)
	}
	f.wantEntries(wasMade, endWaits, "MERCHANT_EXTERNAL_API BILLING_ATTEMPT_SKIPPED SUCCESS", wasCharged, wasCharged, endComes, wasEnded)
}

// An order that waits for the store's staff is still to come: no other one is put in its
// place.
func TestHeldOrderCountsTowardCommitment(t *testing.T) {
	t.Parallel()
	f := commit(t, monthly)
	if err := f.set(lifecycle.StatusChange{To: contract.Cancelled}); err != nil {
		t.Fatal(err)
	}
	f.direct("POST", "/platform/outcomes", fmt.Sprintf(`{"contractId":%d,"cycles":[2],"code":"MERCHANT_ACCOUNT_ERROR"}`, f.id), nil)
	f.advance("P50D")
	if c := f.row(); c.Status != contract.Active || c.Orders != 1 || c.Ending == nil || c.Ending.Cycle != 2 || !c.NextBillingDate.IsZero() {
		t.Errorf("while the last order is held: %+v of %+v", c.Ending, c)
	}
	f.direct("POST", "/dunning/solved", "", nil)
	f.advance("P60D")
	if c := f.row(); c.Status != contract.Cancelled || c.Orders != 2 {
		t.Errorf("ended %s after %d orders, want CANCELLED after 2", c.Status, c.Orders)
	}
}

// The last of the orders of a prepaid contract pays for deliveries: they come
// first.
func TestCommittedPrepaidContractEndsWithLastTerm(t *testing.T) {
	t.Parallel()
	f := commit(t, `"billingPolicy":{"interval":"MONTH","intervalCount":2,"minCycles":2},"deliveryPolicy":{"interval":"MONTH","intervalCount":1}`)
	if err := f.set(lifecycle.StatusChange{To: contract.Cancelled}); err != nil {
		t.Fatal(err)
	}
	f.advance("P60D")
	if c := f.row(); c.Status != contract.Active || c.Orders != 1 || c.Ending == nil || c.Ending.Why != contract.EndOfTerm || c.Ending.At.Format("2006-01-02") != "2027-01-11" {
		t.Errorf("after the last order: %+v of %+v", c.Ending, c)
	}
	f.advance("P90D")
	if c := f.row(); c.Status != contract.Cancelled || c.Orders != 1 {
		t.Errorf("ended %s after %d orders, want CANCELLED after 1", c.Status, c.Orders)
	}
	f.wantEntries(wasMade, endWaits, wasCharged, "SYSTEM_EVENT PREPAID_DEFERRED_CANCELLATION_EXECUTED SUCCESS", wasEnded)
}

func TestSubscriberWithdrawsPendingCancellation(t *testing.T) {
	t.Parallel()
	f := commit(t, monthly)
	if err := f.set(lifecycle.StatusChange{To: contract.Cancelled}); err != nil {
		t.Fatal(err)
	}
	if err := f.set(lifecycle.StatusChange{To: contract.Active}); err != nil {
		t.Fatal(err)
	}
	f.advance("P105D")
	if c := f.row(); c.Status != contract.Active || c.Orders != 4 {
		t.Errorf("kept: %s after %d orders, want ACTIVE after 4", c.Status, c.Orders)
	}
	f.wantEntries(wasMade, endWaits, endWaits, wasCharged, wasCharged, wasCharged, wasCharged)
}
