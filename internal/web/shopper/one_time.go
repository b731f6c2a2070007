package shopper

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

const (
	oneTimeTag  = "One-time products"
	oneTimePath = "/subscription-contract-one-offs-by-contractId-and-billing-attempt-id"
	maxOneTime  = 2000
)

var oneTimeList = web.List{Default: 100, Max: maxOneTime}

func (o Options) oneTime(api *web.API) {
	list := o.operation("listUpcomingOneOffs", http.MethodGet, "/upcoming-subscription-contract-one-offs-by-contractId", oneTimeTag, "One-time products of upcoming orders",
		"The one-time products of the contract's upcoming orders, soonest first.")
	list.List, list.Errors = &oneTimeList, []int{http.StatusNotFound}
	web.Register(api, list, o.listOneTime)

	web.Register(api, o.operation("addOneOff", http.MethodPut, oneTimePath, oneTimeTag, "Add a one-time product",
		"Adds a product to one upcoming order, at the product's own price. When the order already has it, its quantity becomes the given one. "+
			"400 sellingPlanRequired for a product that is sold on selling plans only. Answers the one-time products of the contract's upcoming orders."), o.addOneTime)

	web.Register(api, o.operation("removeOneOff", http.MethodDelete, oneTimePath, oneTimeTag, "Remove a one-time product",
		"Takes a product out of an upcoming order again. One that the order does not carry is gone already. Answers as adding does."), o.removeOneTime)

	web.Register(api, o.operation("updateOneOffQuantity", http.MethodPut, "/subscription-contract-one-offs-update-quantity", oneTimeTag, "Change the quantity of a one-time product",
		"Everything may be sent in the query or, under the same names, in a JSON body; what is in both counts as it is in the query."), o.updateOneTime)
}

type oneTimeQuery struct {
	web.Paging
	Contract string `query:"contractId" required:"true" format:"id" doc:"The contract: number or graph id."`
}

type oneTimePage struct {
	web.ListHeaders
	Body []record.OneOff
}

func (o Options) listOneTime(ctx context.Context, in *oneTimeQuery) (*oneTimePage, error) {
	p, err := in.Request(oneTimeList)
	if err != nil {
		return nil, err
	}
	of, err := web.ParseID(record.ContractTypename, "contractId", in.Contract)
	if err != nil {
		return nil, err
	}
	return o.oneTimeOf(ctx, contract.ID(of), p)
}

// oneTimeOf answers the one-time products of a contract of the shopper's.
func (o Options) oneTimeOf(ctx context.Context, of contract.ID, p page.Request) (*oneTimePage, error) {
	who := o.who(ctx)
	if _, err := o.Portal.Contract(ctx, who, of); err != nil {
		return nil, err
	}
	records, total, err := o.OneOffBook.OneOffsOf(ctx, who.Shop.ID, billing.OneOffQuestion{Line: o.Line, Contract: of, Upcoming: true}, p)
	if err != nil {
		return nil, err
	}
	out := &oneTimePage{ListHeaders: web.Paged(ctx, p, total), Body: make([]record.OneOff, len(records))}
	for i, r := range records {
		out.Body[i] = record.NewOneOff(who.Shop.Domain, r)
	}
	return out, nil
}

// oneTimeCommand returns the product that a command names, and its version of the contract.
func (in Versioned) oneTime(cmd command.OneOff) portal.OneTime {
	return portal.OneTime{
		ContractRef: portal.ContractRef{ID: cmd.Contract, Version: in.Version.Value}, Attempt: cmd.Attempt, Variant: cmd.Variant, Handle: cmd.Handle, Quantity: cmd.Quantity,
	}
}

type addOneTimeQuery struct {
	record.OneOffNames
	Versioned
	Quantity web.Opt[int64] `query:"quantity" minimum:"1" maximum:"999" doc:"Pieces. Default 1."`
}

func (o Options) addOneTime(ctx context.Context, in *addOneTimeQuery) (*oneTimePage, error) {
	cmd, err := in.Command(o.Line, web.CallerOf(ctx).Actor)
	if err != nil {
		return nil, err
	}
	if in.Quantity.Set {
		cmd.Quantity = int(in.Quantity.Value)
	}
	if err := o.Portal.AddOneTime(ctx, o.who(ctx), in.oneTime(cmd)); err != nil {
		return nil, err
	}
	return o.oneTimeOf(ctx, cmd.Contract, page.Request{Size: maxOneTime})
}

type removeOneTimeQuery struct {
	record.OneOffNames
	Versioned
}

func (o Options) removeOneTime(ctx context.Context, in *removeOneTimeQuery) (*oneTimePage, error) {
	cmd, err := in.Command(o.Line, web.CallerOf(ctx).Actor)
	if err != nil {
		return nil, err
	}
	if err := o.Portal.RemoveOneTime(ctx, o.who(ctx), in.oneTime(cmd)); err != nil {
		return nil, err
	}
	return o.oneTimeOf(ctx, cmd.Contract, page.Request{Size: maxOneTime})
}

type oneTimeQuantity struct {
	record.OneOffQuantity
	Versioned
}

type oneOffOut struct{ Body record.OneOff }

func (o Options) updateOneTime(ctx context.Context, in *oneTimeQuantity) (*oneOffOut, error) {
	caller := web.CallerOf(ctx)
	cmd, err := in.Command(o.Line, caller.Actor)
	if err != nil {
		return nil, err
	}
	r, err := o.Portal.UpdateOneTime(ctx, o.who(ctx), in.oneTime(cmd))
	if err != nil {
		return nil, err
	}
	return &oneOffOut{record.NewOneOff(caller.Shop.Domain, r)}, nil
}
