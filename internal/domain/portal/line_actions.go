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

// RemoveProduct removes a line from all future orders, with the discounts that only it has. A
// contract keeps at least one line.
func (s *Service) RemoveProduct(ctx context.Context, who Caller, ref ContractRef, line string) (contract.Detail, error) {
	v, cmd, err := s.command(ctx, who, ref, RemoveProduct)
	if err != nil {
		return contract.Detail{}, err
	}
	at, err := lineOf(v.State.Contract, line)
	if err != nil {
		return contract.Detail{}, err
	}
	return s.Edits.RemoveLines(ctx, who.Shop.ID, cmd, []string{v.State.Contract.Lines[at].ID}, true)
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
