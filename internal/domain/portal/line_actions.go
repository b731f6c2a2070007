package portal

import (
	"context"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/platform"
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
	var on int64
	if lines := v.State.Contract.Lines; len(lines) > 0 {
		on = lines[0].SellingPlanID
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

// groupOf returns the group of a selling plan; false when it is none of the store's.
func (s *Service) groupOf(ctx context.Context, v View, sellingPlan int64) (plan.Group, bool, error) {
	if sellingPlan == 0 {
		return plan.Group{}, false, nil
	}
	offers, err := s.Plans.OffersOf(ctx, v.Shop.ID, v.State.Contract.Line, []int64{sellingPlan})
	if err != nil || len(offers) == 0 {
		return plan.Group{}, false, err
	}
	g, err := s.Plans.PlanGroup(ctx, v.Shop.ID, v.State.Contract.Line, offers[0].Group)
	return g, err == nil, err
}

// checkOffered refuses a variant that is not sold on the group of a selling plan: a subscriber must not
// get a price that the merchant gives for other products. On a plan that is not of the store's groups
// nothing is known, and all that the store sells may be chosen.
func (s *Service) checkOffered(ctx context.Context, v View, sellingPlan, variant int64) error {
	g, ours, err := s.groupOf(ctx, v, sellingPlan)
	if err != nil || !ours {
		return err
	}
	has := func(list []plan.Titled, id int64) bool {
		return slices.ContainsFunc(list, func(t plan.Titled) bool { return t.ID == id })
	}
	if has(g.Variants, variant) {
		return nil
	}
	sold, err := s.Edits.Variants(platform.Interactive(ctx), v.Shop, []int64{variant})
	if err != nil {
		return err
	}
	if has(g.Products, sold[variant].ProductID) {
		return nil
	}
	return fault.New(fault.FailedPrecondition, "variant %d is not sold on the plans of this subscription", variant).Entity("productVariant").Code("variantNotOffered").Field("variantId")
}

// Frequency is a plan option to which a contract can change.
type Frequency struct {
	plan.Option
	Current bool
}

// Frequencies returns the plan options of the contract's group that the caller may choose, in the order
// in which the merchant shows them; none where the contract is on no plan of the store's groups.
func (s *Service) Frequencies(ctx context.Context, who Caller, id contract.ID) ([]Frequency, error) {
	v, err := s.Contract(ctx, who, id)
	if err != nil {
		return nil, err
	}
	return s.frequencies(ctx, v)
}

func (s *Service) frequencies(ctx context.Context, v View) ([]Frequency, error) {
	c := v.State.Contract
	var on int64
	if len(c.Lines) > 0 {
		on = c.Lines[0].SellingPlanID
	}
	g, ours, err := s.groupOf(ctx, v, on)
	if err != nil || !ours {
		return nil, err
	}
	who := &audience{service: s, view: v}
	var list []Frequency
	for _, o := range g.Options {
		fits, err := who.mayChoose(ctx, o)
		if err != nil {
			return nil, err
		}
		if o.ID == on || fits {
			list = append(list, Frequency{Option: o, Current: o.ID == on})
		}
	}
	return list, nil
}

// audience knows who a plan option is offered to. It asks when it is first asked.
type audience struct {
	service *Service
	view    View
	member  *bool
	tags    []string
	read    bool // the tags were read
}

// mayChoose reports whether the subscriber may choose an option.
func (a *audience) mayChoose(ctx context.Context, o plan.Option) (bool, error) {
	if o.Lifetime {
		return false, nil
	}
	if o.MemberOnly || o.NonMemberOnly {
		member, err := a.isMember(ctx)
		if err != nil || o.MemberOnly && !member || o.NonMemberOnly && member {
			return false, err
		}
	}
	with, without := plan.SplitTags(o.InclusiveTags), plan.SplitTags(o.ExclusiveTags)
	if len(with)+len(without) == 0 {
		return true, nil
	}
	if !a.read {
		tags, err := a.service.Edits.Tags(ctx, a.view.Shop.ID, a.view.State.Contract.Customer.ID)
		if err != nil {
			return false, err
		}
		a.tags, a.read = tags, true
	}
	has := func(list []string) bool {
		return slices.ContainsFunc(list, func(t string) bool {
			return slices.ContainsFunc(a.tags, func(own string) bool { return strings.EqualFold(t, own) })
		})
	}
	return (len(with) == 0 || has(with)) && !has(without), nil
}

func (a *audience) isMember(ctx context.Context) (bool, error) {
	if a.member == nil {
		member, err := a.service.Members.IsMember(ctx, a.view.Shop.ID, a.view.State.Contract.Customer.ID)
		if err != nil {
			return false, err
		}
		a.member = &member
	}
	return *a.member, nil
}

// SetFrequency moves a contract to another plan option of its group, at the option's price.
func (s *Service) SetFrequency(ctx context.Context, who Caller, ref ContractRef, sellingPlan int64) (contract.Detail, error) {
	v, cmd, err := s.command(ctx, who, ref, ChangeFrequency)
	if err != nil {
		return contract.Detail{}, err
	}
	if err := v.allow(cmd.Permit.(*permit)); err != nil {
		return contract.Detail{}, err
	}
	options, err := s.frequencies(ctx, v)
	if err != nil {
		return contract.Detail{}, err
	}
	if !slices.ContainsFunc(options, func(f Frequency) bool { return f.ID == sellingPlan }) {
		return contract.Detail{}, fault.New(fault.FailedPrecondition, "selling plan %d is not offered for this subscription", sellingPlan).
			Entity(amend.Entity).Code("frequencyNotOffered").Field("sellingPlanId")
	}
	return s.Edits.SetSellingPlan(ctx, who.Shop.ID, cmd, sellingPlan)
}
