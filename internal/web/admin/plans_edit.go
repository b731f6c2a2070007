package admin

import (
	"cmp"
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/web"
)

func (h groupHandlers) createGroup(ctx context.Context, in *GroupIn) (*groupOut, error) {
	caller := web.CallerOf(ctx)
	e, err := in.over(plan.Terms{})
	if err == nil {
		err = ownShop(e.Shop, caller, "shop")
	}
	if err != nil {
		return nil, err
	}
	draft := plan.Draft{Terms: e.terms()}
	if draft.Options, err = optionsOver(e.plans, plan.Group{}); err != nil {
		return nil, err
	}
	named := e.UpdateProducts.assigned()
	return newGroupOut(h.plans.Create(ctx, caller.Shop.ID, plan.CreateCommand{
		Line: h.line, Draft: draft, Actor: caller.Actor,
		Sold: plan.Assigned{Products: append(e.ProductIDs.ids, named.Products...), Variants: append(e.VariantIDs.ids, named.Variants...)},
	}))
}

type editGroupIn struct {
	GroupPath
	GroupIn
}

func (h groupHandlers) editGroup(ctx context.Context, in *editGroupIn) (*groupOut, error) {
	return h.edit(ctx, in.ID, &in.GroupIn)
}

func (h groupHandlers) editNamedGroup(ctx context.Context, in *GroupIn) (*groupOut, error) {
	return h.edit(ctx, "", in)
}

// edit changes the group that the path or the body names.
func (h groupHandlers) edit(ctx context.Context, path string, in *GroupIn) (*groupOut, error) {
	caller := web.CallerOf(ctx)
	e, err := in.over(plan.Terms{Name: "as it is"})
	if err == nil {
		err = ownShop(e.Shop, caller, "shop")
	}
	switch {
	case err != nil:
		return nil, err
	case path == "" && (e.ID == "" || e.ID == "0"):
		return nil, fault.New(fault.Invalid, "field 'id' is required: the number of the subscription group").Code("bodyField").Field("id")
	}
	if err := e.alone(); err != nil {
		return nil, err
	}
	id, err := h.groupID(ctx, caller, "id", cmp.Or(path, string(e.ID)))
	if err != nil {
		return nil, err
	}
	if path != "" && e.ID != "" {
		named, err := h.groupID(ctx, caller, "id", string(e.ID))
		if fault.Is(err, fault.NotFound) || err == nil && named != id {
			err = fault.New(fault.Invalid, "field 'id' is %s and the path names subscription group %d", e.ID, id).Code("fieldReadOnly").Field("id")
		}
		if err != nil {
			return nil, err
		}
	}
	g, err := h.book.PlanGroup(ctx, caller.Shop.ID, h.line, id)
	if err != nil {
		return nil, err
	}
	if e, err = in.over(g.Terms); err != nil {
		return nil, err
	}
	if err := in.countsOf(e, g); err != nil {
		return nil, err
	}
	draft := plan.Draft{Terms: e.terms(), Options: g.Options}
	if e.plans != nil {
		if draft.Options, err = optionsOver(e.plans, g); err != nil {
			return nil, err
		}
	}
	command := plan.UpdateCommand{Line: h.line, ID: g.ID, Version: g.Version, Draft: &draft, Actor: caller.Actor}
	command.Assign = plan.Assignment{Add: e.UpdateProducts.assigned(), Remove: e.DeleteProducts.assigned()}
	if e.ProductIDs.set {
		command.Assign.Products = &e.ProductIDs.ids
	}
	if e.VariantIDs.set {
		command.Assign.Variants = &e.VariantIDs.ids
	}
	return newGroupOut(h.plans.Update(ctx, caller.Shop.ID, command))
}
