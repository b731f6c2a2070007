package webhook

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Upcoming is the next order of a contract, which is to be announced.
type Upcoming struct {
	Line     shop.Line
	Contract contract.ID
	Date     time.Time
	// Attempts wait for that date and were not announced, for another date either.
	Attempts []int64
}

// announces reports whether a type tells of orders to come.
func (t Type) announces() bool {
	return t == upcomingOrder.of(shop.Subscriptions) || t == upcomingOrder.of(shop.Memberships)
}

// WantsUpcoming reports whether the endpoint is told of orders to come.
func (e Endpoint) WantsUpcoming() bool { return slices.ContainsFunc(e.Types, Type.announces) }

// announce tells of the orders that are to come, each attempt once. What of them is
// too late to be told is passed over. A store that is not charged announces nothing.
func (s *Service) announce(ctx context.Context, of shop.ID) error {
	for ctx.Err() == nil {
		n := 0
		err := s.Store.Update(ctx, of, func(tx Tx) error {
			n = 0
			endpoints, err := tx.EnabledEndpoints(ctx)
			if err != nil || !slices.ContainsFunc(endpoints, Endpoint.WantsUpcoming) {
				return err
			}
			now := s.Clock.Now()
			store, err := tx.Shop(ctx)
			if err != nil || !store.Connected || store.Guard.BlockReason(now) != "" {
				return err
			}
			due, err := tx.UpcomingOrders(ctx, now, lookAt)
			if err != nil {
				return err
			}
			n = len(due)
			if err := tx.AddMessages(ctx, Address(endpoints, announcements(of, due, now))...); err != nil {
				return err
			}
			return tx.MarkPublished(ctx, due)
		})
		if err != nil {
			return fmt.Errorf("announce orders: %w", err)
		}
		if n < lookAt {
			return nil
		}
	}
	return ctx.Err()
}

func announcements(of shop.ID, due []Upcoming, now time.Time) (list []Message) {
	for _, u := range due {
		if !u.Date.After(now) {
			continue
		}
		t := upcomingOrder.of(u.Line)
		for _, a := range u.Attempts {
			// Of a database that was put back the same order is the same message.
			list = append(list, Message{ID: NewMessageID(of, a, t, u.Date), Shop: of, Type: t, Line: u.Line, Contract: u.Contract, Attempt: a, At: now})
		}
	}
	return list
}
