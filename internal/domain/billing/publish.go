package billing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// publish tells the platform of skips and dates that people chose. What is ours
// is committed before; the platform is told until it has heard.
func (s *Service) publish(ctx context.Context, of shop.ID) error {
	for ctx.Err() == nil {
		var store shop.Shop
		var news []Attempt
		var contracts map[contract.ID]*contract.Contract
		err := s.Store.Update(ctx, of, func(tx Tx) error {
			now := s.Clock.Now()
			var err error
			if news, err = tx.UnpublishedAttempts(ctx, now, batchSize); err != nil || len(news) == 0 {
				return err
			}
			if store, err = tx.Shop(ctx); err != nil {
				return err
			}
			for i := range news {
				news[i].PublishAt = now.Add(s.Policy.Lease)
			}
			if contracts, err = byID(tx.Contracts(ctx, contractsOf(news))); err != nil {
				return err
			}
			return tx.PutAttempts(ctx, news)
		})
		if err != nil || len(news) == 0 {
			return err
		}
		told := make(map[AttemptID]Attempt, len(news))
		for _, a := range news {
			if err := s.tell(ctx, store, a, *contracts[a.Contract]); err == nil {
				told[a.ID] = a
			} else {
				s.Log.WarnContext(ctx, "the platform was not told of a change", "shop", store.Domain, "attempt", a.ID, "error", err)
			}
		}
		if err := s.published(ctx, of, told); err != nil {
			return fmt.Errorf("note what was published: %w", err)
		}
	}
	return ctx.Err()
}

// tell makes the platform's cycle like ours. A definite no is an answer too: the
// platform's own rules stand, and ours still decide when we charge.
func (s *Service) tell(ctx context.Context, of shop.Shop, a Attempt, c contract.Contract) error {
	var err error
	switch {
	case a.Status == Skipped:
		err = s.Platform.SkipCycle(ctx, of.At(), int64(a.Contract), a.Cycle)
	case a.Status == Queued:
		err = s.Platform.UnskipCycle(ctx, of.At(), int64(a.Contract), a.Cycle)
		if err = s.heard(ctx, of, a, err); err == nil && a.Moved {
			err = s.Platform.MoveCycle(ctx, of.At(), int64(a.Contract), a.Cycle, a.BillingDate)
		}
	}
	if err = s.heard(ctx, of, a, err); err != nil || c.NextBillingDate.IsZero() {
		return err
	}
	return s.heard(ctx, of, a, s.Platform.SetNextBillingDate(ctx, of.At(), int64(a.Contract), c.NextBillingDate))
}

// heard turns a refusal into a line of the log: the platform has heard us.
func (s *Service) heard(ctx context.Context, of shop.Shop, a Attempt, err error) error {
	if refusal, ok := errors.AsType[*platform.Refusal](err); ok {
		s.Log.InfoContext(ctx, "the platform keeps its own schedule for a cycle", "shop", of.Domain, "attempt", a.ID, "cycle", a.Cycle, "code", refusal.Code)
		return nil
	}
	return err
}

// published clears what the platform has heard, unless it changed meanwhile.
func (s *Service) published(ctx context.Context, of shop.ID, told map[AttemptID]Attempt) error {
	return s.Store.Update(ctx, of, func(tx Tx) error {
		ids := make([]AttemptID, 0, len(told))
		for id := range told {
			ids = append(ids, id)
		}
		rows, err := tx.Attempts(ctx, ids)
		if err != nil {
			return err
		}
		var cleared []Attempt
		for _, a := range rows {
			if t := told[a.ID]; a.Status == t.Status && a.BillingDate.Equal(t.BillingDate) && a.PublishAt.Equal(t.PublishAt) {
				a.PublishAt = time.Time{}
				cleared = append(cleared, a)
			}
		}
		return tx.PutAttempts(ctx, cleared)
	})
}
