package app

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/bulk"
	points "github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/retention/session"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/store"
)

// Subscribers returns everything that follows from a change in its own commit.
func Subscribers() store.Subscribers {
	return store.Subscribers{
		Entries: []func(context.Context, *store.Tx, []activity.Entry) error{
			func(ctx context.Context, tx *store.Tx, e []activity.Entry) error { return webhook.Publish(ctx, tx, e) },
			func(ctx context.Context, tx *store.Tx, e []activity.Entry) error {
				return notify.ConfirmChanges(ctx, tx, e)
			},
			func(ctx context.Context, tx *store.Tx, e []activity.Entry) error {
				return notify.NotifyMerchant(ctx, tx, e)
			},
			func(ctx context.Context, tx *store.Tx, e []activity.Entry) error {
				return points.NoteOrders(ctx, tx, e)
			},
			func(ctx context.Context, tx *store.Tx, e []activity.Entry) error {
				return bulk.NoteChanges(ctx, tx, e)
			},
			func(ctx context.Context, tx *store.Tx, e []activity.Entry) error {
				return session.NoteOutcomes(ctx, tx, e)
			},
		},
		Members: []func(context.Context, *store.Tx, []points.Event) error{
			func(ctx context.Context, tx *store.Tx, e []points.Event) error {
				return webhook.PublishMembers(ctx, tx, e)
			},
		},
		News: []func(context.Context, *store.Tx, billing.News, time.Time) error{
			func(ctx context.Context, tx *store.Tx, n billing.News, now time.Time) error {
				of, err := tx.Shop(ctx)
				if err != nil || !of.Connected || of.Guard.BlockReason(now) != "" { // such as after an import
					return err
				}
				if err := billing.NotifyOfRises(ctx, tx, n.Rises, now); err != nil {
					return err
				}
				announced := make([]activity.Entry, len(n.Swaps))
				for i, s := range n.Swaps {
					announced[i] = s.Announced(now)
				}
				return notify.ConfirmChanges(ctx, tx, announced)
			},
		},
		Changes: []func(context.Context, *store.Tx, analytics.Changes) error{
			func(ctx context.Context, tx *store.Tx, c analytics.Changes) error {
				return analytics.Record(ctx, tx, c)
			},
			func(ctx context.Context, tx *store.Tx, c analytics.Changes) error {
				return session.NoteLosses(ctx, tx, c.Contracts)
			},
		},
	}
}
