package amend

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// UpdateRow changes fields of a contract that only Perennial stores, records entries,
// and sets c to the result.
func (ed *Editor) UpdateRow(ctx context.Context, of shop.ID, c *contract.Contract, alter func(*contract.Contract) error, entries ...activity.Entry) error {
	return ed.UpdateRowTx(ctx, of, c, func(_ intake.Tx, c *contract.Contract) error { return alter(c) }, entries...)
}

// UpdateRowTx is UpdateRow for changes that depend on more than the contract's row.
func (ed *Editor) UpdateRowTx(
	ctx context.Context, of shop.ID, c *contract.Contract, alter func(intake.Tx, *contract.Contract) error, entries ...activity.Entry,
) error {
	return ed.Store.Update(ctx, of, func(tx intake.Tx) error {
		rows, err := tx.Contracts(ctx, []contract.ID{c.ID})
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return fault.New(fault.NotFound, "subscription contract %d does not exist", c.ID).Entity(Entity).Code("contractNotFound")
		}
		if err := alter(tx, &rows[0]); err != nil {
			return err
		}
		rows[0].UpdatedAt = ed.Clock.Now()
		if err := tx.PutContracts(ctx, rows); err != nil {
			return err
		}
		*c = rows[0]
		return tx.Record(ctx, entries...)
	})
}
