package amend

import (
	"context"
	"errors"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// InFlight is a change of a contract that the contract's row says is on its way to
// the platform, so that an event which is quicker than the answer is not taken for
// the word that somebody else has made it. It keeps nobody from changing the same
// contract.
type InFlight struct {
	contract contract.ID
	edit     contract.Amending
}

// Send has a change of a contract made at the platform, and announces it first, by
// the revision that is changed. What the platform answers must be adopted with the
// announcement, which ends by that. One of a change that was not made is recalled;
// while nobody knows whether it was, it stays, and ends by itself.
func (ed *Editor) Send(ctx context.Context, of shop.ID, id contract.ID, from uint64, change func() (platform.Detail, error)) (after platform.Detail, told *InFlight, err error) {
	if told, err = ed.beginEdit(ctx, of, id, from); err != nil {
		return platform.Detail{}, nil, err
	}
	if after, err = change(); err == nil {
		return after, told, nil
	}
	if !errors.Is(err, platform.ErrUnknown) {
		ed.withdraw(ctx, of, told)
		told = nil
	}
	return platform.Detail{}, told, PlatformError(err)
}

func (ed *Editor) beginEdit(ctx context.Context, of shop.ID, id contract.ID, from uint64) (*InFlight, error) {
	next := InFlight{id, contract.Amending{From: from, Until: ed.Clock.Now().Add(PendingChangeTimeout)}}
	return &next, ed.Store.Update(ctx, of, func(tx intake.Tx) error {
		rows, err := tx.Contracts(ctx, []contract.ID{id})
		if err != nil || len(rows) == 0 {
			return err
		}
		rows[0].Begin(next.edit, ed.Clock.Now())
		return tx.PutContracts(ctx, rows)
	})
}

// withdraw takes back what was announced and not adopted. What cannot be taken back
// ends by itself.
func (ed *Editor) withdraw(ctx context.Context, of shop.ID, mine *InFlight) {
	err := ed.Store.Update(context.WithoutCancel(ctx), of, func(tx intake.Tx) error {
		rows, err := tx.Contracts(ctx, []contract.ID{mine.contract})
		if err != nil || len(rows) == 0 || !rows[0].Answered(mine.edit) {
			return err
		}
		return tx.PutContracts(ctx, rows)
	})
	if err != nil {
		ed.Log.WarnContext(ctx, "events of a contract wait until its change ends", "contract", mine.contract, "error", err)
	}
}
