package notify

import (
	"context"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

// Swap is what a swap rule will replace in the next order of a contract.
type Swap struct {
	Contract contract.ID
	Attempt  int64
	Cycle    int
	Date     time.Time // when the order is due
	Rule     int64
	Removed  []Product
	Added    []Product
}

// swapKey is the key of the message that a rule replaces products in the order of a cycle. It is sent
// once: while the order can still be refused or, if it was not known then, when it was made.
func swapKey(c contract.ID, rule int64, cycle int) string {
	return fmt.Sprintf("%s:%d:%d:%d", ProductReplaced, c, rule, cycle)
}

// AnnounceSwaps leaves the messages that say what rules will replace.
func AnnounceSwaps(ctx context.Context, tx ChangesTx, swaps []Swap, now time.Time) error {
	if len(swaps) == 0 {
		return nil
	}
	of, err := tx.Shop(ctx)
	if err != nil || !of.Settings.Sends(ProductReplaced) {
		return err
	}
	subjects := make([]activity.Entry, len(swaps))
	for i, s := range swaps {
		subjects[i] = activity.Entry{EntityType: activity.EntitySubscriptionContractDetails, EntityID: int64(s.Contract)}
	}
	people, err := tx.MailRecipients(ctx, subjects)
	if err != nil {
		return err
	}
	var list []Message
	for i, s := range swaps {
		to, known := people[Subject{subjects[i].EntityType, subjects[i].EntityID}]
		if !known {
			continue
		}
		change := Change{Event: activity.ProductReplace, At: now, Cycle: s.Cycle, AppliesAt: s.Date, Rule: s.Rule, Removed: s.Removed, Added: s.Added}
		messages, err := ForCustomer(Message{
			Kind: ProductReplaced, To: to.Email, Contract: to.Contract, Customer: to.Customer, Attempt: s.Attempt, Facts: Facts{Change: &change}, Actor: activity.System,
			DedupeKey: swapKey(s.Contract, s.Rule, s.Cycle), DueAt: now.Add(changeDelay), ExpiresAt: now.Add(Life),
		}, of, now)
		if err != nil {
			return err
		}
		list = append(list, messages...)
	}
	return Queue(ctx, tx, of.ID, list...)
}
