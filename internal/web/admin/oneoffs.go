package admin

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

// OneOffs changes the one-time products of single orders.
// Failures are faults.
type OneOffs interface {
	AddOneOff(ctx context.Context, of shop.Shop, c command.OneOff) error
	UpdateOneOff(ctx context.Context, of shop.Shop, c command.OneOff) (billing.OneOffRecord, error)
	RemoveOneOff(ctx context.Context, of shop.Shop, c command.OneOff) error
}

// Page sizes of the lists of one-time products.
const (
	defaultOneOffs = 100
	maxOneOffs     = 2000
)

var oneOffList = web.List{Default: defaultOneOffs, Max: maxOneOffs}

// oneOffHandlers show and change one-time products.
type oneOffHandlers struct {
	contractHandlers

	oneOffs OneOffs
	book    billing.OneOffBook
}

func (h oneOffHandlers) register(api *web.API) {
	list := web.Operation{
		Method: http.MethodGet, Tag: "One-time products", Scope: access.ContractsRead, List: &oneOffList,
		Errors: []int{http.StatusNotFound},
	}
	change := web.Operation{
		Tag: "One-time products", Scope: access.ContractsWrite,
		Errors: []int{http.StatusNotFound, http.StatusConflict},
	}
	const one = base + "/subscription-contract-one-offs-by-contractId-and-billing-attempt-id"

	upcoming := list
	upcoming.ID, upcoming.Path, upcoming.Summary = "listUpcomingOneOffs", base+"/upcoming-subscription-contract-one-offs-by-contractId", "One-time products of upcoming orders"
	upcoming.Description = "The one-time products of the contract's upcoming orders, soonest first."
	web.Register(api, upcoming, h.upcomingOneOffs)

	all := list
	all.ID, all.Path, all.Summary = "listOneOffs", base+"/subscription-contract-one-offs-by-contractId", "One-time products of a contract"
	all.Description = "The one-time products of all orders of the contract, past ones included."
	web.Register(api, all, h.allOneOffs)

	add := change
	add.Method, add.ID, add.Path, add.Summary = http.MethodPut, "addOneOff", one, "Add a one-time product"
	add.Description = "Adds a one-time product to an upcoming order, at the product's own price unless one is given. When the order already has the variant, its quantity becomes the given one. " +
		"400 sellingPlanRequired for a product that is sold on selling plans only, as memberships are. " +
		"An order that the contract does not have, or that is not QUEUED, stands for the contract's next upcoming order; 400 noUpcomingOrder when there is none. When it is skipped, its one-time products move to the next one. Answers all one-time products of the contract, those of orders that were made included."
	web.Register(api, add, h.addOneOff)

	remove := change
	remove.Method, remove.ID, remove.Path, remove.Summary = http.MethodDelete, "removeOneOff", one, "Remove a one-time product"
	remove.Description = "Takes a product out of an upcoming order again. One that the order does not carry is gone already. Answers as adding does."
	web.Register(api, remove, h.removeOneOff)

	quantity := change
	quantity.Method, quantity.ID, quantity.Path, quantity.Summary = http.MethodPut, "updateOneOffQuantity", base+"/subscription-contract-one-offs-update-quantity", "Change the quantity of a one-time product"
	quantity.Description = "Everything may be sent in the query or, under the same names, in a JSON body; what is in both counts as it is in the query."
	web.Register(api, quantity, h.updateOneOff)
}

type oneOffQuery struct {
	web.Paging
	Contract string `query:"contractId" required:"true" format:"id" doc:"The contract: number or graph id."`
}

type oneOffPage struct {
	web.ListHeaders
	Body []record.OneOff
}

func (h oneOffHandlers) upcomingOneOffs(ctx context.Context, in *oneOffQuery) (*oneOffPage, error) {
	return h.listOneOffs(ctx, in, true)
}

func (h oneOffHandlers) allOneOffs(ctx context.Context, in *oneOffQuery) (*oneOffPage, error) {
	return h.listOneOffs(ctx, in, false)
}

func (h oneOffHandlers) listOneOffs(ctx context.Context, in *oneOffQuery, upcoming bool) (*oneOffPage, error) {
	p, err := in.Request(oneOffList)
	if err != nil {
		return nil, err
	}
	of, err := web.ParseID("SubscriptionContract", "contractId", in.Contract)
	if err != nil {
		return nil, err
	}
	return h.oneOffsOf(ctx, billing.OneOffQuestion{Line: h.line, Contract: contract.ID(of), Upcoming: upcoming}, p)
}

func (h oneOffHandlers) oneOffsOf(ctx context.Context, q billing.OneOffQuestion, p page.Request) (*oneOffPage, error) {
	caller := web.CallerOf(ctx)
	records, total, err := h.book.OneOffsOf(ctx, caller.Shop.ID, q, p)
	if err != nil {
		return nil, err
	}
	out := &oneOffPage{ListHeaders: web.Paged(ctx, p, total), Body: make([]record.OneOff, len(records))}
	for i, r := range records {
		out.Body[i] = record.NewOneOff(caller.Shop.Domain, r)
	}
	return out, nil
}

type addOneOffIn struct {
	record.OneOffNames
	Quantity web.Opt[int64]       `query:"quantity" minimum:"1" maximum:"999" doc:"Default 1."`
	Price    web.Opt[web.Decimal] `query:"price" minimum:"0" maximum:"999999.99" doc:"Unit price in the contract's currency. Absent: the product's own."`
}

func (h oneOffHandlers) addOneOff(ctx context.Context, in *addOneOffIn) (*oneOffPage, error) {
	command, err := in.Command(h.line, web.CallerOf(ctx).Actor)
	if err != nil {
		return nil, err
	}
	if in.Quantity.Set {
		command.Quantity = int(in.Quantity.Value)
	}
	command.OrNext = true
	if command.Price, err = h.price(ctx, amend.Command{Line: command.Line, Contract: command.Contract, Actor: command.Actor}, "price", in.Price); err != nil {
		return nil, err
	}
	if err := h.oneOffs.AddOneOff(ctx, web.CallerOf(ctx).Shop, command); err != nil {
		return nil, err
	}
	return h.oneOffsOf(ctx, billing.OneOffQuestion{Line: h.line, Contract: command.Contract}, page.Request{Size: maxOneOffs})
}

func (h oneOffHandlers) removeOneOff(ctx context.Context, in *struct{ record.OneOffNames }) (*oneOffPage, error) {
	command, err := in.Command(h.line, web.CallerOf(ctx).Actor)
	if err != nil {
		return nil, err
	}
	if err := h.oneOffs.RemoveOneOff(ctx, web.CallerOf(ctx).Shop, command); err != nil {
		return nil, err
	}
	return h.oneOffsOf(ctx, billing.OneOffQuestion{Line: h.line, Contract: command.Contract}, page.Request{Size: maxOneOffs})
}

type oneOffOut struct{ Body record.OneOff }

func (h oneOffHandlers) updateOneOff(ctx context.Context, in *record.OneOffQuantity) (*oneOffOut, error) {
	caller := web.CallerOf(ctx)
	command, err := in.Command(h.line, caller.Actor)
	if err != nil {
		return nil, err
	}
	r, err := h.oneOffs.UpdateOneOff(ctx, caller.Shop, command)
	if err != nil {
		return nil, err
	}
	return &oneOffOut{record.NewOneOff(caller.Shop.Domain, r)}, nil
}
