package portal

import (
	"context"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/platform"
)

// Frequency is a plan option to which a contract can change.
type Frequency struct {
	plan.Option
	Current bool
	Then    contract.Contract // the contract on it, at the prices of its next order
	Price   money.Amount      // what its next order costs then, before taxes
}

// Frequencies returns the plan options of the contract's group that the caller may choose, in the order
// in which the merchant shows them; none where the contract is on no plan of the store's groups. It
// asks the platform for the prices of products.
func (s *Service) Frequencies(ctx context.Context, who Caller, id contract.ID) ([]Frequency, error) {
	v, err := s.Contract(ctx, who, id)
	if err != nil {
		return nil, err
	}
	list, err := s.frequencies(ctx, v)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	options := make([]plan.Option, len(list))
	for i, f := range list {
		options[i] = f.Option
	}
	on, err := s.Edits.OnPlans(platform.Interactive(ctx), v.Shop, v.State.Contract, options)
	for i := range list {
		list[i].Then = on[list[i].ID]
		list[i].Price = v.NextCost(list[i].Then)
	}
	return list, err
}

func (s *Service) frequencies(ctx context.Context, v View) ([]Frequency, error) {
	c := v.State.Contract
	on, err := planOf(c, "")
	if err != nil {
		return nil, err
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
