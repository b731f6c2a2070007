// Package publish makes the platform's cycles like ours: skips, moved dates, the next billing
// date and one-time products. Preparing an order for its charge is left to package prepare.
package publish

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Service publishes attempts at the platform.
type Service struct{ *billing.Env }

// attemptsAtOnce is how many attempts one transaction claims.
const attemptsAtOnce = 200

// Work publishes the attempts of a shop that have changed, and repeats a call until the
// platform has answered it. One worker at a time publishes a contract: a slow call must not
// arrive after a newer one, because the platform's state would then look like an edit by a
// person.
func (s *Service) Work(ctx context.Context, of shop.ID) error {
	for ctx.Err() == nil {
		var store shop.Shop
		var claimed []billing.Attempt
		var contracts map[contract.ID]*contract.Contract
		var oneOffs billing.OneOffs
		err := s.Store.Update(ctx, of, func(tx billing.Tx) error {
			var err error
			if claimed, err = tx.UnpublishedAttempts(ctx, s.Clock.Now(), attemptsAtOnce); err != nil || len(claimed) == 0 {
				return err
			}
			if store, err = tx.Shop(ctx); err != nil {
				return err
			}
			if contracts, err = billing.ContractsByID(tx.Contracts(ctx, billing.ContractIDs(claimed))); err != nil {
				return err
			}
			now := s.Clock.Now()
			if claimed, err = tx.LeasePublishing(ctx, claimed, now, now.Add(s.Policy.Lease)); err != nil {
				return err
			}
			oneOffs, err = billing.ReadOneOffs(ctx, tx, contracts)
			return err
		})
		if err != nil || len(claimed) == 0 {
			return err
		}
		sent, failed := s.publishAll(ctx, store, claimed, contracts, oneOffs)
		if err := s.settle(ctx, of, sent, oneOffs, failed); err != nil {
			return fmt.Errorf("settle %d published attempts: %w", len(sent), err)
		}
	}
	return ctx.Err()
}

