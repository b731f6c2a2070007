package intake

import (
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

// changeSet collects the changes of one transaction.
type changeSet struct {
	now        time.Time
	by         *AuthoredChange     // nil: the platform reported the change
	waits      deferredContracts   // deferred contracts; nil: none is deferred
	seen       []contract.Contract // with a changed revision and nothing else
	contracts  []contract.Contract
	replanned  []int               // indexes of contracts
	limited    []int               // the same, for those with another last cycle than before
	activated  []contract.Contract // active for the first time
	subscribed []contract.Contract // whose customer tags may change, before and after
	newPayment []contract.ID       // with a new payment method or card
	newAddress []contract.ID       // with a new address
	entries    []activity.Entry
}

// recordAuthor records an author's change of a contract when a later reading is already
// stored.
func (w *changeSet) recordAuthor(c contract.Contract) {
	if w.by == nil {
		return
	}
	if w.by.Update != nil {
		w.by.Update(&c)
	}
	if m := w.by.StatusChange; m != nil && c.Moving != nil && c.Moving.At.Equal(m.At) {
		w.entries = append(w.entries, m.Entries(c, w.now)...)
		c.CompleteMove()
	}
	c.UpdatedAt = w.now
	w.contracts = append(w.contracts, c)
	w.entries = append(w.entries, w.authored(true)...)
}

// authored returns the entries of the author's change. The creation of a contract is
// recorded once, by the first reader of the contract: the author, who retries until it is
// answered, or a webhook.
func (w *changeSet) authored(known bool) []activity.Entry {
	return slices.DeleteFunc(slices.Clone(w.by.Entries), func(e activity.Entry) bool {
		return known && e.Event == activity.ContractCreated
	})
}

func (w *changeSet) record(c contract.Contract, event activity.EventType, status activity.Status, details entryDetails) {
	w.entries = append(w.entries, activity.Entry{
		EntityID: int64(c.ID), EntityType: activity.EntitySubscriptionContractDetails, Event: event,
		Status: status, Actor: activity.Platform, At: w.now, Info: activity.Details(details),
	})
}

// recordChange records the entries of a change.
func (w *changeSet) recordChange(old *contract.Contract, c contract.Contract, change contract.Change) {
	record := func(event activity.EventType, details entryDetails) { w.record(c, event, activity.Success, details) }
	if change.Created {
		record(activity.ContractCreated, entryDetails{To: string(c.Status)})
		return
	}
	if change.Status {
		record(contract.EventOf(c.Status), entryDetails{From: string(old.Status), To: string(c.Status)})
		if old.Ending != nil && c.Status == contract.Active {
			w.entries = append(w.entries, old.Ending.Entry(c.ID, contract.Cleared, activity.Platform, w.now))
		}
	}
	if change.Billing {
		record(activity.BillingIntervalChange, entryDetails{From: describePolicy(old.Billing), To: describePolicy(c.Billing)})
	}
	if change.Delivery {
		record(activity.DeliveryIntervalChange, entryDetails{From: describePolicy(old.Delivery), To: describePolicy(c.Delivery)})
	}
	if change.Payment {
		record(activity.PaymentMethodUpdated, entryDetails{Reason: repaid(*old, c)})
	}
	for _, l := range c.LostVariants(old.Lines) {
		record(activity.ProductDeletedSync, entryDetails{Reason: fmt.Sprintf("the store has no variant %d any more: %s", l.VariantID, l.Title)})
	}
	if change.Terms {
		record(activity.SubscriptionContractUpdated, entryDetails{})
	}
}

// repaid says what changed about the payment method.
func repaid(old, c contract.Contract) string {
	switch {
	case c.PaymentMethod == "":
		return "the payment method was removed: nothing can be charged"
	case old.PaymentMethod != c.PaymentMethod:
		return "the contract has another payment method"
	case !c.PaymentUsable && old.PaymentUsable:
		return "the payment method was revoked: nothing can be charged with it"
	case c.PaymentUsable && !old.PaymentUsable:
		return "the payment method can be charged again"
	}
	return "the country of the payment method has changed"
}
