package portal

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

// Box is a contract of the caller's whose products are chosen within a merchant's rules.
type Box struct {
	View
	Bundle bundle.Settings
	Held   []BoxProduct // on the box's plans
}

// BoxProduct is a product with how many pieces of it a box holds.
type BoxProduct struct {
	Product
	Quantity int
}

// BoxDraft is a box as it would be.
type BoxDraft struct {
	Cost   money.Amount // of the next order, before taxes
	Pieces int
	Broken error // the first rule that it breaks; nil: none
}

// Box returns a box of the caller's, or NotFound where the contract is none.
func (s *Service) Box(ctx context.Context, who Caller, id contract.ID) (Box, error) {
	v, err := s.Contract(ctx, who, id)
	if err != nil {
		return Box{}, err
	}
	b, err := s.boxOf(ctx, v)
	if err != nil {
		return b, err
	}
	inside := b.Bundle.Inside(v.State.Contract.Lines)
	known, err := s.Edits.VariantsOfLines(platform.Interactive(ctx), v.Shop, inside)
	if err != nil {
		return b, err
	}
	for _, l := range inside {
		p := Product{known[l.VariantID], l.Price}
		if p.ID == 0 { // the store no longer has it
			p.ID, p.ProductTitle, p.Title, p.Image = l.VariantID, l.Title, l.VariantTitle, l.Image
		}
		b.Held = append(b.Held, BoxProduct{p, l.Quantity})
	}
	return b, nil
}

// boxOf returns a contract's box without what it holds, or NotFound where the contract is none.
func (s *Service) boxOf(ctx context.Context, v View) (Box, error) {
	is, boxed, err := s.Edits.Bundles.BundleOf(ctx, v.Shop.ID, v.State.Contract)
	if err == nil && !boxed {
		err = fault.New(fault.NotFound, "subscription contract %d is no box", v.State.Contract.ID).Entity(amend.Entity).Code("boxNotFound")
	}
	return Box{View: v, Bundle: is}, err
}

// fill compares a box with what it shall hold: what changes, and the actions that this needs.
func (b Box) fill(want []contractedit.BoxItem) (contractedit.BoxPlan, []Action) {
	p := contractedit.PlanBox(b.State.Contract.Lines, b.Bundle.Plans, want)
	quantities := len(p.Quantities)
	for _, l := range b.State.Contract.Lines {
		if other, exchanged := p.Exchanged[l.ID]; exchanged && other.Quantity != l.Quantity {
			quantities++
		}
	}
	var needs []Action
	for _, a := range []struct {
		action Action
		n      int
	}{{ChangeQuantity, quantities}, {Swap, len(p.Exchanged)}, {AddProduct, len(p.Added)}, {RemoveProduct, len(p.Removed)}} {
		if a.n > 0 {
			needs = append(needs, a.action)
		}
	}
	return p, needs
}

// DraftBox says what a box would cost that holds some products, and which rule it would break. It changes
// nothing.
func (s *Service) DraftBox(ctx context.Context, b Box, want []contractedit.BoxItem) (BoxDraft, error) {
	c := b.State.Contract
	change, needs := b.fill(want)
	var sold map[int64]platform.Variant
	if come := change.Coming(); len(come) > 0 {
		var err error
		if sold, err = s.Edits.Variants(platform.Interactive(ctx), b.Shop, come); err != nil {
			return BoxDraft{}, err
		}
	}
	quote, err := s.Edits.QuoteOf(ctx, b.Shop.ID, c, contractedit.PlanOfBox(c.Lines, b.Bundle.Plans))
	if err != nil {
		return BoxDraft{}, err
	}
	edits := change.LineEdits(c.Lines, b.Bundle.Plans, func(variant int64) platform.LineEdit {
		unit, _ := quote(sold[variant])
		return platform.LineEdit{Variant: &variant, Price: &unit}
	})
	then := c
	for line := range change.Exchanged { // its prices by cycle are those of the product that goes
		then = then.Repriced(line, money.Amount{Currency: c.Currency})
	}
	then.Lines = amend.LinesAfter(then.Lines, edits)
	d := BoxDraft{Cost: b.NextCost(then)}
	for _, l := range b.Bundle.Inside(then.Lines) {
		d.Pieces += l.Quantity
	}
	if err := b.allow(s.permit(b.Settings, 0, needs...)); err != nil {
		return d, err
	}
	if _, d.Broken = s.Edits.CheckLines(ctx, b.Shop, contract.Detail{Contract: c}, edits); d.Broken != nil && !fault.Is(d.Broken, fault.FailedPrecondition) {
		return d, d.Broken
	}
	if d.Broken == nil { // what is not changed breaks no rule there
		d.Broken = b.Bundle.CheckSize(then.Lines)
	}
	return d, nil
}

// FillBox makes a box hold exactly some products. The merchant's switches hold for what changes: another
// quantity, an exchange, a product that comes or goes. So do the rules of the box.
func (s *Service) FillBox(ctx context.Context, who Caller, ref ContractRef, want []contractedit.BoxItem) (contract.Detail, error) {
	v, cmd, err := s.command(ctx, who, ref)
	if err != nil {
		return contract.Detail{}, err
	}
	b, err := s.boxOf(ctx, v)
	if err != nil {
		return contract.Detail{}, err
	}
	change, needs := b.fill(want)
	p := cmd.Permit.(*permit)
	p.actions = needs
	if err := v.allow(p); err != nil {
		return contract.Detail{}, err
	}
	if err := s.checkOffered(ctx, v, contractedit.PlanOfBox(v.State.Contract.Lines, b.Bundle.Plans), change.Coming()...); err != nil {
		return contract.Detail{}, err
	}
	return s.Edits.FillBox(ctx, who.Shop.ID, cmd, b.Bundle.Plans, want)
}
