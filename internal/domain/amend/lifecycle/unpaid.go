package lifecycle

import (
	"context"
	"errors"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/billing/cases"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// endUnpaid pauses or cancels a contract after its dunning has ended. The dunning case
// is closed by the commit that first stores the new status.
func (s *Service) endUnpaid(ctx context.Context, of shop.ID, c contract.Contract) error {
	to, ok := cases.EndOf(c)
	if !ok {
		return nil
	}
	return s.setStatus(ctx, of, c, to)
}

// disconnected reports whether the store is disconnected: nothing is charged meanwhile
// either.
func disconnected(err error) bool {
	f, ok := errors.AsType[*fault.Error](err)
	return ok && f.ErrorKey == "connectionGone"
}

// abandonEnd gives up a final action that the platform does not allow. The contract
// stays as it is, and the log says why.
func (s *Service) abandonEnd(ctx context.Context, of shop.ID, c contract.Contract, why error) error {
	return s.Store.Update(ctx, of, func(tx intake.Tx) error {
		rows, err := tx.Contracts(ctx, []contract.ID{c.ID})
		if err != nil || len(rows) == 0 {
			return err
		}
		now := s.Clock.Now()
		if err := cases.CannotEnd(ctx, tx, &rows[0], why.Error(), now); err != nil {
			return err
		}
		rows[0].ResetAmendAt()
		rows[0].UpdatedAt = now
		return tx.PutContracts(ctx, rows)
	})
}
