package intake

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// ProcessEvents processes a shop's events until none is due. Events are hints: what they
// are about is read at the platform, so that neither their order nor their number
// matters.
func (s *Service) ProcessEvents(ctx context.Context, of shop.ID) error {
	for ctx.Err() == nil {
		b, err := s.claimBatch(ctx, of)
		if err != nil {
			return fmt.Errorf("take events: %w", err)
		}
		if err := s.processBatch(ctx, b); err != nil {
			return err
		}
		if b.taken < batchSize { // adding an event enqueues another run
			return nil
		}
	}
	return ctx.Err()
}

// claimBatch claims due events and reads the stored contracts that they report. Events
// about a revision that is already stored are marked as processed.
func (s *Service) claimBatch(ctx context.Context, of shop.ID) (batch, error) {
	var b batch
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		b = batch{}
		now := s.Clock.Now()
		events, err := tx.ClaimEvents(ctx, now, now.Add(s.Policy.Lease), batchSize)
		if err != nil || len(events) == 0 {
			return err
		}
		b.taken = len(events)
		if b.store, err = tx.Shop(ctx); err != nil {
			return err
		}
		if b.known, err = storedContracts(ctx, tx, contractsOf(events)); err != nil {
			return err
		}
		var past []InboxEvent
		for _, e := range events {
			if c := b.known[contract.ID(e.Contract)]; slices.Contains(contractTopics, e.Topic) && c != nil && e.Revision != 0 && e.Revision <= c.Revision {
				past = append(past, e)
				continue
			}
			b.events = append(b.events, e)
		}
		return tx.FinishEvents(ctx, idsOf(past), now)
	})
	return b, err
}

// processBatch processes a batch, topic by topic. Events that fail are deferred, and the
// others go on.
func (s *Service) processBatch(ctx context.Context, b batch) error {
	for _, group := range []struct {
		topics []platform.Topic
		work   func(context.Context, batch) error
		unread bool // does not read the platform
	}{
		{topics: []platform.Topic{platform.Uninstalled}, work: s.uninstall, unread: true},
		{topics: []platform.Topic{platform.ShopUpdated}, work: func(ctx context.Context, mine batch) error { // before dates are read in its zone
			return s.readStore(ctx, &b.store, mine.events)
		}},
		{topics: []platform.Topic{platform.AttemptSucceeded, platform.AttemptFailed, platform.AttemptChallenged}, work: s.settle},
		{topics: contractTopics, work: s.readChanged},
		{topics: []platform.Topic{platform.CycleEditCreated, platform.CycleEditUpdated, platform.CycleEditDeleted}, work: s.readCycles},
		{topics: []platform.Topic{platform.PaymentCreated, platform.PaymentUpdated, platform.PaymentRevoked}, work: s.readByPaymentMethod},
		{topics: []platform.Topic{platform.CustomersMerged}, work: s.merge},
		{topics: []platform.Topic{platform.CustomerRedact, platform.ShopRedact}, work: s.redact, unread: true},
		{topics: []platform.Topic{platform.DataRequest}, work: s.receiveRequests, unread: true},
	} {
		mine := b
		mine.events = slices.DeleteFunc(slices.Clone(b.events), func(e InboxEvent) bool { return !slices.Contains(group.topics, e.Topic) })
		b.events = slices.DeleteFunc(slices.Clone(b.events), func(e InboxEvent) bool { return slices.Contains(group.topics, e.Topic) })
		if len(mine.events) == 0 {
			continue
		}
		err := platform.ErrDisconnected // nothing can be read while the store is disconnected
		if b.store.Connected || group.unread {
			err = group.work(ctx, mine)
		}
		if err != nil {
			if err := s.deferFailed(ctx, b.store, mine.events, err); err != nil {
				return err
			}
		}
	}
	if len(b.events) == 0 {
		return nil
	}
	return s.Store.Update(ctx, b.store.ID, func(tx Tx) error { return tx.FinishEvents(ctx, idsOf(b.events), s.Clock.Now()) }) // other topics are ignored
}

// deferFailed defers events after a failure. A batch that fails together is split by its
// events' own counts, so that one invalid event is given up alone. No event is given up
// because the platform cannot be reached or the store is disconnected, however long that
// lasts.
func (s *Service) deferFailed(ctx context.Context, store shop.Shop, events []InboxEvent, cause error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.Log.WarnContext(ctx, "events are deferred", "shop", store.Domain, "events", len(events), "error", cause)
	now := s.Clock.Now()
	return s.Store.Update(ctx, store.ID, func(tx Tx) error {
		for _, e := range events {
			until, failures := now.Add(s.Policy.backoff(e.Failures)), e.Failures+1
			switch {
			case unreachable(cause):
				failures = e.afterOutage()
			case failures >= maxFailures:
				until = time.Time{}
			}
			if err := tx.DeferEvents(ctx, []string{e.ID}, until, failures, cause.Error()); err != nil {
				return err
			}
		}
		return nil
	})
}
