package store

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/activity"
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
}

// published is what a transaction has for its subscribers.
type published struct {
	entries []activity.Entry
	events  []loyalty.Event
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
	return nil
}
