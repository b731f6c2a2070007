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
)

// Work publishes upcoming orders, renders due messages and sends them. Endpoints are
// independent: a slow or failing one does not delay the others.
func (s *Service) Work(ctx context.Context, of shop.ID) error {
	if s.working.Add(1) > int64(s.MaxTasks) {
		s.working.Add(-1)
		return nil // the sweep finds it again
	}
	defer s.working.Add(-1)
	if err := s.publishUpcoming(ctx, of); err != nil {
		return err
	}
	if err := s.renderDue(ctx, of); err != nil {
		return err
	}
	endpoints, err := s.Store.DueEndpoints(ctx, of, s.Clock.Now())
	if err != nil {
		return err
	}
	failed := make([]error, len(endpoints))
	var all sync.WaitGroup
	for i, id := range endpoints {
		all.Go(func() { failed[i] = s.deliver(ctx, of, id) })
	}
	all.Wait()
	return errors.Join(failed...)
}

// renderDue renders the bodies of due messages, including those that wait for an earlier
// one, so that a body shows the state at the time of the event.
func (s *Service) renderDue(ctx context.Context, of shop.ID) error {
	for ctx.Err() == nil {
		list, err := s.Store.MessagesWithoutBody(ctx, of, s.Clock.Now(), batchSize)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, m := range list {
			if _, err := s.render(ctx, m); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// render renders the body of a message and returns the stored one, which another worker may
// have stored first. It returns nil when rendering failed for now.
func (s *Service) render(ctx context.Context, m Message) ([]byte, error) {
	data, failed := s.Renderer.Data(ctx, m)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var text []byte
	if failed == nil {
		var err error
		if text, err = m.bodyOf(data); err != nil {
			return nil, err
		}
	} else {
		s.Log.WarnContext(ctx, "the body of a webhook could not be rendered", "shop", m.Shop, "message", m.ID, "error", failed)
	}
	err := s.Store.Update(ctx, m.Shop, func(tx Tx) error {
		switch {
		case fault.Is(failed, fault.NotFound):
			return tx.FailDeliveries(ctx, 0, m.ID, "the record that it is about no longer exists")
		case failed != nil:
			return tx.PostponeDeliveries(ctx, m.ID, s.Clock.Now().Add(renderRetry), "the body could not be rendered")
		}
		return tx.SetBody(ctx, m.ID, text)
	})
	if err != nil || failed != nil {
		return nil, err
	}
	kept, err := s.Store.Message(ctx, m.Shop, m.ID)
	return kept.Body, err
}

// deliver sends what is due to one endpoint.
func (s *Service) deliver(ctx context.Context, of shop.ID, id EndpointID) error {
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
			if first.IsZero() {
				if err := d.move(Sending); err != nil {
					return err
				}
				d.Due = now.Add(sendLease)
				taken = append(taken, d)
			} else {
				d.Due = first
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
	if err == nil && len(m.Body) == 0 {
		m.Body, err = s.render(ctx, m)
	}
	if err != nil || len(m.Body) == 0 {
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
