package admin

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/web"
)

// Swaps changes the swap rules of a store. Failures are faults.
type Swaps interface {
	Create(ctx context.Context, of shop.Shop, r swap.Rule, by activity.Actor) (swap.Rule, error)
	Update(ctx context.Context, of shop.Shop, r swap.Rule, by activity.Actor) (swap.Rule, error)
	Delete(ctx context.Context, of shop.ID, line shop.Line, id swap.ID, by activity.Actor) error
}

// Page sizes of the list of swap rules.
const (
	defaultSwaps = 20
	maxSwaps     = 2000
)

var swapList = web.List{Default: defaultSwaps, Max: maxSwaps, Fields: swap.SortFields}

const swapsPath = base + "/product-swaps"

// swapHandlers show and change product swap rules.
type swapHandlers struct {
	line  shop.Line
	swaps Swaps
	book  swap.Book
}

func (h swapHandlers) register(api *web.API) {
	read := web.Operation{Method: http.MethodGet, Tag: "Product swaps", Scope: access.ProductsWrite}
	change := web.Operation{
		Method: http.MethodPut, Tag: "Product swaps", Scope: access.ProductsWrite, Body: swapRecord{},
		Errors: []int{http.StatusNotFound, http.StatusConflict},
	}
	const fields = "A rule without forBillingCycle changes the contract, beginning with the first order that holds all sources: once for a contract or, with checkForEveryRecurringOrder, whenever an order holds them. " +
		"One with forBillingCycle changes the order of that billing cycle alone or, with checkForEveryRecurringOrder, the contract from that cycle on. " +
		"The very first order of a contract is left as it is unless updatedFirstOrder is true. Rules are looked at in the order of ruleSequence and may build on one another. " +
		"sourceVariants and destinationVariants are JSON texts; real arrays are taken too. A variant that the store does not have is 404."

	list := read
	list.ID, list.Path, list.Summary = "listProductSwaps", swapsPath, "Product swap rules"
	list.List = &swapList
	list.Description = "In the order in which they are looked at, unless they are sorted otherwise."
	web.Register(api, list, h.listSwaps)

	create := change
	create.Method, create.ID, create.Path, create.Summary, create.Description = http.MethodPost, "createProductSwap", swapsPath, "Add a product swap rule", fields
	create.Status = http.StatusCreated
	web.Register(api, once(create), h.createSwap)

	update := change
	update.ID, update.Path, update.Summary = "updateProductSwap", swapsPath, "Change a product swap rule"
	update.Description = "The rule is the one whose id is in the body. A field that is absent keeps its value; null clears it where it may be empty. " + fields
	web.Register(api, update, h.updateSwap)

	one := read
	one.ID, one.Path, one.Summary, one.Errors = "getProductSwap", swapsPath+"/{id}", "A product swap rule", []int{http.StatusNotFound}
	one.Description = "One rule by its number."
	web.Register(api, one, h.getSwap)

	byID := update
	byID.ID, byID.Path = "updateProductSwapById", swapsPath+"/{id}"
	byID.Description = "As the operation without an id in the path."
	web.Register(api, byID, h.updateSwapByID)

	remove := read
	remove.Method, remove.ID, remove.Path, remove.Summary, remove.Status = http.MethodDelete, "deleteProductSwap", swapsPath+"/{id}", "Remove a product swap rule", http.StatusNoContent
	remove.Description, remove.Errors = "What the rule did stays.", []int{http.StatusNotFound}
	web.Register(api, remove, h.deleteSwap)
}

type swapOut struct{ Body swapRecord }

func newSwapOut(caller web.Caller, r swap.Rule, err error) (*swapOut, error) {
	if err != nil {
		return nil, err
	}
	return &swapOut{newSwap(caller.Shop.Domain, r)}, nil
}

type swapPage struct {
	web.ListHeaders
	Body []swapRecord
}

func (h swapHandlers) listSwaps(ctx context.Context, in *struct{ web.Paging }) (*swapPage, error) {
	caller := web.CallerOf(ctx)
	p, err := in.Request(swapList)
	if err != nil {
		return nil, err
	}
	rules, total, err := h.book.SwapRulesOf(ctx, caller.Shop.ID, h.line, p)
	if err != nil {
		return nil, err
	}
	out := &swapPage{ListHeaders: web.Paged(ctx, p, total), Body: make([]swapRecord, len(rules))}
	for i, r := range rules {
		out.Body[i] = newSwap(caller.Shop.Domain, r)
	}
	return out, nil
}

