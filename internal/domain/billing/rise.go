package billing

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/swap"
)

// Rise is a price that a swap rule would give upcoming orders of a contract, without a notice to its
// customer.
type Rise struct {
	Contract contract.ID
	swap.Rise
	Due    []time.Time // of the orders that would have it, in order
	Queued []time.Time // of all orders of the contract from the first of those on, in order
}

// News has the effects of swap rules on upcoming orders that their customers may not know yet.
type News struct {
	Rises []Rise
	Swaps []Swap // in the next order of each contract, except by rules that send no e-mail
}

// Swap is a swap rule that changes an order.
type Swap struct {
	Order Attempt
	Rule  swap.Rule
}

// Announced returns the entry of the activity log that the order will have when the rule has changed it,
// as of now and with the day of the order. It is not recorded: the message that it asks for is sent
// while the order can still be refused.
func (s Swap) Announced(now time.Time) activity.Entry {
	return NewEntry(s.Order, activity.ProductReplace, activity.Success, activity.System, now, EntryInfo{
		Cycle: s.Order.Cycle, Rule: int64(s.Rule.ID), Removed: s.Rule.Sources, Added: s.Rule.Destinations, AppliesAt: s.Order.BillingDate,
	})
}

// None reports whether there is nothing to say.
func (n News) None() bool { return len(n.Rises)+len(n.Swaps) == 0 }

// Notice is a notice to a contract's customer.
type Notice struct {
	Contract contract.ID
	swap.Notice
}

// RiseInfo is the details of the entry about a price when its customer is notified.
type RiseInfo struct {
	Variant   int64          `json:"variantId"`
	Title     string         `json:"title"`
	Price     string         `json:"price"`
	OldPrice  string         `json:"oldPrice"`
	AppliesAt time.Time      `json:"appliesAt"`
	Rule      int64          `json:"ruleId"`
	RuleName  string         `json:"ruleName,omitempty"`
	Removed   []swap.Product `json:"removed"`
}

// RiseTx writes notices.
type RiseTx interface {
	// AddSwapNotices records notices. One of a rule that was removed meanwhile is left out.
	AddSwapNotices(ctx context.Context, list []Notice) error
	Record(ctx context.Context, entries ...activity.Entry) error
}

// NotifyOfRises notifies customers of higher prices, by entries of the activity log whose messages name
// the price and the first order that has it: one that is due when swap.NoticeTime is over. A rise that
// no such order would have needs no notice: its orders keep their price.
func NotifyOfRises(ctx context.Context, tx RiseTx, rises []Rise, now time.Time) error {
	from := now.Add(swap.NoticeTime)
	var list []Notice
	var entries []activity.Entry
	for _, r := range rises {
		at, ok := r.appliesAt(from)
		if !ok {
			continue
		}
		list = append(list, Notice{r.Contract, r.Rise.Notice(from)})
		entries = append(entries, activity.Entry{
			EntityID: int64(r.Contract), EntityType: activity.EntitySubscriptionContractDetails, Event: activity.ProductPriceChange,
			Status: activity.Success, Actor: activity.System, At: now,
			Info: activity.Details(RiseInfo{
				Variant: r.Variant, Title: r.Title, Price: r.Price.String(), OldPrice: r.Kept.String(), AppliesAt: at,
				Rule: int64(r.Rule.ID), RuleName: r.Rule.Name, Removed: r.Rule.Sources,
			}),
		})
	}
	if len(list) == 0 {
		return nil
	}
	if err := tx.AddSwapNotices(ctx, list); err != nil {
		return err
	}
	return tx.Record(ctx, entries...)
}

// appliesAt returns when the first order is due that has the price, if it counts from an instant on.
// What a rule that lasts has brought stays in later orders.
func (r Rise) appliesAt(from time.Time) (time.Time, bool) {
	dates := r.Due
	if !r.Rule.OneOrderOnly() {
		dates = r.Queued
	}
	for _, date := range dates {
		if !date.Before(from) {
			return date, true
		}
	}
	return from, !r.Rule.OneOrderOnly()
}
