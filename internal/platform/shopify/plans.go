package shopify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/admin"
	"github.com/perennialhq/perennial/internal/platform/shopify/wire"
)

// Types of graph ids around selling plans.
const (
	typeCollection = "Collection"
	typeProduct    = "Product"
)

// Codes of refusals that say that there is nothing to do.
const (
	codeGroupGone = "GROUP_DOES_NOT_EXIST"
	codeTaken     = "TAKEN"
	codeUnknownID = "NOT_FOUND"
)

// PlanGroup returns a group.
func (c *Client) PlanGroup(ctx context.Context, shop platform.Shop, group int64) (platform.PlanGroup, error) {
	got, err := admin.PlanGroup(ctx, c.session(shop), gid.Of(typePlanGroup, group))
	if err == nil && got.SellingPlanGroup == nil {
		err = platform.ErrNotFound
	}
	if err != nil {
		return platform.PlanGroup{}, fmt.Errorf("read plan group %d: %w", group, err)
	}
	return newPlanGroup(got.SellingPlanGroup)
}

func newPlanGroup(g *admin.PlanGroupFields) (platform.PlanGroup, error) {
	id, err := gid.Parse(typePlanGroup, g.Id)
	if err != nil {
		return platform.PlanGroup{}, fmt.Errorf("read a plan group: %w", unknown(err))
	}
	nodes := slices.Clone(g.SellingPlans.Nodes)
	slices.SortStableFunc(nodes, func(a, b admin.PlanNode) int { return a.Position - b.Position })
	made := platform.PlanGroup{ID: id, Code: g.MerchantCode, Name: g.Name}
	for _, n := range nodes {
		plan, err := gid.Parse(typeSellingPlan, n.Id)
		if err != nil {
			return platform.PlanGroup{}, fmt.Errorf("read plan group %d: %w", id, unknown(err))
		}
		made.Plans = append(made.Plans, platform.PlanRef{ID: plan, Name: n.Name})
	}
	return made, nil
}

// PlanGroupByCode goes through the groups that were made since then: the platform
// has no search by this name.
func (c *Client) PlanGroupByCode(ctx context.Context, shop platform.Shop, code string, since time.Time) (platform.PlanGroup, error) {
	query := "created_at:>='" + since.UTC().Format(time.RFC3339) + "'"
	for cursor, more := "", true; more; {
		got, err := admin.PlanGroupCodes(ctx, c.session(shop), query, cursor)
		if err != nil {
			return platform.PlanGroup{}, fmt.Errorf("look for the plan group %s: %w", code, err)
		}
		page := got.SellingPlanGroups
		for _, n := range page.Nodes {
			if n.MerchantCode == code {
				return c.PlanGroup(ctx, shop, gid.Number(n.Id))
			}
		}
		cursor, more = page.PageInfo.EndCursor, page.PageInfo.HasNextPage
	}
	return platform.PlanGroup{}, fmt.Errorf("look for the plan group %s: %w", code, platform.ErrNotFound)
}

// CreatePlanGroup makes a group.
func (c *Client) CreatePlanGroup(
	ctx context.Context, shop platform.Shop, g platform.PlanGroupTerms, plans []platform.SellingPlan, of platform.Assigned,
) (platform.PlanGroup, error) {
	input := wire.PlanGroupInput{MerchantCode: g.Code, Name: &g.Name, Options: g.Options, Create: planInputs(plans)}
	got, err := admin.CreatePlanGroup(ctx, c.session(shop), input, wire.PlanResources{
		Products: graphIDs(typeProduct, of.Products), Variants: graphIDs(typeVariant, of.Variants),
	})
	var made platform.PlanGroup
	if err == nil {
		p := got.SellingPlanGroupCreate
		if p == nil {
			err = errNoPayload()
		} else if err = answered(p.UserErrors); err == nil {
			made, err = groupOf(p.SellingPlanGroup)
		}
	}
	return made, about(err, "make the plan group %q", g.Name)
}

func groupOf(g *admin.PlanGroupFields) (platform.PlanGroup, error) {
	if g == nil {
		return platform.PlanGroup{}, errNoPayload()
	}
	return newPlanGroup(g)
}

