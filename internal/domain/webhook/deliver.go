package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// deliverTo sends what is due to one endpoint. An endpoint that answers quickly is given more at once.
func (s *Service) deliverTo(ctx context.Context, of shop.ID, id EndpointID) error {
	size := maxInFlight
	for range maxRounds {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c, more, err := s.claim(ctx, of, id, size)
		if err != nil {
			return fmt.Errorf("claim the deliveries of webhook endpoint %d: %w", id, err)
		}
		slowest, err := s.send(ctx, c)
		if err != nil || !more || slowest >= slowCall {
			return err
		}
		size = maxInFlight
		if slowest < quickCall {
			size = claimAtOnce
		}
	}
	return nil
}

// claimed are deliveries that a worker owns until an instant.
type claimed struct {
	endpoint Endpoint
	list     []Delivery
	until    time.Time
}

// claim claims at most size deliveries that may be sent to an endpoint now, and commits before
// anything is sent. More than maxInFlight are claimed only when no other worker sends to it. A
// delivery behind an earlier one about the same contract becomes due with it. It reports whether
// there may be more.
func (s *Service) claim(ctx context.Context, of shop.ID, id EndpointID, size int) (c claimed, more bool, err error) {
	err = s.Store.Update(ctx, of, func(tx Tx) error {
		now := s.Clock.Now()
		c, more = claimed{until: now.Add(sendLease)}, false
		e, err := tx.Endpoint(ctx, id)
		if fault.Is(err, fault.NotFound) {
			return nil // the endpoint and its deliveries were removed
		}
		if err != nil {
			return err
		}
		c.endpoint = e
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
		if flying > 0 {
			size = maxInFlight - flying
		}
		due, err := tx.DueDeliveries(ctx, id, now, max(size, batchSize))
		if err != nil {
			return err
		}
		changed, err := c.take(ctx, tx, due, size, now)
		if err != nil {
			return err
		}
		more = len(changed) > 0
		return tx.PutDeliveries(ctx, changed...)
	})
	for i := range c.list {
		c.list[i].Version++
	}
	return c, more, err
}

// subject is what deliveries are kept in order about.
type subject struct{ contract, customer int64 }

// take claims those of deliveries that are due, oldest first, that wait for no earlier one. It returns
// what it changed.
func (c *claimed) take(ctx context.Context, tx Tx, due []Delivery, size int, now time.Time) (changed []Delivery, err error) {
	preceding, err := tx.PrecedingDue(ctx, slices.DeleteFunc(slices.Clone(due), func(d Delivery) bool { return !d.ordered() }))
	if err != nil {
		return nil, err
	}
	earlier := map[subject]bool{} // that are claimed here
	for _, d := range due {
		if len(c.list) >= size {
			break
		}
		first, about := time.Time{}, subject{int64(d.Contract), d.Customer}
		switch {
		case d.ordered() && earlier[about]:
			first = c.until
		case d.ordered():
			first = preceding[d.ID]
		}
		switch {
		case first.IsZero():
			if err := d.move(Sending); err != nil {
				return nil, err
			}
			d.Due = c.until
			c.list, earlier[about] = append(c.list, d), true
		case first.After(now):
			d.Due, earlier[about] = first, true
		default:
			continue // the earlier one has no body yet
		}
		changed = append(changed, d)
	}
	return changed, nil
}

// result is what became of a try.
type result struct {
	of     Delivery
	answer Answer
}

