package webhook

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

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
