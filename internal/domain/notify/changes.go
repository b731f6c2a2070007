package notify

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// changeDelay is how long the confirmation of a change waits for further ones, which are reported
// together.
const changeDelay = 10 * time.Minute

// confirmed are the kinds of message that confirm an event.
var confirmed = map[activity.EventType]Kind{
	activity.ContractCreated:         SubscriptionCreated,
	activity.ContractPaused:          Paused,
	activity.ContractActivated:       Resumed,
	activity.ContractCancelled:       Canceled,
	activity.BillingAttemptSkipped:   OrderSkipped,
	activity.NextBillingDateChange:   NextDate,
	activity.BillingIntervalChange:   Frequency,
	activity.ShippingAddressChange:   Address,
	activity.ProductAdd:              ProductAdded,
	activity.ProductRemove:           ProductRemoved,
	activity.ProductReplace:          ProductReplaced,
	activity.ProductPriceChange:      PriceUpdated,
	activity.BillingAttemptTriggered: TransactionSuccess,
}

// suspends are the events of unpaid orders that end a contract or pause it. The message about the
// unpaid order says so, and the change itself is not confirmed.
var suspends = map[activity.EventType]bool{activity.DunningPaused: true, activity.DunningCancelled: true}

// newFor is how long a contract is new: one that the service sees later for the first time was
// confirmed by the app that made it.
const newFor = 24 * time.Hour

// ChangesTx is what confirming changes needs of a transaction.
type ChangesTx interface {
	Outbox
	shop.Reader
	// MailRecipients returns who is behind the records that entries are about, by record. Records
	// that are neither contracts nor attempts are left out, and contracts that are between two services.
	MailRecipients(ctx context.Context, entries []activity.Entry) (map[Subject]Recipient, error)
}

// Subject identifies the record that an entry is about.
type Subject struct {
	Type activity.EntityType
	ID   int64
}

// kindOf returns the kind of message that an entry asks for; "" when it asks for none.
func kindOf(e activity.Entry) Kind {
	if e.Status != activity.Success {
		return ""
	}
	kind := confirmed[e.Event]
	if kind == TransactionSuccess && e.EntityType != activity.EntitySubscriptionBillingAttempt {
		return ""
	}
	return kind
}

// ConfirmChanges leaves the messages that confirm what entries report, in the transaction of the
// entries.
func ConfirmChanges(ctx context.Context, tx ChangesTx, entries []activity.Entry) error {
	asking := slices.DeleteFunc(slices.Clone(entries), func(e activity.Entry) bool { return kindOf(e) == "" && !suspends[e.Event] })
	if len(asking) == 0 {
		return nil
	}
	of, err := tx.Shop(ctx)
	if err != nil {
		return err
	}
	asking = slices.DeleteFunc(asking, func(e activity.Entry) bool {
		return !suspends[e.Event] && !of.Settings.Sends(kindOf(e)) && kindOf(e) != SubscriptionCreated
	})
	if len(asking) == 0 {
		return nil
	}
	people, err := tx.MailRecipients(ctx, asking)
	if err != nil {
		return err
	}
	suspended := map[contract.ID]bool{}
	for _, e := range asking {
		if suspends[e.Event] {
			suspended[people[Subject{e.EntityType, e.EntityID}].Contract] = true
		}
	}
	var list []Message
	for _, e := range asking {
		to, known := people[Subject{e.EntityType, e.EntityID}]
		if !known || suspends[e.Event] || suspended[to.Contract] && (kindOf(e) == Paused || kindOf(e) == Canceled) {
			continue
		}
		messages, err := confirmation(e, kindOf(e), to, of)
		if err != nil {
			return err
		}
		list = append(list, messages...)
	}
	return Queue(ctx, tx, of.ID, list...)
}

// confirmation returns the messages that confirm an entry; none when there is nothing to say.
func confirmation(e activity.Entry, kind Kind, to Recipient, of shop.Shop) ([]Message, error) {
	change := changeOf(e)
	key := fmt.Sprintf("%s:%d", kind, e.ID)
	delay := time.Duration(0)
	switch {
	case change.Silent:
		return nil, nil
	case kind == SubscriptionCreated:
		if e.At.Sub(to.CreatedAt) > newFor || to.Origin == contract.SplitAttempt || to.Origin == contract.Split {
			return nil, nil
		}
		key = CreatedKey(to.Contract)
	case traits[kind].group == ofChanges:
		delay = changeDelay
	}
	if kind == ProductReplaced && change.Rule != 0 {
		key = swapKey(to.Contract, change.Rule, change.Cycle)
	}
	m := Message{
		Kind: kind, To: to.Email, Contract: to.Contract, Customer: to.Customer, Facts: Facts{Change: &change}, Actor: e.Actor, DedupeKey: key,
		DueAt: e.At.Add(delay), ExpiresAt: e.At.Add(Life),
	}
	if e.EntityType == activity.EntitySubscriptionBillingAttempt {
		m.Attempt = e.EntityID
	}
	return ForCustomer(m, of, e.At)
}

// swapKey is the key of the message that a rule replaces products in the order of a cycle. It is sent
// once: while the order can still be refused or, if it was not known then, when it was made.
func swapKey(c contract.ID, rule int64, cycle int) string {
	return fmt.Sprintf("%s:%d:%d:%d", ProductReplaced, c, rule, cycle)
}

// Life is how long after a change or a decline its message may still be sent.
const Life = 3 * 24 * time.Hour

// CreatedKey is the key of the message that confirms a new contract.
func CreatedKey(c contract.ID) string { return fmt.Sprintf("%s:%d", SubscriptionCreated, c) }
