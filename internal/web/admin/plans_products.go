package admin

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/web"
)

// ItemsQuery names products and variants.
type ItemsQuery struct {
	Products   string `query:"productIds" doc:"Numbers of products, separated by commas." example:"3001,3002"`
	Variants   string `query:"variantIds" doc:"Numbers of variants, separated by commas."`
	Collection string `query:"collectionId" doc:"Also all products of this collection, up to 5000: number or graph id."`
}

func (q ItemsQuery) read() (named plan.Assigned, collection int64, err error) {
	if named.Products, err = numberList("Product", "productIds", q.Products); err != nil {
		return named, 0, err
	}
	if named.Variants, err = numberList("ProductVariant", "variantIds", q.Variants); err != nil {
		return named, 0, err
	}
	collection, err = web.ParseID("Collection", "collectionId", q.Collection)
	return named, collection, err
}

func nothingNamed(also string) error {
	return fault.New(fault.Invalid, "give productIds, variantIds or collectionId%s", also).Entity("subscriptionGroup").Code("nothingNamed").Field("productIds")
}

type addGroupQuery struct {
	GroupPath
	ItemsQuery
}

func (h groupHandlers) addProducts(ctx context.Context, in *addGroupQuery) (*groupOut, error) {
	named, collection, err := in.read()
	if err == nil && named.Empty() && collection == 0 {
		err = nothingNamed("")
	}
	if err != nil {
		return nil, err
	}
	return h.update(ctx, in.ID, plan.UpdateCommand{Assign: plan.Assignment{Add: named}, Collection: collection})
}

// LeaveQuery names the products or variants to remove.
type LeaveQuery struct {
	ItemsQuery
	All web.Opt[bool] `query:"deleteAllProductsAndVariants" doc:"Removes all products and variants. Default false."`
}

func (q LeaveQuery) read() (named plan.Assigned, collection int64, err error) {
	named, collection, err = q.ItemsQuery.read()
	if err == nil && named.Empty() && collection == 0 && !q.All.Value {
		err = nothingNamed(", or deleteAllProductsAndVariants=true")
	}
	return named, collection, err
}

type leaveGroupQuery struct {
	GroupPath
	LeaveQuery
}

func (h groupHandlers) removeProducts(ctx context.Context, in *leaveGroupQuery) (*groupOut, error) {
	named, collection, err := in.read()
	if err != nil {
		return nil, err
	}
	return h.update(ctx, in.ID, plan.UpdateCommand{
		Assign: plan.Assignment{Remove: named, RemoveAll: in.All.Value}, Collection: collection, CollectionLeaves: true,
	})
}

// update changes the group that is named by its number or its graph id.
func (h groupHandlers) update(ctx context.Context, named string, c plan.UpdateCommand) (*groupOut, error) {
	caller := web.CallerOf(ctx)
	id, err := h.groupID(ctx, caller, "id", named)
	if err != nil {
		return nil, err
	}
	c.Line, c.ID, c.Actor = h.line, id, caller.Actor
	return newGroupOut(h.plans.Update(ctx, caller.Shop.ID, c))
}

type groupListOut struct {
	web.ListHeaders
	Body []subscriptionGroup
}

func (h groupHandlers) removeEverywhere(ctx context.Context, in *LeaveQuery) (*groupListOut, error) {
	caller := web.CallerOf(ctx)
	named, collection, err := in.read()
	if err != nil {
		return nil, err
	}
	groups, err := h.plans.RemoveEverywhere(ctx, caller.Shop.ID, plan.RemoveCommand{
		Line: h.line, Remove: named, Collection: collection, All: in.All.Value, Actor: caller.Actor,
	})
	if err != nil {
		return nil, err
	}
	whole := page.Request{Size: max(len(groups), 1)}
	return &groupListOut{ListHeaders: web.Paged(ctx, whole, len(groups)), Body: newGroups(groups)}, nil
}
