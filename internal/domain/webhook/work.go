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
	// atOnce is how many messages are on their way to an endpoint at a time.
	atOnce = 8
	// lookAt is how many deliveries are looked at together.
	lookAt = 50
	// sendLease is how long a try belongs to whoever took it up.
	sendLease = time.Minute
	// writeAgain is the wait after a body could not be made.
	writeAgain = time.Minute
	// rounds is how often a task goes back to an endpoint, and slow is the try after
	// which it does not: what is left is found again by the sweep, and no endpoint
	// holds a worker for long.
	rounds = 20
	slow   = 2 * time.Second
)

// Work announces orders, makes the bodies of what is due and sends it, to each endpoint by itself:
// one that is slow or down holds up no other.
func (s *Service) Work(ctx context.Context, of shop.ID) error {
	if s.working.Add(1) > int64(s.MaxTasks) {
		s.working.Add(-1)
		return nil // the sweep finds it again
	}
	defer s.working.Add(-1)
	if err := s.announce(ctx, of); err != nil {
		return err
	}
	if err := s.writeDue(ctx, of); err != nil {
		return err
	}
	endpoints, err := s.Store.DueEndpoints(ctx, of, s.Clock.Now())
	if err != nil {
		return err
	}
	failed := make([]error, len(endpoints))
	var all sync.WaitGroup
	for i, id := range endpoints {
		all.Go(func() { failed[i] = s.drain(ctx, of, id) })
	}
	all.Wait()
	return errors.Join(failed...)
}

// writeDue makes bodies, also of messages that must wait for an earlier one: they
// tell how things stood when they were owed.
func (s *Service) writeDue(ctx context.Context, of shop.ID) error {
	for ctx.Err() == nil {
		list, err := s.Store.MessagesWithoutBody(ctx, of, s.Clock.Now(), lookAt)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, m := range list {
			if _, err := s.write(ctx, m); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// write makes the body of a message and returns what is kept, which somebody else
// may have made meanwhile; nothing when it cannot be made now.
func (s *Service) write(ctx context.Context, m Message) ([]byte, error) {
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
		s.Log.WarnContext(ctx, "the body of a webhook could not be made", "shop", m.Shop, "message", m.ID, "error", failed)
	}
	err := s.Store.Update(ctx, m.Shop, func(tx Tx) error {
		switch {
		case fault.Is(failed, fault.NotFound):
			return tx.FailDeliveries(ctx, 0, m.ID, "what it tells of is not known any more")
		case failed != nil:
			return tx.PostponeDeliveries(ctx, m.ID, s.Clock.Now().Add(writeAgain), "the body could not be made")
		}
		return tx.SetBody(ctx, m.ID, text)
	})
	if err != nil || failed != nil {
		return nil, err
	}
	kept, err := s.Store.Message(ctx, m.Shop, m.ID)
	return kept.Body, err
}

// drain sends what is due to one endpoint.
func (s *Service) drain(ctx context.Context, of shop.ID, id EndpointID) error {
	for range rounds {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		e, taken, more, err := s.take(ctx, of, id)
		if err != nil {
			return fmt.Errorf("take up what webhook endpoint %d is owed: %w", id, err)
		}
		failed, took := make([]error, len(taken)), make([]time.Duration, len(taken))
		var all sync.WaitGroup
		for i, d := range taken {
			all.Go(func() { took[i], failed[i] = s.send(ctx, e, d) })
		}
		all.Wait()
		if err := errors.Join(failed...); err != nil || !more || len(took) > 0 && slices.Max(took) >= slow {
			return err
		}
	}
	return nil
}

// take takes up what may be sent to an endpoint now, and commits that before
// anything is sent. What must wait for an earlier message about the same contract
// is due when that one is. It reports whether there may be more.
func (s *Service) take(ctx context.Context, of shop.ID, id EndpointID) (e Endpoint, taken []Delivery, more bool, err error) {
	err = s.Store.Update(ctx, of, func(tx Tx) error {
		taken, more = nil, false
		now := s.Clock.Now()
		var err error
		if e, err = tx.Endpoint(ctx, id); fault.Is(err, fault.NotFound) {
			return nil // it was removed, and all that was owed to it
		}
		if err != nil {
			return err
		}
		if !e.Enabled { // what was owed while it was being disabled
			return tx.FailDeliveries(ctx, id, "", "the endpoint was disabled")
		}
		flying, err := tx.InFlight(ctx, id, now)
		if err != nil {
			return err
		}
		room := atOnce - flying
		due, err := tx.DueDeliveries(ctx, id, now, lookAt)
		if err != nil {
			return err
		}
		for _, d := range due {
			if len(taken) >= room {
				break
			}
			first := time.Time{}
			if d.follows() {
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
			// What comes after it looks it up.
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

// send makes one try, notes how it ended and returns how long it took.
func (s *Service) send(ctx context.Context, e Endpoint, d Delivery) (time.Duration, error) {
	m, err := s.Store.Message(ctx, d.Shop, d.Message)
	if fault.Is(err, fault.NotFound) {
		return 0, nil // it is too old, and forgotten with its deliveries
	}
	if err == nil && len(m.Body) == 0 {
		m.Body, err = s.write(ctx, m)
	}
	if err != nil || len(m.Body) == 0 {
		return 0, err
	}
	now := s.Clock.Now()
	a := s.Sender.Send(ctx, Call{URL: e.URL, Secrets: e.secrets(now), ID: m.ID, At: now, Body: m.Body})
	if ctx.Err() != nil {
		return 0, ctx.Err() // the lease ends by itself
	}
	return a.Took, s.settle(ctx, d, a)
}

// settle notes how a try ended, unless the try belongs to somebody else by now.
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
		if e.heard(a.Failed != "", a.Gone(), now) {
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
		if d.Due.IsZero() && d.follows() && e.Enabled {
			return tx.ReleaseNext(ctx, d, now)
		}
		return nil
	})
}
