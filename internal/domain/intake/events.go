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

// ProcessEvents works a shop's events until none is due. Events are only hints: what
// they are about is read anew at the platform, so that their order and their
// number do not matter.
func (s *Service) ProcessEvents(ctx context.Context, of shop.ID) error {
	for ctx.Err() == nil {
		b, err := s.claimBatch(ctx, of)
		if err != nil {
			return fmt.Errorf("take events: %w", err)
		}
		if err := s.processBatch(ctx, b); err != nil {
			return err
		}
		if b.taken < batchSize { // whoever adds another asks for another run
			return nil
		}
	}
	return ctx.Err()
}

// claimBatch takes events that are due and the contracts as they are kept of which they
// tell. An event of a revision that is known, or of an earlier one, is worked with
// that.
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

// processBatch works a batch, kind by kind. What fails is put off and the rest goes on.
func (s *Service) processBatch(ctx context.Context, b batch) error {
	for _, group := range []struct {
		topics []platform.Topic
		work   func(context.Context, batch) error
		unread bool // needs nothing of the platform
	}{
		{topics: []platform.Topic{platform.Uninstalled}, work: s.uninstall, unread: true},
		{topics: []platform.Topic{platform.ShopUpdated}, work: func(ctx context.Context, mine batch) error { // before dates are read of a zone
			return s.readStore(ctx, &b.store, mine.events)
		}},
		{topics: []platform.Topic{platform.AttemptSucceeded, platform.AttemptFailed, platform.AttemptChallenged}, work: s.settle},
		{topics: contractTopics, work: s.readChanged},
		{topics: []platform.Topic{platform.CycleEditCreated, platform.CycleEditUpdated, platform.CycleEditDeleted}, work: s.readCycles},
		{topics: []platform.Topic{platform.PaymentCreated, platform.PaymentUpdated, platform.PaymentRevoked}, work: s.readByPaymentMethod},
		{topics: []platform.Topic{platform.CustomersMerged}, work: s.merge},
		{topics: []platform.Topic{platform.CustomerRedact, platform.ShopRedact}, work: s.redact, unread: true},
		{topics: []platform.Topic{platform.DataRequest}, work: s.noteRequests, unread: true},
	} {
		mine := b
		mine.events = slices.DeleteFunc(slices.Clone(b.events), func(e InboxEvent) bool { return !slices.Contains(group.topics, e.Topic) })
		b.events = slices.DeleteFunc(slices.Clone(b.events), func(e InboxEvent) bool { return slices.Contains(group.topics, e.Topic) })
		if len(mine.events) == 0 {
			continue
		}
		err := platform.ErrDisconnected // nothing can be read until the store is connected again
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
	return s.Store.Update(ctx, b.store.ID, func(tx Tx) error { return tx.FinishEvents(ctx, idsOf(b.events), s.Clock.Now()) }) // nobody waits for them
}

// deferFailed lets events wait after a failure. A batch that failed together is split
// by its members' own counts, so that one poisoned event is given up alone. None is
// for a platform that cannot be reached, or a connection that is gone: however long
// that lasts, it says nothing about the events.
func (s *Service) deferFailed(ctx context.Context, store shop.Shop, events []InboxEvent, cause error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.Log.WarnContext(ctx, "events wait to be worked again", "shop", store.Domain, "events", len(events), "error", cause)
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
