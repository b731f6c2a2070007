package amend

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// claim is the exclusive right to change a contract until an instant.
type claim struct {
	contract contract.ID // 0: none
	until    time.Time
}

// claim takes the exclusive right to change a contract at the version that was read. It
// reports false when the contract has been written since, and fails while another caller
// holds the claim.
func (ed *Editor) claim(ctx context.Context, of shop.ID, read contract.Contract, mine *claim) (ours bool, err error) {
	if mine.contract != 0 {
		return true, nil
	}
	until := ed.Clock.Now().Add(contract.PendingChangeTimeout)
	err = ed.Store.Update(ctx, of, func(tx intake.Tx) error {
		ours = false
		rows, err := tx.Contracts(ctx, []contract.ID{read.ID})
		if err != nil {
			return err
		}
		switch {
		case len(rows) == 0:
			return nil
		case rows[0].ChangingUntil.After(ed.Clock.Now()):
			return BeingChanged(read.ID)
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

// BeingChanged returns the Conflict of a contract that another caller is changing.
func BeingChanged(id contract.ID) error {
	return fault.New(fault.Conflict, "subscription contract %d is being changed by another caller", id).Entity(Entity).Code("changedMeanwhile")
}

// release makes a change also release the claim, in the commit that stores it.
func (k *claim) release(c Change) Change {
	if k.contract == 0 {
		return c
	}
	also := c.Update
	c.Update = func(is *contract.Contract) {
		if also != nil {
			also(is)
		}
		if is.ChangingUntil.Equal(k.until) {
			is.ChangingUntil = time.Time{}
		}
	}
	return c
}

// releaseClaim releases a claim that no change has released. If that fails, the claim
// expires.
func (ed *Editor) releaseClaim(ctx context.Context, of shop.ID, mine *claim) {
	if mine.contract == 0 {
		return
	}
	err := ed.Store.Update(context.WithoutCancel(ctx), of, func(tx intake.Tx) error {
		rows, err := tx.Contracts(ctx, []contract.ID{mine.contract})
		if err != nil || len(rows) == 0 || !rows[0].ChangingUntil.Equal(mine.until) {
			return err
		}
		rows[0].ChangingUntil = time.Time{}
		return tx.PutContracts(ctx, rows)
	})
	if err != nil {
		ed.Log.WarnContext(ctx, "a contract stays claimed until the claim expires", "contract", mine.contract, "error", err)
	}
}
