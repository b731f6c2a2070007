package webhook

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Results are how deliveries to an endpoint fared.
type Results struct {
	Delivered int
	Failed    int // not delivered by any try so far
}

// Browser reads deliveries in steps whose work is bounded.
type Browser interface {
	// BrowseDeliveries looks at a bounded number of a shop's deliveries after a cursor and
	// returns at most limit of them that the filter selects, newest first. Next is where to go
	// on; it is zero when nothing is left to look at.
	BrowseDeliveries(ctx context.Context, of shop.ID, q DeliveryFilter, after page.Cursor, limit int) (list []Delivery, next page.Cursor, err error)
	// Delivery returns a delivery, or NotFound.
	Delivery(ctx context.Context, of shop.ID, id DeliveryID) (Delivery, error)
	// Messages returns those of messages that exist, by id.
	Messages(ctx context.Context, of shop.ID, ids []MessageID) (map[MessageID]Message, error)
	// RecentResults returns the results of the deliveries since an instant that were tried, by
	// endpoint. It looks at a bounded number of the newest.
	RecentResults(ctx context.Context, of shop.ID, since time.Time) (map[EndpointID]Results, error)
}

// ReplayTx finds deliveries that failed.
type ReplayTx interface {
	// FailedDeliveries returns at most limit deliveries to an endpoint that failed for good and
	// whose events happened since an instant, in the order of their events.
	FailedDeliveries(ctx context.Context, to EndpointID, since time.Time, limit int) ([]Delivery, error)
}

// Browse returns at most limit deliveries of a shop, newest first, and where to go on; zero
// when nothing is left. An unknown endpoint is NotFound.
func (s *Service) Browse(ctx context.Context, of shop.ID, q DeliveryFilter, after page.Cursor, limit int) ([]Delivery, page.Cursor, error) {
	if q.Endpoint != 0 {
		if _, err := s.Endpoint(ctx, of, q.Endpoint); err != nil {
			return nil, page.Cursor{}, err
		}
	}
	return s.Store.BrowseDeliveries(ctx, of, q, after, limit)
}

// Delivery returns a delivery with its message, or NotFound.
func (s *Service) Delivery(ctx context.Context, of shop.ID, id DeliveryID) (Delivery, Message, error) {
	d, err := s.Store.Delivery(ctx, of, id)
	if err != nil {
		return Delivery{}, Message{}, err
	}
	m, err := s.Store.Message(ctx, of, d.Message)
	return d, m, err
}

// Day returns how the deliveries of the last 24 hours fared, by endpoint.
func (s *Service) Day(ctx context.Context, of shop.ID) (map[EndpointID]Results, error) {
	return s.Store.RecentResults(ctx, of, s.Clock.Now().Add(-24*time.Hour))
}

// MaxReplayed is how many deliveries are sent again at a time.
const MaxReplayed = 1000

// ReplayFailed sends all messages to an endpoint again that failed for good since an instant,
// the oldest first, at most MaxReplayed, and returns how many these are.
func (s *Service) ReplayFailed(ctx context.Context, of shop.ID, id EndpointID, since time.Time) (int, error) {
	var list []Delivery
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		e, err := tx.Endpoint(ctx, id)
		if err != nil {
			return err
		}
		if !e.Enabled {
			return disabled()
		}
		now := s.Clock.Now()
		if since.After(now) {
			return fault.New(fault.Invalid, "the day must not be ahead").Entity(entity).Field("since")
		}
		if list, err = tx.FailedDeliveries(ctx, id, since, MaxReplayed); err != nil || len(list) == 0 {
			return err
		}
		for i := range list {
			if err := list[i].restart(now); err != nil {
				return err
			}
		}
		if err := tx.PutDeliveries(ctx, list...); err != nil {
			return err
		}
		return tx.Enqueue(ctx, Work{of})
	})
	return len(list), err
}
