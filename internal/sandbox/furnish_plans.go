package sandbox

import (
	"context"
	"fmt"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
)

// demoGroups makes the groups of plans on which a store's contracts are, unless
// it has some. The platform counts their plans as the contracts name them.
func (s *Sandbox) demoGroups(ctx context.Context, of shop.Shop) (subscriptions, memberships plan.ID, err error) {
	subscriptions, err = s.demoGroup(ctx, of, shop.Subscriptions, plan.Terms{
		Name: "Subscribe and save", CustomerTag: demo.CustomerTag(false), OrderTag: "subscription-first-order", MemberOrderTag: "subscription-renewal",
	})
	if err != nil {
		return 0, 0, fmt.Errorf("make the subscription group of %s: %w", of.Domain, err)
	}
	memberships, err = s.demoGroup(ctx, of, shop.Memberships, plan.Terms{
		Name: "Pantry Club", CustomerTag: demo.CustomerTag(true), OrderTag: "club-joined", MemberOrderTag: "club-renewed",
	})
	if err != nil {
		return 0, 0, fmt.Errorf("make the membership group of %s: %w", of.Domain, err)
	}
	return subscriptions, memberships, nil
}

func (s *Sandbox) demoGroup(ctx context.Context, of shop.Shop, line shop.Line, terms plan.Terms) (plan.ID, error) {
	a := s.front.running()
	list, _, err := a.Store.PlanGroups(ctx, of.ID, line, page.Request{Size: 1})
	if err != nil {
		return 0, err
	}
	if len(list) > 0 {
		return list[0].ID, nil
	}
	draft := plan.Draft{Terms: terms}
	for _, p := range demo.Plans() {
		if p.Membership == (line == shop.Memberships) {
			o, err := optionOf(p)
			if err != nil {
				return 0, err
			}
			o.Sequence = len(draft.Options) + 1
			draft.Options = append(draft.Options, o)
		}
	}
	sold, err := s.soldOn(of.Domain, line)
	if err != nil {
		return 0, err
	}
	made, err := a.Plans.Create(ctx, of.ID, plan.CreateCommand{Line: line, Draft: draft, Sold: sold, Actor: activity.System})
	if fault.Is(err, fault.Unavailable) { // the platform's answer was lost: the sweep finds out
		return 0, nil
	}
	return made.ID, err
}

// soldOn returns the products of a store that can be subscribed to on a line.
func (s *Sandbox) soldOn(domain string, line shop.Line) (platform.Assigned, error) {
	variants, err := s.sim.Variants(domain)
	if err != nil {
		return platform.Assigned{}, err
	}
	var sold platform.Assigned
	last := int64(0)
	for _, v := range variants {
		plans := demo.PlansFor(v)
		if v.ProductID != last && plans[0].Membership == (line == shop.Memberships) {
			sold.Products = append(sold.Products, v.ProductID)
		}
		last = v.ProductID
	}
	return sold, nil
}

// optionOf returns a plan of the demo stores as an option.
func optionOf(p demo.Plan) (plan.Option, error) {
	every, err := cadence.ParseInterval(p.Billing.Interval)
	if err != nil {
		return plan.Option{}, err
	}
	o := plan.Option{Name: p.Name, Kind: plan.PayAsYouGo, Billing: plan.Frequency{Interval: every, Count: p.Billing.IntervalCount}, Exchange: true}
	o.Delivery = o.Billing
	if p.Delivery.IntervalCount != 0 {
		o.Kind, o.Delivery.Count = plan.Prepaid, p.Delivery.IntervalCount
		if o.Delivery.Interval, err = cadence.ParseInterval(p.Delivery.Interval); err != nil {
			return plan.Option{}, err
		}
	}
	for _, a := range p.Billing.Anchors {
		o.Specific, o.Day, o.Month = true, a.Day, a.Month
	}
	if p.PercentOff > 0 {
		o.First = plan.Discount{Enabled: true, Kind: plan.Percentage, Offer: float64(p.PercentOff)}
	}
	return o, nil
}
