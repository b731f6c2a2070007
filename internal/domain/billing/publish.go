package billing

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// publish tells the platform of skips, of dates that people chose, and of the
// next date after an order. What is ours is committed before; the platform is
// told until it has heard. One at a time tells of a contract: a word that was slow
// must not come after a newer one, for the platform's state would then look like
// somebody's wish.
func (s *Service) publish(ctx context.Context, of shop.ID) error {
	for ctx.Err() == nil {
		var store shop.Shop
		var news []Attempt
		var contracts map[contract.ID]*contract.Contract
		var needs preparations
		err := s.Store.Update(ctx, of, func(tx Tx) error {
			var err error
			if news, err = tx.UnpublishedAttempts(ctx, s.Clock.Now(), batchSize); err != nil || len(news) == 0 {
				return err
			}
			if store, err = tx.Shop(ctx); err != nil {
				return err
			}
			if contracts, err = byID(tx.Contracts(ctx, contractsOf(news))); err != nil {
				return err
			}
			now := s.Clock.Now()
			if news, err = tx.ClaimNews(ctx, news, now, now.Add(s.Policy.Lease)); err != nil {
				return err
			}
			needs, err = readOneOffs(ctx, tx, contracts)
			return err
		})
		if err != nil || len(news) == 0 {
			return err
		}
		told, unheard := s.tellAll(ctx, store, news, contracts, needs)
		if err := s.published(ctx, of, told, needs, unheard); err != nil {
			return fmt.Errorf("note what was published: %w", err)
		}
	}
	return ctx.Err()
}

