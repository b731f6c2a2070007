package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
)

// Subscribers run in each transaction, after the function given to Update and before the
// commit. What they write commits with the change that caused it; their failure rolls the
// change back.
type Subscribers struct {
	// Entries receive the activity entries that the transaction recorded, in order.
	Entries []func(ctx context.Context, tx *Tx, entries []activity.Entry) error
	// Members receive the events of loyalty members that the transaction published.
	Members []func(ctx context.Context, tx *Tx, events []loyalty.Event) error
	// Changes receive what the transaction wrote of contracts and attempts, each once as it
	// was written last, with the entries. They run after the others.
	Changes []func(ctx context.Context, tx *Tx, c analytics.Changes) error
	// News receive what swap rules do to upcoming orders that the transaction has changed, and when
	// it runs. They run first.
	News []func(ctx context.Context, tx *Tx, news billing.News, now time.Time) error
}

// published is what a transaction has for its subscribers.
type published struct {
	entries   []activity.Entry
	events    []loyalty.Event
	contracts []contract.Contract
	attempts  []billing.Attempt
}

// latest returns when what the transaction has written was changed last; zero: it wrote nothing.
func (p published) latest() (at time.Time) {
	for i := range p.contracts {
		if t := p.contracts[i].UpdatedAt; t.After(at) {
			at = t
		}
	}
	for i := range p.attempts {
		if t := p.attempts[i].UpdatedAt; t.After(at) {
			at = t
		}
	}
	return at
}

// changes returns what was written of contracts and attempts.
func (p published) changes(queue []analytics.QueueChange) analytics.Changes {
	return analytics.Changes{
		Contracts: lastOfEach(p.contracts, func(c *contract.Contract) contract.ID { return c.ID }),
		Attempts:  lastOfEach(p.attempts, func(a *billing.Attempt) billing.AttemptID { return a.ID }),
		Queue:     queue,
		Entries:   p.entries,
	}
}

// lastOfEach returns the last of the values with a key, sorted by key. The values are large, so
// that positions are sorted, and nothing is copied where each has its own key already.
func lastOfEach[T any, K cmp.Ordered](list []T, key func(*T) K) []T {
	order, sorted := make([]int, len(list)), true
	for i := range list {
		order[i] = i
		sorted = sorted && (i == 0 || key(&list[i-1]) < key(&list[i]))
	}
	if sorted {
		return list
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(key(&list[a]), key(&list[b])), cmp.Compare(a, b)) })
	last := make([]T, 0, len(list))
	for i, at := range order {
		if i+1 == len(order) || key(&list[order[i+1]]) != key(&list[at]) {
			last = append(last, list[at])
		}
	}
	return last
}

// PublishMemberEvents passes events to the subscribers before the commit.
func (tx *Tx) PublishMemberEvents(_ context.Context, events ...loyalty.Event) error {
	if tx.readOnly {
		return errReadOnly
	}
	tx.published.events = append(tx.published.events, events...)
	return nil
}

// runSubscribers calls the subscribers that have something to receive.
func (tx *Tx) runSubscribers(ctx context.Context) error {
	if err := tx.priceOrders(ctx); err != nil {
		return err
	}
	if entries := tx.published.entries; len(entries) > 0 {
		for _, subscriber := range tx.db.subscribers.Entries {
			if err := subscriber(ctx, tx, entries); err != nil {
				return err
			}
		}
	}
	if events := tx.published.events; len(events) > 0 {
		for _, subscriber := range tx.db.subscribers.Members {
			if err := subscriber(ctx, tx, events); err != nil {
				return err
			}
		}
	}
	if len(tx.prices.stale) > 0 {
		if err := tx.priceOrders(ctx); err != nil {
			return err
		}
	}
	if queue := tx.queue.changes(); len(tx.published.contracts) > 0 || len(tx.published.attempts) > 0 || len(queue) > 0 {
		changes := tx.published.changes(queue)
		for _, subscriber := range tx.db.subscribers.Changes {
			if err := subscriber(ctx, tx, changes); err != nil {
				return err
			}
		}
	}
	return nil
}
