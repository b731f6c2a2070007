package amend

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// OneOffs keeps products that only one order of a contract has.
type OneOffs interface {
	AddOneOff(ctx context.Context, of shop.Shop, cmd billing.OneOffCommand) error
	RemoveOneOff(ctx context.Context, of shop.Shop, cmd billing.OneOffCommand) error
}

// AddOnce adds a product to the next order only, at the product's own price.
func (s *Service) AddOnce(ctx context.Context, of shop.ID, cmd Command, l NewLine) (contract.Detail, error) {
	if err := s.swapOnce(ctx, of, cmd, OnceSwap{New: []NewLine{l}}); err != nil {
		return contract.Detail{}, err
	}
	return s.shown(ctx, of, cmd)
}

// swapOnce changes what the contract's next order has besides its lines.
func (s *Service) swapOnce(ctx context.Context, of shop.ID, cmd Command, w OnceSwap) error {
	for _, l := range w.New {
		if err := checkLine(l.Quantity, l.Price); err != nil {
			return err
		}
		if l.Price != nil {
			return fault.New(fault.Invalid, "a product for one order only is sold at its own price: leave out the price").On(entity).Keyed("price").At("price")
		}
	}
	ctx = platform.Interactive(ctx)
	store, c, err := s.known(ctx, of, cmd)
	if err != nil {
		return err
	}
	next, err := s.next(ctx, of, c)
	if err != nil {
		return err
	}
	change := billing.OneOffCommand{Line: cmd.Line, Contract: cmd.Contract, Attempt: next.ID, Actor: cmd.Actor}
	for _, variant := range w.Old {
		change.Variant = variant
		if err := s.OneOffs.RemoveOneOff(ctx, store, change); err != nil {
			return err
		}
	}
	for _, l := range w.New {
		change.Variant, change.Quantity = l.Variant, l.Quantity
		if err := s.OneOffs.AddOneOff(ctx, store, change); err != nil {
			return err
		}
	}
	return nil
}

// next returns the attempt that waits for the earliest date.
func (s *Service) next(ctx context.Context, of shop.ID, c contract.Contract) (billing.Attempt, error) {
	var queued []billing.Attempt
	err := s.Store.Update(ctx, of, func(tx intake.Tx) (err error) {
		queued, err = tx.AttemptsOf(ctx, []contract.ID{c.ID}, billing.Queued)
		return err
	})
	next, waits := billing.Earliest(queued)
	if err == nil && !waits {
		err = fault.New(fault.Refused, "subscription contract %d has no upcoming order", c.ID).On(entity).Keyed("noUpcomingOrder")
	}
	return next, err
}

// OnceSwap says which products of the next order give way to which.
type OnceSwap struct {
	Old []int64
	New []NewLine
}

// Replace replaces recurring lines, products of the next order, or both.
func (s *Service) Replace(ctx context.Context, of shop.ID, cmd Command, w Swap, once OnceSwap) (contract.Detail, error) {
	lines := w.OldLine != "" || len(w.OldVariants) > 0
	if !lines && len(once.Old)+len(once.New) == 0 {
		return contract.Detail{}, fault.New(fault.Invalid, "name what is to be replaced: oldVariants, oldLineId or oldOneTimeVariants").
			On(entity).Keyed("parameterMissing").At("oldVariants")
	}
	if lines {
		if _, err := s.Swap(ctx, of, cmd, w); err != nil {
			return contract.Detail{}, err
		}
	}
	if err := s.swapOnce(ctx, of, cmd, once); err != nil {
		return contract.Detail{}, err
	}
	return s.shown(ctx, of, cmd)
}

// Currency returns the currency of a contract.
func (s *Service) Currency(ctx context.Context, of shop.ID, cmd Command) (money.Currency, error) {
	_, c, err := s.known(ctx, of, cmd)
	return c.Currency, err
}

// SetKind sets how a price by cycle is made, in the platform's words:
// PERCENTAGE, FIXED_AMOUNT or PRICE.
func SetKind(p *contract.CyclePrice, kind string) { p.Kind = platform.Adjustment(kind) }
