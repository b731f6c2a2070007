package plan

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform"
)

// optionLabel is what the platform's shoppers choose by.
const optionLabel = "Delivery frequency"

// code returns the name under which the platform keeps the group: the same for
// every try at making it, and never another group's, not even after numbers were
// handed out again from a restored backup.
func (g Group) code() string {
	return fmt.Sprintf("perennial-%d-%s", g.ID, strconv.FormatInt(g.CreatedAt.UnixMilli(), 36))
}

// selling returns an option in the platform's form.
func (o Option) selling(position int, c money.Currency) platform.SellingPlan {
	policy := func(f Frequency) platform.Policy {
		return platform.Policy{Interval: f.Interval.String(), Count: f.Count, Anchors: o.Anchors()}
	}
	p := platform.SellingPlan{
		ID: o.ID, Name: o.Name, Description: o.Description, Option: o.Name, Position: position,
		Billing: policy(o.Billing), Delivery: policy(o.Delivery), Cutoff: o.Cutoff, AwaitAnchor: o.Specific && o.Behavior == Next,
		Reserve: string(o.Reserve),
		Prices:  o.prices(c),
	}
	p.Billing.MinCycles, p.Billing.MaxCycles = o.MinCycles, o.MaxCycles
	return p
}

func selling(options []Option, c money.Currency) []platform.SellingPlan {
	list := make([]platform.SellingPlan, len(options))
	for i, o := range options {
		list[i] = o.selling(i+1, c)
	}
	return list
}

// change returns the platform's update that leads to the desired group.
func (g Group) change(c money.Currency) platform.PlanGroupChange {
	var change platform.PlanGroupChange
	if g.Pending.Terms.Name != g.Name {
		change.Name = &g.Pending.Terms.Name
	}
	is := selling(g.Options, c)
	for i, p := range selling(g.Pending.Options, c) {
		switch {
		case p.ID == 0:
			change.Create = append(change.Create, p)
		case g.Pending.Options[i] == g.is(p.ID) && samePosition(is, p):
		default:
			change.Update = append(change.Update, p)
		}
	}
	for _, o := range g.Options {
		if !slices.ContainsFunc(g.Pending.Options, func(p Option) bool { return p.ID == o.ID }) {
			change.Delete = append(change.Delete, o.ID)
		}
	}
	return change
}

func (g Group) is(id int64) Option {
	o, _ := g.Option(id)
	return o
}

func samePosition(is []platform.SellingPlan, p platform.SellingPlan) bool {
	return slices.ContainsFunc(is, func(q platform.SellingPlan) bool { return q.ID == p.ID && q.Position == p.Position })
}

// empty reports whether there is nothing to update.
func empty(c platform.PlanGroupChange) bool {
	return c.Name == nil && len(c.Create) == 0 && len(c.Update) == 0 && len(c.Delete) == 0
}

// find returns the change without what the platform has done already: a plan of
// ours that it made is changed instead of made again, and one that it removed is
// left alone.
func (g *Group) find(there []platform.PlanRef) {
	for i, o := range g.Pending.Options {
		if o.ID != 0 {
			continue
		}
		for _, p := range there {
			if _, known := g.Option(p.ID); !known && p.Name == o.Name {
				g.Pending.Options[i].ID = p.ID
			}
		}
	}
	g.Options = slices.DeleteFunc(slices.Clone(g.Options), func(o Option) bool {
		wanted := slices.ContainsFunc(g.Pending.Options, func(p Option) bool { return p.ID == o.ID })
		return !wanted && !slices.ContainsFunc(there, func(p platform.PlanRef) bool { return p.ID == o.ID })
	})
}

// number gives options the numbers that the platform gave them. Names are unique
// in a group.
func number(options []Option, there []platform.PlanRef) error {
	for i, o := range options {
		if o.ID != 0 {
			continue
		}
		at := slices.IndexFunc(there, func(p platform.PlanRef) bool {
			return p.Name == o.Name && !slices.ContainsFunc(options, func(q Option) bool { return q.ID == p.ID })
		})
		if at < 0 {
			return fmt.Errorf("%w: no plan %q in the platform's answer", platform.ErrUnknown, o.Name)
		}
		options[i].ID = there[at].ID
	}
	return nil
}
