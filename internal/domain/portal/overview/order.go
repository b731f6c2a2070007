package overview

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/portal"
)

// PageSize is how many past orders are on a page.
const PageSize = 10

// PastPage selects past orders of a contract.
type PastPage struct {
	Now    time.Time
	Before int // cycle that all are before; 0: none
	Limit  int
}

// Order returns an order of a contract of the caller's, whatever has become of it, and the sheet of
// the contract. Without either it is NotFound.
func (s *Service) Order(ctx context.Context, who portal.Caller, id contract.ID, attempt billing.AttemptID) (sheet Sheet, order Order, err error) {
	err = s.Store.View(ctx, who.Shop.ID, func(tx ReadTx) error {
		if sheet, err = s.find(ctx, tx, who, id, 0); err != nil {
			return err
		}
		for _, o := range append(sheet.Upcoming, sheet.unpaid()...) {
			if o.ID == attempt {
				order = o
				return nil
			}
		}
		rows, err := tx.Attempts(ctx, []billing.AttemptID{attempt})
		if err != nil {
			return err
		}
		if len(rows) == 0 || rows[0].Contract != id {
			return billing.NotFound(attempt)
		}
		order, err = orderOf(sheet.View, rows[0])
		return err
	})
	return sheet, order, err
}

func (s Sheet) unpaid() []Order {
	if s.Unpaid == nil {
		return nil
	}
	return []Order{*s.Unpaid}
}

// Past returns at most PageSize past orders of a contract of the caller's that come before a cycle,
// or the newest ones before 0, and whether there are older ones.
func (s *Service) Past(ctx context.Context, who portal.Caller, id contract.ID, before int) (sheet Sheet, err error) {
	err = s.Store.View(ctx, who.Shop.ID, func(tx ReadTx) error {
		if sheet, err = s.find(ctx, tx, who, id, 0); err != nil {
			return err
		}
		if sheet.Past, err = tx.PastOrders(ctx, id, PastPage{Now: sheet.Now, Before: before, Limit: PageSize + 1}); err != nil {
			return err
		}
		if sheet.MorePast = len(sheet.Past) > PageSize; sheet.MorePast {
			sheet.Past = sheet.Past[:PageSize]
		}
		return nil
	})
	return sheet, err
}