// tellAll tells the platform of attempts, and of each contract's next date once.
// It returns the attempts as they were told, and those of which the platform has not
// heard all. It leaves off when the claim on them ends.
func (s *Service) tellAll(ctx context.Context, of shop.Shop, news []Attempt, contracts map[contract.ID]*contract.Contract, needs preparations) (told map[AttemptID]Attempt, unheard map[AttemptID]bool) {
	ctx, cancel := context.WithTimeout(ctx, s.Policy.Lease)
	defer cancel()
	byContract := ByContract(news)
	var mu sync.Mutex
	told, unheard = make(map[AttemptID]Attempt, len(news)), make(map[AttemptID]bool)
	ids := contractsOf(news)
	s.fan(ctx, len(ids), func(i int) {
		attempts := byContract[ids[i]]
		err := s.tell(ctx, of, attempts, *contracts[ids[i]], needs)
		if err != nil {
			s.Log.WarnContext(ctx, "the platform was not told of a change", "shop", of.Domain, "contract", ids[i], "error", err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, a := range attempts {
			told[a.ID], unheard[a.ID] = a, err != nil
		}
	})
	return told, unheard
}

// tell makes the platform's cycles of a contract like ours. A definite no is an
// answer too: the platform's own rules stand, and ours still decide when we
// charge.
func (s *Service) tell(ctx context.Context, of shop.Shop, attempts []Attempt, c contract.Contract, needs preparations) error {
	for i, a := range attempts {
		oneOffs := needs.oneOffsOf(a)
		if a.plainAgain(oneOffs) {
			err := s.Platform.DropCycleEdit(ctx, of.At(), platform.CycleRef{Contract: int64(a.Contract), Index: a.Cycle})
			if err = s.heard(ctx, of, a, err); err != nil {
				return err
			}
		}
		var err error
		switch a.Status {
		case Skipped:
			err = s.Platform.SkipCycle(ctx, of.At(), int64(a.Contract), a.Cycle)
		case Queued:
			err = s.Platform.UnskipCycle(ctx, of.At(), int64(a.Contract), a.Cycle)
			if err = s.heard(ctx, of, a, err); err == nil && (a.Moved || c.SeriesOf(a.Cycle).Moved) {
				err = s.Platform.MoveCycle(ctx, of.At(), int64(a.Contract), a.Cycle, a.BillingDate)
			}
		}
		if attempts[i].Prep.Kept, err = s.kept(ctx, of, a, err); err != nil {
			return err
		}
		if len(oneOffs) > 0 && s.mayTellOneOffs(a) {
			if err := s.heard(ctx, of, a, s.tellOneOffs(ctx, of, &attempts[i], oneOffs)); err != nil {
				return err
			}
		}
	}
	if c.NextBillingDate.IsZero() {
		return nil
	}
	return s.heard(ctx, of, attempts[0], s.Platform.SetNextBillingDate(ctx, of.At(), int64(c.ID), c.NextBillingDate))
}

// PublishNextDate lets the platform be told, in the caller's transaction, when the next orders of
// contracts are. Those of which no order waits are left out.
func PublishNextDate(ctx context.Context, tx Tx, contracts []contract.ID, now time.Time) error {
	if len(contracts) == 0 {
		return nil
	}
	queued, err := tx.AttemptsOf(ctx, contracts, Queued)
	if err != nil {
		return err
	}
	byContract := ByContract(queued)
	var told []Attempt
	for _, id := range contracts {
		if next, waits := Earliest(byContract[id]); waits {
			next.PublishAt, next.UpdatedAt = now, now
			told = append(told, next)
		}
	}
	return tx.PutAttempts(ctx, told)
}

// heard turns a refusal into a line of the log: the platform has heard us.
func (s *Service) heard(ctx context.Context, of shop.Shop, a Attempt, err error) error {
	if refusal, ok := errors.AsType[*platform.Refusal](err); ok {
		s.Log.InfoContext(ctx, "the platform keeps its own schedule for a cycle", "shop", of.Domain, "attempt", a.ID, "cycle", a.Cycle, "code", refusal.Code)
		return nil
	}
	return err
}

// kept is heard for what the platform was told of a cycle's date. It returns the date
// that the platform keeps in place of ours; zero where it took ours.
func (s *Service) kept(ctx context.Context, of shop.Shop, a Attempt, err error) (time.Time, error) {
	if _, refused := errors.AsType[*platform.Refusal](err); !refused {
		return time.Time{}, err
	}
	if err := s.heard(ctx, of, a, err); err != nil {
		return time.Time{}, err
	}
	states, err := s.Platform.CycleStates(ctx, of.At(), []platform.CycleRef{{Contract: int64(a.Contract), Index: a.Cycle}})
	if err != nil || len(states) == 0 {
		return time.Time{}, s.heard(ctx, of, a, err)
	}
	return states[0].Cycle.Expected, nil
}

// published clears what the platform has heard, unless it changed meanwhile, puts
// off what it has not, and gives back the claims.
func (s *Service) published(ctx context.Context, of shop.ID, told map[AttemptID]Attempt, needs preparations, unheard map[AttemptID]bool) error {
	ids := slices.Sorted(maps.Keys(told))
	return s.Store.Update(ctx, of, func(tx Tx) error {
		rows, err := tx.Attempts(ctx, ids)
		if err != nil {
			return err
		}
		var done []Attempt
		for _, a := range rows {
			t := told[a.ID]
			if a.TellingUntil.Equal(t.TellingUntil) {
				a.TellingUntil = time.Time{}
			}
			done = append(done, heardOf(a, t, unheard[a.ID], needs, s.Clock.Now(), s.Policy))
		}
		return tx.PutAttempts(ctx, done)
	})
}

// heardOf returns an attempt of which something was told, as it was then.
func heardOf(a, told Attempt, unheard bool, needs preparations, now time.Time, p Policy) Attempt {
	if a.Version == told.Version {
		a.Prep.Revision = told.Prep.Revision
	}
	switch {
	case a.Status != told.Status || !a.BillingDate.Equal(told.BillingDate) || !a.PublishAt.Equal(told.PublishAt):
		// It has news again. After the claim somebody else may have told them
		// already, and what was told here, which is old, may have come later.
		if (a.Status == Queued || a.Status == Skipped) && a.PublishAt.IsZero() {
			a.PublishAt = now
		}
	case a.Version != told.Version: // what the order carries may have changed, in the same instant
	case unheard:
		a.PublishAt = now.Add(p.Repair)
	default:
		a.PublishAt, a.Prep.Kept = time.Time{}, told.Prep.Kept
		if told.plainAgain(needs.oneOffsOf(told)) {
			a.Prep.Edited = false
		}
	}
	return a
}