type swapPath struct {
	ID int64 `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The rule."`
}

func (h swapHandlers) getSwap(ctx context.Context, in *swapPath) (*swapOut, error) {
	caller := web.CallerOf(ctx)
	r, err := h.book.SwapRuleOf(ctx, caller.Shop.ID, h.line, swap.ID(in.ID))
	return newSwapOut(caller, r, err)
}

type swapIn struct{ web.JSONBody }

func (h swapHandlers) createSwap(ctx context.Context, in *swapIn) (*swapOut, error) {
	caller := web.CallerOf(ctx)
	s := swapRecord{Shop: caller.Shop.Domain, DiscountCarryForward: string(swap.None)}
	if err := intoOwn(&in.JSONBody, caller, &s, &s.Shop); err != nil {
		return nil, err
	}
	if s.ID != 0 {
		return nil, fault.New(fault.Invalid, "field 'id' is given by the service: leave it out of a new rule").Code("fieldReadOnly").Field("id")
	}
	rule, err := s.rule(swap.Rule{Line: h.line})
	if err != nil {
		return nil, err
	}
	r, err := h.swaps.Create(ctx, caller.Shop, rule, caller.Actor)
	return newSwapOut(caller, r, err)
}

func (h swapHandlers) updateSwap(ctx context.Context, in *swapIn) (*swapOut, error) {
	var body struct {
		ID   int64
		Shop string
	}
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	if body.ID < 1 {
		return nil, fault.New(fault.Invalid, "field 'id' is required: the number of the rule").Code("bodyField").Field("id")
	}
	if body.Shop == "" {
		return nil, fault.New(fault.Invalid, "field 'shop' is required: the key's store").Code("bodyField").Field("shop")
	}
	return h.changeSwap(ctx, &in.JSONBody, body.ID)
}

type swapByIDIn struct {
	ID int64 `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The rule."`
	web.JSONBody
}

func (h swapHandlers) updateSwapByID(ctx context.Context, in *swapByIDIn) (*swapOut, error) {
	return h.changeSwap(ctx, &in.JSONBody, in.ID)
}

// changeSwap updates a rule. Fields that the body does not have keep their values.
func (h swapHandlers) changeSwap(ctx context.Context, in *web.JSONBody, id int64) (*swapOut, error) {
	caller := web.CallerOf(ctx)
	// A body that is invalid for any rule is refused before the rule is read.
	alone, err := swapBody(caller, in, swap.Rule{ID: swap.ID(id), Discount: swap.None})
	if err == nil {
		err = alone.CheckBounds()
	}
	if err != nil {
		return nil, err
	}
	old, err := h.book.SwapRuleOf(ctx, caller.Shop.ID, h.line, swap.ID(id))
	if err != nil {
		return nil, err
	}
	rule, err := swapBody(caller, in, old)
	if err != nil {
		return nil, err
	}
	r, err := h.swaps.Update(ctx, caller.Shop, rule, caller.Actor)
	return newSwapOut(caller, r, err)
}

func swapBody(caller web.Caller, in *web.JSONBody, old swap.Rule) (swap.Rule, error) {
	s := newSwap(caller.Shop.Domain, old)
	if err := intoOwn(in, caller, &s, &s.Shop); err != nil {
		return swap.Rule{}, err
	}
	if s.ID != int64(old.ID) {
		return swap.Rule{}, fault.New(fault.Invalid, "field 'id' is %d and the rule is %d", s.ID, old.ID).Code("fieldReadOnly").Field("id")
	}
	if s.RuleSequence == nil {
		return swap.Rule{}, fault.New(fault.Invalid, "field 'ruleSequence' cannot be empty").Code("bodyField").Field("ruleSequence")
	}
	return s.rule(old)
}

func (h swapHandlers) deleteSwap(ctx context.Context, in *swapPath) (*struct{}, error) {
	caller := web.CallerOf(ctx)
	return nil, h.swaps.Delete(ctx, caller.Shop.ID, h.line, swap.ID(in.ID), caller.Actor)
}
