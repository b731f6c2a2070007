package webhook

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Upcoming is the next order of a contract, which subscribers will be notified of.
type Upcoming struct {
	Line     shop.Line
	Contract contract.ID
	Date     time.Time
	// Attempts are the attempts due on that date for which no message was published yet.
	Attempts []int64
}

// upcoming reports whether a type is an upcoming-order notification.
func (t Type) upcoming() bool {
	return t == upcomingOrder.of(shop.Subscriptions) || t == upcomingOrder.of(shop.Memberships)
}

// WantsUpcoming reports whether the endpoint subscribes to upcoming-order notifications.
func (e Endpoint) WantsUpcoming() bool { return slices.ContainsFunc(e.Types, Type.upcoming) }

// PublishUpcoming publishes the orders that are due soon, each attempt once. It skips orders
// whose date has passed, and stores that are not charged.
func (s *Service) PublishUpcoming(ctx context.Context, of shop.ID) error {
	for ctx.Err() == nil {
		n := 0
		err := s.Store.Update(ctx, of, func(tx Tx) error {
			n = 0
			now := s.Clock.Now()
			endpoints, err := tx.Recipients(ctx, now)
			if err != nil || !slices.ContainsFunc(endpoints, Endpoint.WantsUpcoming) {
				return err
			}
			store, err := tx.Shop(ctx)
			if err != nil || !store.Connected || store.Guard.BlockReason(now) != "" {
				return err
			}
			due, err := tx.UpcomingOrders(ctx, now, batchSize)
			if err != nil {
				return err
			}
			n = len(due)
			if err := tx.AddMessages(ctx, Address(endpoints, upcomingMessages(of, due, now))...); err != nil {
				return err
			}
			return tx.MarkPublished(ctx, due)
		})
		if err != nil {
			return fmt.Errorf("publish upcoming orders: %w", err)
		}
		if n < batchSize {
			return nil
		}
	}
	return ctx.Err()
}

func upcomingMessages(of shop.ID, due []Upcoming, now time.Time) (list []Message) {
	for _, u := range due {
		if !u.Date.After(now) {
			continue
		}
		t := upcomingOrder.of(u.Line)
		for _, a := range u.Attempts {
			// The same order has the same id after a backup was restored.
			list = append(list, Message{ID: NewMessageID(of, a, t, u.Date), Shop: of, Type: t, Line: u.Line, Contract: u.Contract, Attempt: a, At: now, Cause: causedBy(activity.System)})
		}
	}
	return list
}