// UpdatePlanGroup changes a group.
func (c *Client) UpdatePlanGroup(ctx context.Context, shop platform.Shop, group int64, change platform.PlanGroupChange) (platform.PlanGroup, error) {
	input := wire.PlanGroupInput{
		Name: change.Name, Create: planInputs(change.Create), Update: planInputs(change.Update), Delete: graphIDs(typeSellingPlan, change.Delete),
	}
	got, err := admin.UpdatePlanGroup(ctx, c.session(shop), gid.Of(typePlanGroup, group), input)
	var changed platform.PlanGroup
	if err == nil {
		p := got.SellingPlanGroupUpdate
		if p == nil {
			err = errNoPayload()
		} else if err = answered(p.UserErrors); err == nil {
			changed, err = groupOf(p.SellingPlanGroup)
		}
	}
	return changed, about(err, "change plan group %d", group)
}

// DeletePlanGroup removes a group.
func (c *Client) DeletePlanGroup(ctx context.Context, shop platform.Shop, group int64) error {
	got, err := admin.DeletePlanGroup(ctx, c.session(shop), gid.Of(typePlanGroup, group))
	if err == nil {
		if p := got.SellingPlanGroupDelete; p == nil {
			err = errNoPayload()
		} else {
			err = answered(p.UserErrors)
		}
	}
	if refusedWith(err, codeGroupGone) || errors.Is(err, platform.ErrNotFound) {
		return nil
	}
	return about(err, "remove plan group %d", group)
}

// refusedWith reports whether the platform refused with one of the codes.
func refusedWith(err error, codes ...string) bool {
	r, ok := errors.AsType[*platform.Refusal](err)
	return ok && slices.Contains(codes, r.Code)
}

func planInputs(plans []platform.SellingPlan) []wire.PlanInput {
	list := make([]wire.PlanInput, len(plans))
	for i, p := range plans {
		list[i] = planInput(p)
	}
	return list
}

func planInput(p platform.SellingPlan) wire.PlanInput {
	in := wire.PlanInput{
		Name: p.Name, Description: p.Description, Options: []string{p.Option}, Position: p.Position, Category: "SUBSCRIPTION",
		Billing: wire.RecurringOf{Recurring: wire.RecurringInput{
			Interval: p.Billing.Interval, Count: p.Billing.Count, Anchors: planAnchors(p.Billing.Anchors),
			Cycles: &wire.Cycles{Min: unlessZero(p.Billing.MinCycles), Max: unlessZero(p.Billing.MaxCycles)},
		}},
		Delivery: wire.RecurringOf{Recurring: wire.RecurringInput{
			Interval: p.Delivery.Interval, Count: p.Delivery.Count, Anchors: planAnchors(p.Delivery.Anchors),
			Preparation: &wire.Preparation{Cutoff: unlessZero(p.Cutoff), Behavior: "ASAP"},
		}},
		Prices: []wire.PriceInput{},
	}
	if p.ID != 0 {
		in.ID = gid.Of(typeSellingPlan, p.ID)
	}
	if p.Reserve != "" {
		in.Inventory = &wire.InventoryInput{Reserve: p.Reserve}
	}
	if p.AwaitAnchor {
		in.Delivery.Recurring.Behavior = "NEXT"
	}
	for _, price := range p.Prices {
		a := &wire.AdjustmentInput{Type: string(price.Kind), After: price.After}
		if price.Kind == platform.PercentOff {
			a.Value.Percentage = &price.Percent
		} else {
			a.Value.Fixed = price.Amount.String()
		}
		if price.After == 0 {
			in.Prices = append(in.Prices, wire.PriceInput{Fixed: a})
		} else {
			in.Prices = append(in.Prices, wire.PriceInput{Recurring: a})
		}
	}
	return in
}

func planAnchors(anchors []platform.Anchor) []wire.AnchorInput {
	list := make([]wire.AnchorInput, len(anchors))
	for i, a := range anchors {
		list[i] = wire.AnchorInput{Type: a.Type, Day: a.Day, Month: a.Month, CutoffDay: a.CutoffDay}
	}
	return list
}

func graphIDs(kind string, ids []int64) []string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = gid.Of(kind, id)
	}
	return list
}