// send makes a try of each delivery, maxInFlight at a time, records the results and returns the
// duration of the slowest. What could not be begun long before the claim ends is left: it falls due
// again then.
func (s *Service) send(ctx context.Context, c claimed) (slowest time.Duration, err error) {
	if len(c.list) == 0 {
		return 0, nil
	}
	var ids []MessageID
	for _, d := range c.list {
		ids = append(ids, d.Message)
	}
	messages, err := s.Store.Messages(ctx, c.endpoint.Shop, ids)
	if err != nil {
		return 0, err
	}
	todo, results := make(chan Delivery, len(c.list)), make(chan result, len(c.list))
	for _, d := range c.list {
		todo <- d
	}
	close(todo)
	var stopped atomic.Bool // nothing more is begun
	var workers sync.WaitGroup
	failed := make([]error, min(maxInFlight, len(c.list)))
	for i := range failed {
		workers.Go(func() {
			for d := range todo {
				if stopped.Load() || failed[i] != nil || !s.Clock.Now().Before(c.until.Add(-2*CallTimeout)) {
					continue
				}
				var r *result
				if r, failed[i] = s.try(ctx, c.endpoint, d, messages[d.Message]); r != nil {
					results <- *r
				}
			}
		})
	}
	go func() {
		workers.Wait()
		close(results)
	}()
	for r := range results {
		list := []result{r}
		for more := true; more; { // what has come meanwhile is recorded together
			select {
			case r, open := <-results:
				if more = open; open {
					list = append(list, r)
				}
			default:
				more = false
			}
		}
		for _, r := range list {
			slowest = max(slowest, r.answer.Took)
		}
		if err != nil {
			continue
		}
		var enabled bool
		if enabled, err = s.settle(ctx, c.endpoint, list); err != nil || !enabled {
			stopped.Store(true)
		}
	}
	return slowest, errors.Join(append(failed, err)...)
}

// try makes one try; nil when there was none. A message without a body is older than
// Retention and was deleted, or had customer data that was erased since it was claimed.
func (s *Service) try(ctx context.Context, e Endpoint, d Delivery, m Message) (*result, error) {
	if len(m.Body) == 0 {
		return nil, nil
	}
	now := s.Clock.Now()
	a := s.Sender.Send(ctx, Call{URL: e.URL, Secrets: e.secrets(now), ID: m.ID, At: now, Body: m.Body})
	if ctx.Err() != nil {
		return nil, ctx.Err() // the lease expires
	}
	return &result{d, a}, nil
}

// settle records the results of tries of an endpoint, save those of deliveries that another worker has
// claimed since. It reports whether the endpoint is enabled still.
func (s *Service) settle(ctx context.Context, sentTo Endpoint, list []result) (enabled bool, err error) {
	err = s.Store.Update(ctx, sentTo.Shop, func(tx Tx) error {
		enabled = false
		now := s.Clock.Now()
		e, err := tx.Endpoint(ctx, sentTo.ID)
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		was := e
		var ids []DeliveryID
		for _, r := range list {
			ids = append(ids, r.of.ID)
		}
		current, err := tx.Deliveries(ctx, ids)
		if err != nil {
			return err
		}
		var changed []Delivery
		for _, r := range list {
			at := slices.IndexFunc(current, func(d Delivery) bool { return d.ID == r.of.ID && d.Version == r.of.Version })
			if at < 0 {
				continue
			}
			d := current[at]
			if err := d.settle(r.answer, now); err != nil {
				return err
			}
			changed = append(changed, d)
			if e.Enabled {
				e.recordResult(r.answer.Failed != "", r.answer.Gone(), now)
			}
		}
		if err := tx.PutDeliveries(ctx, changed...); err != nil {
			return err
		}
		if was.Enabled && !e.Enabled {
			if err := s.disabled(ctx, tx, e, now); err != nil {
				return err
			}
		}
		if e.Enabled != was.Enabled || !e.FailingSince.Equal(was.FailingSince) {
			if err := tx.PutEndpoint(ctx, &e); err != nil {
				return err
			}
		}
		if enabled = e.Enabled; !enabled {
			return nil
		}
		return tx.ReleaseNext(ctx, slices.DeleteFunc(changed, func(d Delivery) bool { return !d.Due.IsZero() || !d.ordered() }), now)
	})
	return enabled, err
}

// disabled ends what waits for an endpoint that was disabled, and tells the merchant.
func (s *Service) disabled(ctx context.Context, tx Tx, e Endpoint, now time.Time) error {
	s.Log.WarnContext(ctx, "a webhook endpoint was disabled", "shop", e.Shop, "endpoint", e.ID, "reason", e.Reason)
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
	return notify.EndpointDisabled(ctx, tx, store, e.URL, e.Reason, fmt.Sprintf("%d-%d", e.ID, now.UnixMilli()), now)
}
