package webhook

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

const (
	// maxInFlight is how many messages are sent to one endpoint at the same time.
	maxInFlight = 8
	// claimAtOnce is how many are claimed at once for an endpoint that answers within quickCall.
	claimAtOnce = 120
	quickCall   = 250 * time.Millisecond
	// batchSize is how many deliveries one transaction reads.
	batchSize = 50
	// sendLease is how long a worker owns a try that it claimed.
	sendLease = time.Minute
	// renderRetry is the delay after a body could not be rendered.
	renderRetry = time.Minute
	// maxRounds is how often a task returns to one endpoint, and slowCall is the duration of
	// a try after which it stops early. The sweep finds what is left, so that one endpoint
	// does not occupy a worker for long.
	maxRounds = 20
	slowCall  = 2 * time.Second
	// restartedAtOnce is how many deliveries one transaction restarts.
	restartedAtOnce = 2000
)

// WithoutBody returns due messages that have no body, including those that wait for an
// earlier one, so that a body shows the state at the time of the event. Each of them is
// given to Rendered or NotRendered. It returns none when there are no more.
func (s *Service) WithoutBody(ctx context.Context, of shop.ID) ([]Message, error) {
	return s.Store.MessagesWithoutBody(ctx, of, s.Clock.Now(), batchSize)
}

// Rendered stores the body of a message with the given data, JSON in the shape of the
// interface. A body that another worker has stored first stays.
func (s *Service) Rendered(ctx context.Context, m Message, data []byte) error {
	text, err := m.bodyOf(data)
	if err != nil {
		return err
	}
	return s.Store.Update(ctx, m.Shop, func(tx Tx) error { return tx.SetBody(ctx, m.ID, text) })
}

// NotRendered records why the data of a message could not be rendered. The deliveries fail
// when the record no longer exists, and wait otherwise.
func (s *Service) NotRendered(ctx context.Context, m Message, why error) error {
	s.Log.WarnContext(ctx, "the body of a webhook could not be rendered", "shop", m.Shop, "message", m.ID, "error", why)
	return s.Store.Update(ctx, m.Shop, func(tx Tx) error {
		if fault.Is(why, fault.NotFound) {
			if err := tx.PlaceWithoutBody(ctx, m.ID); err != nil {
				return err
			}
			return tx.FailDeliveries(ctx, 0, m.ID, "the record that it is about no longer exists")
		}
		until := s.Clock.Now().Add(renderRetry)
		if err := tx.PostponePlacing(ctx, m.ID, until); err != nil {
			return err
		}
		return tx.PostponeDeliveries(ctx, m.ID, until, "the body could not be rendered")
	})
}

// Deliver sends the due messages that have a body. Endpoints are independent: a slow or
// failing one does not delay the others.
func (s *Service) Deliver(ctx context.Context, of shop.ID) error {
	if s.working.Add(1) > int64(s.MaxTasks) {
		s.working.Add(-1)
		return nil // the sweep finds it again
	}
	defer s.working.Add(-1)
	endpoints, err := s.Store.DueEndpoints(ctx, of, s.Clock.Now())
	if err != nil {
		return err
	}
	failed := make([]error, len(endpoints))
	var all sync.WaitGroup
	for i, id := range endpoints {
		all.Go(func() { failed[i] = s.deliverTo(ctx, of, id) })
	}
	all.Wait()
	return errors.Join(failed...)
}
