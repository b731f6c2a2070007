package contractedit

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// AddOneOff adds a product to the next order only, at the variant's price if none is
// given.
func (s *Service) AddOneOff(ctx context.Context, of shop.ID, cmd amend.Command, l terms.NewLine) (contract.Detail, error) {
	o, err := s.planSwap(ctx, of, cmd, NextOrderSwap{New: []terms.NewLine{l}})
	if err != nil {
		return contract.Detail{}, err
	}
	if err := s.swapInNextOrder(ctx, o); err != nil {
		return contract.Detail{}, err
	}
	return s.Show(ctx, of, cmd)
}

// RemoveLine removes a line as RemoveLines does, or the one-time product that the line
// id names.
func (s *Service) RemoveLine(ctx context.Context, of shop.ID, cmd amend.Command, line string, drop bool) (contract.Detail, error) {
	product, once := billing.OneOffOfLine(line)
	if !once {
		return s.RemoveLines(ctx, of, cmd, []string{line}, drop)
	}
	ctx = platform.Interactive(ctx)
	store, c, err := s.Load(ctx, of, cmd)
	if err != nil {
		return contract.Detail{}, err
	}
	err = s.OneOffs.RemoveOneOffLine(ctx, store, command.OneOff{Line: cmd.Line, Contract: c.ID, Actor: cmd.Actor}, product)
	if fault.Is(err, fault.NotFound) {
		return contract.Detail{}, terms.LineNotFound()
	}
	if err != nil {
		return contract.Detail{}, err
	}
	return s.Show(ctx, of, cmd)
}

// plannedSwap is a swap of one-time products with the order that it changes.
type plannedSwap struct {
	NextOrderSwap
	store shop.Shop
	order command.OneOff
}

// planSwap finds the order that a swap changes.
func (s *Service) planSwap(ctx context.Context, of shop.ID, cmd amend.Command, w NextOrderSwap) (plannedSwap, error) {
	for _, l := range w.New {
		if err := terms.CheckLine(l.Quantity, l.Price); err != nil {
			return plannedSwap{}, err
		}
	}
	ctx = platform.Interactive(ctx)
	store, c, err := s.Load(ctx, of, cmd)
	if err != nil {
		return plannedSwap{}, err
	}
	next, err := s.NextAttempt(ctx, of, c)
	if err != nil {
		return plannedSwap{}, err
	}
	return plannedSwap{w, store, command.OneOff{Line: cmd.Line, Contract: cmd.Contract, Attempt: next.ID, Actor: cmd.Actor}}, nil
}

// swapInNextOrder changes the one-time products of the next order.
func (s *Service) swapInNextOrder(ctx context.Context, w plannedSwap) error {
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

// NextOrderSwap replaces one-time products of the next order.
type NextOrderSwap struct {
	Old []int64
	New []terms.NewLine
}

// Replace changes recurring lines, one-time products of the next order, or both. It
// checks the one-time products before it changes any line.
func (s *Service) Replace(ctx context.Context, of shop.ID, cmd amend.Command, w Swap, products NextOrderSwap) (contract.Detail, error) {
	lines, swaps := w.replaces() || len(w.New) > 0, len(products.Old)+len(products.New) > 0
	if !lines && !swaps {
		return contract.Detail{}, fault.New(fault.Invalid, "name what to replace, remove or add: oldVariants or oldLineId, newVariants, or oldOneTimeVariants and newOneTimeVariants for the next order").
			Entity(amend.Entity).Code("parameterMissing").Field("oldVariants")
	}
	if lines {
		if err := w.check(); err != nil {
			return contract.Detail{}, err
		}
	}
	var o plannedSwap
	var err error
	if swaps {
		if o, err = s.planSwap(ctx, of, cmd, products); err != nil {
			return contract.Detail{}, err
		}
		if _, err := s.Variants(platform.Interactive(ctx), o.store, terms.VariantIDs(products.New)); err != nil {
			return contract.Detail{}, err
		}
	}
	if lines {
		if _, err := s.swapLines(ctx, of, cmd, w); err != nil {
			return contract.Detail{}, err
		}
	}
	if swaps {
		if err := s.swapInNextOrder(ctx, o); err != nil {
			return contract.Detail{}, err
		}
	}
	return s.Show(ctx, of, cmd)
}
