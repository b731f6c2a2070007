package amend

import (
	"context"
	"errors"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/billing/cases"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// end pauses or cancels a contract of which an order could not be charged. Whoever
// reads the new status first ends the case, in that commit.
func (s *Service) end(ctx context.Context, of shop.ID, c contract.Contract) error {
	to, ok := cases.EndOf(c)
	if !ok {
		return nil
	}
	return s.bring(ctx, of, c, to)
}

// gone reports whether the store's connection is what is missing: nothing is
// charged meanwhile either.
func gone(err error) bool {
	f, ok := errors.AsType[*fault.Error](err)
	return ok && f.ErrorKey == "connectionGone"
}

// cannotEnd gives up what the platform does not allow. The contract stays as it
// is, and the log says why.
func (s *Service) cannotEnd(ctx context.Context, of shop.ID, c contract.Contract, why error) error {
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
