package portal

import (
	"context"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

// LineEdit is a change of one line. Nil fields stay as they are.
type LineEdit struct {
	Line     string // graph id, or its last part
	Variant  *int64 // another variant, at the price of the contract's plan
	Quantity *int
}

// ChangeLine swaps a line's product, changes its quantity, or both.
func (s *Service) ChangeLine(ctx context.Context, who Caller, ref ContractRef, w LineEdit) (contract.Detail, error) {
	v, cmd, err := s.command(ctx, who, ref)
	if err != nil {
		return contract.Detail{}, err
	}
	c := v.State.Contract
	at, err := lineOf(c, w.Line)
	if err != nil {
		return contract.Detail{}, err
	}
	is, p := c.Lines[at], cmd.Permit.(*permit)
	swaps := w.Variant != nil && *w.Variant != is.VariantID
	if swaps {
		p.actions = append(p.actions, Swap)
	}
	if w.Quantity != nil && *w.Quantity != is.Quantity {
		p.actions = append(p.actions, ChangeQuantity)
	}
	if swaps {
		if err := v.allow(p); err != nil {
			return contract.Detail{}, err
		}
		if err := s.checkOffered(ctx, v, is.SellingPlanID, *w.Variant); err != nil {
			return contract.Detail{}, err
		}
	}
	return s.Edits.ChangeLine(ctx, who.Shop.ID, cmd, contractedit.LineChange{Line: is.ID, Variant: w.Variant, Quantity: w.Quantity, Reprice: true})
}

// NewProduct is a product that all future orders will have.
type NewProduct struct {
	Variant  int64
	Quantity int
}

// AddProduct adds a line, on the plan of the contract's first line and at its price.
func (s *Service) AddProduct(ctx context.Context, who Caller, ref ContractRef, w NewProduct) (contract.Detail, error) {
	v, cmd, err := s.command(ctx, who, ref, AddProduct)
	if err != nil {
		return contract.Detail{}, err
	}
	on, err := planOf(v.State.Contract, "")
	if err != nil {
		return contract.Detail{}, err
	}
	if err := v.allow(cmd.Permit.(*permit)); err != nil {
		return contract.Detail{}, err
	}
	if err := s.checkOffered(ctx, v, on, w.Variant); err != nil {
		return contract.Detail{}, err
	}
	return s.Edits.AddLines(ctx, who.Shop.ID, cmd, []terms.NewLine{{Variant: w.Variant, Quantity: w.Quantity, SellingPlan: on}})
}

// Removal is a contract without a product that it had.
type Removal struct {
	contract.Detail
	Reversible bool // AddProduct makes it what it was, if the product has its price still
}

// RemoveProduct removes a line from all future orders, with the discounts that only it has. A
// contract keeps at least one line.
func (s *Service) RemoveProduct(ctx context.Context, who Caller, ref ContractRef, line string) (Removal, error) {
	v, cmd, err := s.command(ctx, who, ref, RemoveProduct)
	if err != nil {
		return Removal{}, err
	}
	at, err := lineOf(v.State.Contract, line)
	if err != nil {
		return Removal{}, err
	}
	gone := v.State.Contract.Lines[at]
	before, after, err := s.Edits.RemoveRecurringLine(ctx, who.Shop.ID, cmd, gone.ID)
	if err != nil {
		return Removal{}, err
	}
	return Removal{after, reversible(before, after, gone)}, nil
}

// reversible reports whether a line that was removed had nothing that AddProduct does not give it: no
// plan of its own, no attributes, and no discount.
func reversible(before, after contract.Detail, gone contract.LineItem) bool {
	at := before.LineByID(gone.ID)
	if at < 0 || len(after.Lines) == 0 || after.Lines[0].SellingPlanID != gone.SellingPlanID {
		return false
	}
	if at < len(before.LineDetails) && len(before.LineDetails[at].Attributes) > 0 {
		return false
	}
	return !slices.ContainsFunc(before.Discounts, func(d contract.Discount) bool { return slices.Contains(d.Lines, gone.ID) })
}

// allow says beforehand what the permit would refuse, so that nothing is asked of the platform for a
// change that is not made.
func (v View) allow(p *permit) error {
	for _, a := range p.actions {
		if err := v.Settings.allow(a, v.State, nil); err != nil {
			return err
		}
	}
	return nil
}

// lineOf returns the position of a line that is named by its graph id or by the last part of it.
func lineOf(c contract.Contract, line string) (int, error) {
	at := slices.IndexFunc(c.Lines, func(l contract.LineItem) bool {
		return line != "" && (l.ID == line || strings.HasSuffix(l.ID, "/"+line))
	})
	if at < 0 {
		return 0, terms.LineNotFound()
	}
	return at, nil
}
