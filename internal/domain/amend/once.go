package amend

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// OneOffs keeps products that only one order of a contract has.
type OneOffs interface {
	AddOneOff(ctx context.Context, of shop.Shop, cmd command.OneOff) error
	RemoveOneOff(ctx context.Context, of shop.Shop, cmd command.OneOff) error
	RemoveOneOffLine(ctx context.Context, of shop.Shop, cmd command.OneOff, id billing.OneOffID) error
}

// AddOneOff adds a product to the next order only, at the product's own price where none
// is given.
func (s *Service) AddOneOff(ctx context.Context, of shop.ID, cmd Command, l NewLine) (contract.Detail, error) {
	o, err := s.once(ctx, of, cmd, NextOrderSwap{New: []NewLine{l}})
	if err != nil {
		return contract.Detail{}, err
	}
	if err := s.swapOnce(ctx, o); err != nil {
		return contract.Detail{}, err
	}
	return s.shown(ctx, of, cmd)
}

// RemoveLine removes a line as RemoveLines does, or the one-time product of an upcoming
// order that the line id names.
func (s *Service) RemoveLine(ctx context.Context, of shop.ID, cmd Command, line string, drop bool) (contract.Detail, error) {
	product, once := billing.OneOffOfLine(line)
	if !once {
		return s.RemoveLines(ctx, of, cmd, []string{line}, drop)
	}
	ctx = platform.Interactive(ctx)
	store, c, err := s.known(ctx, of, cmd)
	if err != nil {
		return contract.Detail{}, err
	}
	err = s.OneOffs.RemoveOneOffLine(ctx, store, command.OneOff{Line: cmd.Line, Contract: c.ID, Actor: cmd.Actor}, product)
	if fault.Is(err, fault.NotFound) {
		return contract.Detail{}, lineNotFound()
	}
	if err != nil {
		return contract.Detail{}, err
	}
	return s.shown(ctx, of, cmd)
}

// onceSwap is a swap for one order that can be made.
type onceSwap struct {
	NextOrderSwap
	store shop.Shop
	order command.OneOff
}

// once says which order a swap changes, or why it cannot be made.
func (s *Service) once(ctx context.Context, of shop.ID, cmd Command, w NextOrderSwap) (onceSwap, error) {
	for _, l := range w.New {
		if err := checkLine(l.Quantity, l.Price); err != nil {
			return onceSwap{}, err
		}
	}
	ctx = platform.Interactive(ctx)
	store, c, err := s.known(ctx, of, cmd)
	if err != nil {
		return onceSwap{}, err
	}
	next, err := s.next(ctx, of, c)
	if err != nil {
		return onceSwap{}, err
	}
	return onceSwap{w, store, command.OneOff{Line: cmd.Line, Contract: cmd.Contract, Attempt: next.ID, Actor: cmd.Actor}}, nil
}

// swapOnce changes what the contract's next order has besides its lines.
func (s *Service) swapOnce(ctx context.Context, w onceSwap) error {
	change := w.order
	for _, variant := range w.Old {
		change.Variant = variant
		if err := s.OneOffs.RemoveOneOff(ctx, w.store, change); err != nil {
			return err
		}
	}
	for _, l := range w.New {
		change.Variant, change.Quantity, change.Price = l.Variant, l.Quantity, l.Price
		if err := s.OneOffs.AddOneOff(ctx, w.store, change); err != nil {
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
		err = fault.New(fault.FailedPrecondition, "subscription contract %d has no upcoming order", c.ID).Entity(entity).Code("noUpcomingOrder")
	}
	return next, err
}

// NextOrderSwap says which products of the next order give way to which.
type NextOrderSwap struct {
	Old []int64
	New []NewLine
}

// Replace replaces, adds or removes recurring lines, products of the next order, or
// both. What the next order cannot have is refused before any line has changed.
func (s *Service) Replace(ctx context.Context, of shop.ID, cmd Command, w Swap, products NextOrderSwap) (contract.Detail, error) {
	lines, swaps := w.named() || len(w.New) > 0, len(products.Old)+len(products.New) > 0
	if !lines && !swaps {
		return contract.Detail{}, fault.New(fault.Invalid, "name what is to be replaced, removed or added: oldVariants or oldLineId, newVariants, or oldOneTimeVariants and newOneTimeVariants for the next order").
			Entity(entity).Code("parameterMissing").Field("oldVariants")
	}
	if lines {
		if err := w.check(); err != nil {
			return contract.Detail{}, err
		}
	}
	var o onceSwap
	var err error
	if swaps {
		if o, err = s.once(ctx, of, cmd, products); err != nil {
			return contract.Detail{}, err
		}
		if _, err := s.variants(platform.Interactive(ctx), o.store, variantsOf(products.New)); err != nil {
			return contract.Detail{}, err
		}
	}
	if lines {
		if _, err := s.swapLines(ctx, of, cmd, w); err != nil {
			return contract.Detail{}, err
		}
	}
	if swaps {
		if err := s.swapOnce(ctx, o); err != nil {
			return contract.Detail{}, err
		}
	}
	return s.shown(ctx, of, cmd)
}

// Currency returns the currency of a contract. Of one that does not exist it is one
// that allows the most decimals: what is wrong with a request in itself is said
// first, and whoever changes the contract says that there is none.
func (s *Service) Currency(ctx context.Context, of shop.ID, cmd Command) (money.Currency, error) {
	_, c, err := s.known(ctx, of, cmd)
	if fault.Is(err, fault.NotFound) {
		return money.Finest, nil
	}
	return c.Currency, err
}

// SetCyclePriceKind sets how a price by cycle is made, in the platform's words:
// PERCENTAGE, FIXED_AMOUNT or PRICE.
func SetCyclePriceKind(p *contract.CyclePrice, kind string) { p.Kind = platform.Adjustment(kind) }
