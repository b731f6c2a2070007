package amend

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// claim is the right to change a contract alone for a while.
type claim struct {
	contract contract.ID // 0: none
	until    time.Time
}

// claim takes the right to change a contract as it was read. It reports false when
// the contract was written meanwhile, and fails while somebody else has it.
func (s *Service) claim(ctx context.Context, of shop.ID, read contract.Contract, mine *claim) (ours bool, err error) {
	if mine.contract != 0 {
		return true, nil
	}
	until := s.Clock.Now().Add(PendingChangeTimeout)
	err = s.Store.Update(ctx, of, func(tx intake.Tx) error {
		ours = false
		rows, err := tx.Contracts(ctx, []contract.ID{read.ID})
		if err != nil {
			return err
		}
		switch {
		case len(rows) == 0:
			return nil
		case rows[0].ChangingUntil.After(s.Clock.Now()):
			return beingChanged(read.ID)
		case rows[0].Version != read.Version:
			return nil
		}
		ours = true
		rows[0].ChangingUntil = until
		return tx.PutContracts(ctx, rows)
	})
	if err != nil || !ours {
		return false, err
	}
	*mine = claim{read.ID, until}
	return true, nil
}

func beingChanged(id contract.ID) error {
	return fault.New(fault.Conflict, "subscription contract %d is being changed by somebody else", id).Entity(entity).Code("changedMeanwhile")
}

// ends makes a change give the claim back in the commit that takes it over.
func (k *claim) ends(c change) change {
	if k.contract == 0 {
		return c
	}
	also := c.also
	c.also = func(is *contract.Contract) {
		if also != nil {
			also(is)
		}
		if is.ChangingUntil.Equal(k.until) {
			is.ChangingUntil = time.Time{}
		}
	}
	return c
}

// giveBack returns a claim that no change has ended. One that cannot be given
// back ends by itself.
func (s *Service) giveBack(ctx context.Context, of shop.ID, mine *claim) {
	if mine.contract == 0 {
		return
	}
	err := s.Store.Update(context.WithoutCancel(ctx), of, func(tx intake.Tx) error {
		rows, err := tx.Contracts(ctx, []contract.ID{mine.contract})
		if err != nil || len(rows) == 0 || !rows[0].ChangingUntil.Equal(mine.until) {
			return err
		}
		rows[0].ChangingUntil = time.Time{}
		return tx.PutContracts(ctx, rows)
	})
	if err != nil {
		s.Log.WarnContext(ctx, "a contract stays claimed until the claim ends", "contract", mine.contract, "error", err)
	}
}
