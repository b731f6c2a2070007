package lifecycle

import (
	"context"
	"errors"
	"time"

	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/queue"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// SetStatus pauses, activates or cancels a contract. Its upcoming orders leave or rejoin
// the queue in the commit that stores the new status. It refuses the current status. The
// request is committed before the platform is called, so that RunDue can repeat it after
// a lost answer.
func (s *Service) SetStatus(ctx context.Context, of shop.ID, cmd amend.Command, w StatusChange) (contract.Detail, error) {
	if err := w.Check(s.Clock.Now()); err != nil {
		return contract.Detail{}, err
	}
	ctx = platform.Interactive(ctx)
	until := s.Clock.Now().Add(contract.PendingChangeTimeout)
	store, known, err := s.Load(ctx, of, cmd)
	if err != nil {
		return contract.Detail{}, err
	}
	c, err := s.decideStatus(ctx, store, cmd, w)
	if err != nil {
		return contract.Detail{}, err
	}
	if c.Moving == nil {
		return s.Show(ctx, of, cmd)
	}
	return s.sendStatus(ctx, store, c, known.Moving == nil, until)
}

// decideStatus commits the request: a move for the platform, or a change of what only
// Perennial stores.
func (s *Service) decideStatus(ctx context.Context, store shop.Shop, cmd amend.Command, w StatusChange) (contract.Contract, error) {
	cal, err := store.Calendar()
	if err != nil {
		return contract.Contract{}, err
	}
	var decided contract.Contract
	err = s.Store.Update(ctx, store.ID, func(tx intake.Tx) error {
		now := s.Clock.Now()
		rows, err := tx.Contracts(ctx, []contract.ID{cmd.Contract})
		if err != nil {
			return err
		}
		if len(rows) == 0 || rows[0].HiddenFrom(cmd.Actor) {
			return amend.ContractNotFound(cmd.Contract)
		}
		c := &rows[0]
		if err := cmd.Check(ctx, tx, store, *c); err != nil {
			return err
		}
		if c.Moving != nil && c.Moving.To == w.To {
			decided = *c // the same was requested before and may not be done
			return nil
		}
		attempts, err := tx.AttemptsOf(ctx, []contract.ID{c.ID}, billing.Queued, billing.Skipped)
		if err != nil {
			return err
		}
		entries, err := decide(c, w, inputs{settings: store.Settings, calendar: cal, actor: cmd.Actor}.withAttempts(attempts, now), now)
		if err != nil {
			return err
		}
		c.UpdatedAt = now
		c.ResetAmendAt()
		if err := tx.PutContracts(ctx, rows); err != nil {
			return err
		}
		if decided = rows[0]; c.Moving != nil {
			return tx.Record(ctx, entries...)
		}
		if err := queue.Limit(ctx, tx, store, []*contract.Contract{c}, now); err != nil {
			return err
		}
		if err := queue.Refill(ctx, tx, store, rows, now); err != nil {
			return err
		}
		decided = rows[0]
		return tx.Record(ctx, entries...)
	})
	return decided, err
}

// sendStatus sends the contract's status change to the platform, until an instant at
// which another worker may have taken over: a slow worker must not restore an old
// status. A change that the platform definitely did not make is removed: one that it
// refuses and, on the first try, any failure that is known not to have reached it.
func (s *Service) sendStatus(ctx context.Context, store shop.Shop, c contract.Contract, first bool, until time.Time) (contract.Detail, error) {
	m := *c.Moving
	var after platform.Detail
	err := platform.ErrUnknown
	for try := 0; try < 2 && errors.Is(err, platform.ErrUnknown) && s.Clock.Now().Before(until); try++ { // setting the same status again changes nothing
		after, err = s.Platform.SetStatus(ctx, store.At(), int64(c.ID), string(m.To))
	}
	switch why := amend.PlatformError(err); {
	case err == nil:
	case amend.Permanent(why), first && !errors.Is(err, platform.ErrUnknown):
		return contract.Detail{}, errors.Join(why, s.withdrawStatus(ctx, store.ID, c))
	default:
		return contract.Detail{}, why
	}
	return s.Adopt(ctx, store, amend.Command{Line: c.Line, Contract: c.ID, Actor: m.Actor}, after, amend.Change{StatusChange: &m})
}

// withdrawStatus removes a status change that was not made.
func (s *Service) withdrawStatus(ctx context.Context, of shop.ID, c contract.Contract) error {
	at := c.Moving.At
	return s.UpdateRow(ctx, of, &c, func(c *contract.Contract) error {
		if c.Moving != nil && c.Moving.At.Equal(at) {
			c.Moving = nil
			c.ResetAmendAt()
			if next := s.Clock.Now().Add(contract.PendingChangeTimeout); !c.AmendAt.IsZero() && c.AmendAt.Before(next) {
				c.AmendAt = next
			}
		}
		return nil
	})
}