// publishAll publishes attempts, and the next billing date of each contract once. It returns
// the attempts as they were sent, and which of them the platform did not answer. It stops
// when the claim ends.
func (s *Service) publishAll(
	ctx context.Context, of shop.Shop, claimed []billing.Attempt, contracts map[contract.ID]*contract.Contract, oneOffs billing.OneOffs,
) (sent map[billing.AttemptID]billing.Attempt, failed map[billing.AttemptID]bool) {
	ctx, cancel := context.WithTimeout(ctx, s.Policy.Lease)
	defer cancel()
	byContract := billing.ByContract(claimed)
	var mu sync.Mutex
	sent, failed = make(map[billing.AttemptID]billing.Attempt, len(claimed)), make(map[billing.AttemptID]bool)
	ids := billing.ContractIDs(claimed)
	s.Each(ctx, len(ids), func(i int) {
		attempts := byContract[ids[i]]
		err := s.publish(ctx, of, attempts, *contracts[ids[i]], oneOffs)
		if err != nil {
			s.Log.WarnContext(ctx, "a change was not published at the platform", "shop", of.Domain, "contract", ids[i], "error", err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, a := range attempts {
			sent[a.ID], failed[a.ID] = a, err != nil
		}
	})
	return sent, failed
}

// publish makes the platform's cycles of a contract like ours. A refusal is an answer too: the
// platform keeps its schedule, and we charge by ours.
func (s *Service) publish(ctx context.Context, of shop.Shop, attempts []billing.Attempt, c contract.Contract, oneOffs billing.OneOffs) error {
	for i, a := range attempts {
		extra := oneOffs.For(a)
		if editObsolete(a, extra) {
			err := s.Platform.DropCycleEdit(ctx, of.At(), platform.CycleRef{Contract: int64(a.Contract), Index: a.Cycle})
			if err = s.ignoreRefusal(ctx, of, a, err); err != nil {
				return err
			}
		}
		var err error
		switch a.Status {
		case billing.Skipped:
			err = s.Platform.SkipCycle(ctx, of.At(), int64(a.Contract), a.Cycle)
		case billing.Queued:
			err = s.Platform.UnskipCycle(ctx, of.At(), int64(a.Contract), a.Cycle)
			if err = s.ignoreRefusal(ctx, of, a, err); err == nil && (a.Moved || c.SeriesOf(a.Cycle).Moved) {
				err = s.Platform.MoveCycle(ctx, of.At(), int64(a.Contract), a.Cycle, a.BillingDate)
			}
		}
		if attempts[i].Prep.Kept, err = s.keptDate(ctx, of, a, err); err != nil {
			return err
		}
		if len(extra) > 0 && s.mayPublishOneOffs(a) {
			if err := s.ignoreRefusal(ctx, of, a, s.publishOneOffs(ctx, of, &attempts[i], extra)); err != nil {
				return err
			}
		}
	}
	if c.NextBillingDate.IsZero() {
		return nil
	}
	return s.ignoreRefusal(ctx, of, attempts[0], s.Platform.SetNextBillingDate(ctx, of.At(), int64(c.ID), c.NextBillingDate))
}

// ignoreRefusal logs a refusal of the platform and drops it.
func (s *Service) ignoreRefusal(ctx context.Context, of shop.Shop, a billing.Attempt, err error) error {
	if refusal, ok := errors.AsType[*platform.Refusal](err); ok {
		s.Log.InfoContext(ctx, "the platform keeps its own schedule for a cycle", "shop", of.Domain, "attempt", a.ID, "cycle", a.Cycle, "code", refusal.Code)
		return nil
	}
	return err
}

// keptDate is ignoreRefusal for a call about a cycle's date. After a refusal it returns the
// date that the platform keeps; otherwise zero.
func (s *Service) keptDate(ctx context.Context, of shop.Shop, a billing.Attempt, err error) (time.Time, error) {
	if _, refused := errors.AsType[*platform.Refusal](err); !refused {
		return time.Time{}, err
	}
	if err := s.ignoreRefusal(ctx, of, a, err); err != nil {
		return time.Time{}, err
	}
	states, err := s.Platform.CycleStates(ctx, of.At(), []platform.CycleRef{{Contract: int64(a.Contract), Index: a.Cycle}})
	if err != nil || len(states) == 0 {
		return time.Time{}, s.ignoreRefusal(ctx, of, a, err)
	}
	return states[0].Cycle.Expected, nil
}

// settle records what was published and releases the claims. Calls that failed are made again
// later.
func (s *Service) settle(ctx context.Context, of shop.ID, sent map[billing.AttemptID]billing.Attempt, oneOffs billing.OneOffs, failed map[billing.AttemptID]bool) error {
	ids := slices.Sorted(maps.Keys(sent))
	return s.Store.Update(ctx, of, func(tx billing.Tx) error {
		rows, err := tx.Attempts(ctx, ids)
		if err != nil {
			return err
		}
		var done []billing.Attempt
		for _, a := range rows {
			was := sent[a.ID]
			if a.PublishLeaseUntil.Equal(was.PublishLeaseUntil) {
				a.PublishLeaseUntil = time.Time{}
			}
			done = append(done, settled(a, was, failed[a.ID], oneOffs, s.Clock.Now(), s.Policy))
		}
		return tx.PutAttempts(ctx, done)
	})
}

// settled returns an attempt after it was published as sent says.
func settled(a, sent billing.Attempt, failed bool, oneOffs billing.OneOffs, now time.Time, p billing.Policy) billing.Attempt {
	if a.Version == sent.Version {
		a.Prep.Revision = sent.Prep.Revision
	}
	switch {
	case a.Status != sent.Status || !a.BillingDate.Equal(sent.BillingDate) || !a.PublishAt.Equal(sent.PublishAt):
		// The attempt has changed since. If the claim has ended, another worker may have
		// published the change already, and this call, which is older, may have come after it.
		if (a.Status == billing.Queued || a.Status == billing.Skipped) && a.PublishAt.IsZero() {
			a.PublishAt = now
		}
	case a.Version != sent.Version: // its one-time products may have changed in the same instant
	case failed:
		a.PublishAt = now.Add(p.Repair)
	default:
		a.PublishAt, a.Prep.Kept = time.Time{}, sent.Prep.Kept
		if editObsolete(sent, oneOffs.For(sent)) {
			a.Prep.Edited = false
		}
	}
	return a
}
