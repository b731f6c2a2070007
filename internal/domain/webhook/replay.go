package webhook

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Resend is what is left to do of sending an endpoint its messages again: the deliveries after a
// cursor, from the oldest on, whose events happened up to an instant. The zero Resend is none.
type Resend struct {
	After page.Cursor
	Until time.Time
}

func (r Resend) pending() bool { return !r.Until.IsZero() }

// restartedAtOnce is how many deliveries one transaction restarts.
const restartedAtOnce = 2000

// ResendTx restarts deliveries in order.
type ResendTx interface {
	// CountDeliveries returns how many deliveries to an endpoint have an event from one instant
	// to another one.
	CountDeliveries(ctx context.Context, to EndpointID, since, until time.Time) (int, error)
	// RestartDeliveries makes at most limit deliveries to an endpoint due with all their tries,
	// except those that are being sent, and returns what is left.
	RestartDeliveries(ctx context.Context, to EndpointID, r Resend, now time.Time, limit int) (Resend, error)
}

// ReplaySince sends all messages to an endpoint again whose events happened since an instant, with
// the same ids and bodies, and returns how many these are. Nothing else is sent to the endpoint
// until all of them wait, so that they keep their order, and what happens later follows.
func (s *Service) ReplaySince(ctx context.Context, of shop.ID, id EndpointID, since time.Time) (int, error) {
	n := 0
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
			return fault.New(fault.Invalid, "'since' is in the future").Entity(entity).Code("replaySince").Field("since")
		}
		if since.Before(now.Add(-Retention)) {
			return fault.New(fault.Invalid, "'since' is more than %d days ago: older messages are not kept", int(Retention.Hours()/24)).Entity(entity).Code("replaySince").Field("since")
		}
		if n, err = tx.CountDeliveries(ctx, id, since, now); err != nil || n == 0 {
			return err
		}
		e.Resend = Resend{After: page.Cursor{At: since}, Until: now}
		if e.Resend, err = tx.RestartDeliveries(ctx, id, e.Resend, now, restartedAtOnce); err != nil {
			return err
		}
		if err := tx.PutEndpoint(ctx, &e); err != nil {
			return err
		}
		return tx.Enqueue(ctx, Work{of})
	})
	return n, err
}
