package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

const (
	// maxInFlight is how many messages are sent to one endpoint at the same time.
	maxInFlight = 8
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

// deliverTo sends what is due to one endpoint.
func (s *Service) deliverTo(ctx context.Context, of shop.ID, id EndpointID) error {
	for range maxRounds {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		e, taken, more, err := s.claim(ctx, of, id)
		if err != nil {
			return fmt.Errorf("claim the deliveries of webhook endpoint %d: %w", id, err)
		}
		failed, took := make([]error, len(taken)), make([]time.Duration, len(taken))
		var all sync.WaitGroup
		for i, d := range taken {
			all.Go(func() { took[i], failed[i] = s.send(ctx, e, d) })
		}
		all.Wait()
		if err := errors.Join(failed...); err != nil || !more || len(took) > 0 && slices.Max(took) >= slowCall {
			return err
		}
	}
	return nil
}

// claim claims the deliveries that may be sent to an endpoint now, and commits before
// anything is sent. A delivery behind an earlier one about the same contract becomes due
// with it. It reports whether there may be more.
func (s *Service) claim(ctx context.Context, of shop.ID, id EndpointID) (e Endpoint, taken []Delivery, more bool, err error) {
	err = s.Store.Update(ctx, of, func(tx Tx) error {
		taken, more = nil, false
		now := s.Clock.Now()
		var err error
		if e, err = tx.Endpoint(ctx, id); fault.Is(err, fault.NotFound) {
			return nil // the endpoint and its deliveries were removed
		}
		if err != nil {
			return err
		}
		if !e.Enabled { // a message was added while it was being disabled
			return tx.FailDeliveries(ctx, id, "", "the endpoint was disabled")
		}
		if e.Resend.pending() {
			if e.Resend, err = tx.RestartDeliveries(ctx, id, e.Resend, now, restartedAtOnce); err != nil {
				return err
			}
			more = true
			return tx.PutEndpoint(ctx, &e)
		}
		flying, err := tx.InFlight(ctx, id, now)
		if err != nil {
			return err
		}
		room := maxInFlight - flying
		due, err := tx.DueDeliveries(ctx, id, now, batchSize)
		if err != nil {
			return err
		}
		for _, d := range due {
			if len(taken) >= room {
				break
			}
			first := time.Time{}
			if d.ordered() {
				if first, err = tx.PrecedingDue(ctx, d); err != nil {
					return err
				}
			}
			switch {
			case first.IsZero():
				if err := d.move(Sending); err != nil {
					return err
				}
				d.Due = now.Add(sendLease)
				taken = append(taken, d)
			case first.After(now):
				d.Due = first
			default:
				continue // the earlier one has no body yet
			}
			// Deliveries that follow it read its Due.
			if err := tx.PutDeliveries(ctx, d); err != nil {
				return err
			}
			more = true
		}
		return nil
	})
	for i := range taken {
		taken[i].Version++
	}
	return e, taken, more, err
}

// send makes one try, records its result and returns its duration.
func (s *Service) send(ctx context.Context, e Endpoint, d Delivery) (time.Duration, error) {
	m, err := s.Store.Message(ctx, d.Shop, d.Message)
	if fault.Is(err, fault.NotFound) {
		return 0, nil // it is older than Retention and was deleted
	}
	if err != nil || len(m.Body) == 0 { // customer data was erased from it since it was claimed
		return 0, err
	}
	now := s.Clock.Now()
	a := s.Sender.Send(ctx, Call{URL: e.URL, Secrets: e.secrets(now), ID: m.ID, At: now, Body: m.Body})
	if ctx.Err() != nil {
		return 0, ctx.Err() // the lease expires
	}
	return a.Took, s.settle(ctx, d, a)
}

// settle records the result of a try, unless another worker has claimed the delivery since.
func (s *Service) settle(ctx context.Context, taken Delivery, a Answer) error {
	return s.Store.Update(ctx, taken.Shop, func(tx Tx) error {
		now := s.Clock.Now()
		e, err := tx.Endpoint(ctx, taken.Endpoint)
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		d, err := tx.Delivery(ctx, taken.ID)
		if fault.Is(err, fault.NotFound) || err == nil && d.Version != taken.Version {
			return nil
		}
		if err != nil {
			return err
		}
		if err := d.settle(a, now); err != nil {
			return err
		}
		if err := tx.PutDeliveries(ctx, d); err != nil {
			return err
		}
		was := e
		if e.recordResult(a.Failed != "", a.Gone(), now) {
			s.Log.WarnContext(ctx, "a webhook endpoint was disabled", "shop", d.Shop, "endpoint", e.ID, "reason", e.Reason)
			if err := tx.FailDeliveries(ctx, e.ID, "", "the endpoint was disabled: "+e.Reason); err != nil {
				return err
			}
			if err := tx.Record(ctx, e.entry(endpointDisabled, activity.System, now)); err != nil {
				return err
			}
			store, err := tx.Shop(ctx)
			if err != nil {
				return err
			}
			if err := notify.EndpointDisabled(ctx, tx, store, e.URL, e.Reason, fmt.Sprintf("%d-%d", e.ID, now.UnixMilli()), now); err != nil {
				return err
			}
		}
		if e.Enabled != was.Enabled || !e.FailingSince.Equal(was.FailingSince) {
			if err := tx.PutEndpoint(ctx, &e); err != nil {
				return err
			}
		}
		if d.Due.IsZero() && d.ordered() && e.Enabled {
			return tx.ReleaseNext(ctx, d, now)
		}
		return nil
	})
}
