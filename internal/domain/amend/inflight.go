package amend

import (
	"context"
	"errors"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// InFlight identifies an edit that is recorded on the contract's row while it is sent to
// the platform. An event that arrives before the answer is then not attributed to
// another author. It does not lock the contract.
type InFlight struct {
	contract contract.ID
	edit     contract.InFlightEdit
}

// Send records an edit of the contract at revision from and sends it. The caller passes
// the returned InFlight to Adopt, which removes the record. Send removes it itself when
// the platform refuses the edit; after an unknown outcome the record stays until it
// expires.
func (ed *Editor) Send(ctx context.Context, of shop.ID, id contract.ID, from uint64, change func() (platform.Detail, error)) (after platform.Detail, sent *InFlight, err error) {
	if sent, err = ed.beginEdit(ctx, of, id, from); err != nil {
		return platform.Detail{}, nil, err
	}
	if after, err = change(); err == nil {
		return after, sent, nil
	}
	if !errors.Is(err, platform.ErrUnknown) {
		ed.withdraw(ctx, of, sent)
		sent = nil
	}
	return platform.Detail{}, sent, PlatformError(err)
}

func (ed *Editor) beginEdit(ctx context.Context, of shop.ID, id contract.ID, from uint64) (*InFlight, error) {
	next := InFlight{id, contract.InFlightEdit{From: from, Until: ed.Clock.Now().Add(contract.PendingChangeTimeout)}}
	return &next, ed.Store.Update(ctx, of, func(tx intake.Tx) error {
		rows, err := tx.Contracts(ctx, []contract.ID{id})
		if err != nil || len(rows) == 0 {
			return err
		}
		rows[0].BeginEdit(next.edit, ed.Clock.Now())
		return tx.PutContracts(ctx, rows)
	})
}

// withdraw removes the record of an edit that was not adopted. If that fails, the record
// expires.
func (ed *Editor) withdraw(ctx context.Context, of shop.ID, mine *InFlight) {
	err := ed.Store.Update(context.WithoutCancel(ctx), of, func(tx intake.Tx) error {
		rows, err := tx.Contracts(ctx, []contract.ID{mine.contract})
		if err != nil || len(rows) == 0 || !rows[0].EndEdit(mine.edit) {
			return err
		}
		return tx.PutContracts(ctx, rows)
	})
	if err != nil {
		ed.Log.WarnContext(ctx, "events of a contract are deferred until its edit expires", "contract", mine.contract, "error", err)
	}
}
