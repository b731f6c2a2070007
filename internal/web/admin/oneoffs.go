package admin

import (
	"context"
	"net/http"
	"regexp"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// OneOffs changes what single orders carry besides the lines of their contracts.
// Failures are faults.
type OneOffs interface {
	AddOneOff(ctx context.Context, of shop.Shop, c billing.OneOffCommand) error
	UpdateOneOff(ctx context.Context, of shop.Shop, c billing.OneOffCommand) (billing.OneOffRecord, error)
	RemoveOneOff(ctx context.Context, of shop.Shop, c billing.OneOffCommand) error
}

// Page sizes of the lists of one-time products.
const (
	defaultOneOffs = 100
	maxOneOffs     = 2000
)

var oneOffList = web.List{Default: defaultOneOffs, Max: maxOneOffs}

func (o Options) oneOffs(api *web.API) {
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
	upcoming.Description = "What the contract's orders that wait for their date carry besides its lines, soonest first."
	web.Register(api, upcoming, o.upcomingOneOffs)

	all := list
	all.ID, all.Path, all.Summary = "listOneOffs", base+"/subscription-contract-one-offs-by-contractId", "One-time products of a contract"
	all.Description = "What all orders of the contract carry or carried besides its lines, those that were made included."
	web.Register(api, all, o.allOneOffs)

	add := change
	add.Method, add.ID, add.Path, add.Summary = http.MethodPut, "addOneOff", one, "Add a one-time product"
	add.Description = "Lets an upcoming order carry a product besides the contract's lines, at the product's own price. When the order carries the variant already, it gets the quantity. " +
		"400 sellingPlanRequired for a product that is sold on selling plans only, as memberships are. " +
		"The order must be QUEUED. When it is skipped, its one-time products move to the next one. Answers all one-time products of the contract, those of orders that were made included."
	web.Register(api, add, o.addOneOff)

	remove := change
	remove.Method, remove.ID, remove.Path, remove.Summary = http.MethodDelete, "removeOneOff", one, "Remove a one-time product"
	remove.Description = "Takes a product out of an upcoming order again. One that the order does not carry is gone already. Answers as adding does."
	web.Register(api, remove, o.removeOneOff)

	quantity := change
	quantity.Method, quantity.ID, quantity.Path, quantity.Summary = http.MethodPut, "updateOneOffQuantity", base+"/subscription-contract-one-offs-update-quantity", "Change the quantity of a one-time product"
	quantity.Description = "Everything may be sent in the query or, under the same names, in a JSON body; what is in both counts as it is in the query."
	quantity.Errors = append(quantity.Errors, http.StatusRequestEntityTooLarge)
	web.Register(api, quantity, o.updateOneOff)
}

// oneOff is the record of a one-time product.
type oneOff struct {
	ID               int64   `json:"id" minimum:"1" doc:"Number of the one-time product." example:"1001"`
	Shop             string  `json:"shop" doc:"The store's domain." example:"demo.myshopify.com"`
	BillingAttemptID *int64  `json:"billingAttemptId" minimum:"1" doc:"The order that carries the product; null while the contract has no order for it." example:"9"`
	ContractID       int64   `json:"subscriptionContractId" minimum:"1" doc:"Number of the contract." example:"9001"`
	VariantID        int64   `json:"variantId" minimum:"1" doc:"Number of the variant." example:"4001"`
	VariantHandle    *string `json:"variantHandle" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" example:"cold-brew" doc:"The product's name in addresses of the storefront; null when not known."`
	Quantity         int32   `json:"quantity" minimum:"1" maximum:"999" doc:"Pieces. Required, here or in the body." example:"1"`
	Price            float64 `json:"price" minimum:"0" maximum:"999999.99" doc:"Of one, in the store's currency." example:"12.5"`
}

func newOneOff(domain string, r billing.OneOffRecord) oneOff {
	handle := r.Handle
	if handle == "" {
		handle = r.Variant.Handle
	}
	return oneOff{
		ID: int64(r.ID), Shop: domain, BillingAttemptID: web.Some(int64(r.Attempt)), ContractID: int64(r.Contract), VariantID: r.Variant.ID,
		VariantHandle: web.Some(handle), Quantity: int32(r.Quantity), Price: r.Variant.Price.Float(),
	}
}

type oneOffQuery struct {
	web.Paging
	Contract string `query:"contractId" required:"true" format:"id" doc:"The contract: number or graph id."`
}

type oneOffPage struct {
	web.ListHeaders
	Body []oneOff
}

func (o Options) upcomingOneOffs(ctx context.Context, in *oneOffQuery) (*oneOffPage, error) {
	return o.listOneOffs(ctx, in, true)
}

func (o Options) allOneOffs(ctx context.Context, in *oneOffQuery) (*oneOffPage, error) {
	return o.listOneOffs(ctx, in, false)
}

func (o Options) listOneOffs(ctx context.Context, in *oneOffQuery, upcoming bool) (*oneOffPage, error) {
	p, err := in.Request(oneOffList)
	if err != nil {
		return nil, err
	}
	of, err := web.ParseID("SubscriptionContract", "contractId", in.Contract)
	if err != nil {
		return nil, err
	}
	return o.oneOffsOf(ctx, billing.OneOffQuestion{Line: o.Line, Contract: contract.ID(of), Upcoming: upcoming}, p)
}

func (o Options) oneOffsOf(ctx context.Context, q billing.OneOffQuestion, p page.Request) (*oneOffPage, error) {
	caller := web.CallerOf(ctx)
	records, total, err := o.OneOffBook.OneOffsOf(ctx, caller.Shop.ID, q, p)
	if err != nil {
		return nil, err
	}
	out := &oneOffPage{ListHeaders: web.Paged(ctx, p, total), Body: make([]oneOff, len(records))}
	for i, r := range records {
		out.Body[i] = newOneOff(caller.Shop.Domain, r)
	}
	return out, nil
}

// OneOffNames says which product of which order is meant.
type OneOffNames struct {
	Contract string `query:"contractId" required:"true" format:"id" doc:"The contract: number or graph id."`
	Attempt  int64  `query:"billingAttemptId" required:"true" minimum:"1" maximum:"9007199254740991" doc:"The upcoming order."`
	Variant  string `query:"variantId" required:"true" format:"id" doc:"The variant: number or graph id."`
	Handle   string `query:"variantHandle" maxLength:"255" doc:"The product's handle: lower-case letters and digits in groups joined by hyphens."`
}

func (o Options) oneOffCommand(ctx context.Context, in OneOffNames) (billing.OneOffCommand, error) {
	of, err := web.ParseID("SubscriptionContract", "contractId", in.Contract)
	if err != nil {
		return billing.OneOffCommand{}, err
	}
	variant, err := web.ParseID("ProductVariant", "variantId", in.Variant)
	if err != nil {
		return billing.OneOffCommand{}, err
	}
	if in.Handle != "" && !handlePattern.MatchString(in.Handle) {
		return billing.OneOffCommand{}, fault.New(fault.Invalid, "parameter 'variantHandle' must be lower-case letters and digits in groups joined by hyphens, and %q is not", in.Handle).
			At("variantHandle")
	}
	return billing.OneOffCommand{
		Line: o.Line, Contract: contract.ID(of), Attempt: billing.AttemptID(in.Attempt), Variant: variant, Handle: in.Handle, Quantity: 1, Actor: web.CallerOf(ctx).Actor,
	}, nil
}

var handlePattern = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

type addOneOffIn struct {
	OneOffNames
	Quantity web.Opt[int64] `query:"quantity" minimum:"1" maximum:"999" doc:"Default 1."`
}

func (o Options) addOneOff(ctx context.Context, in *addOneOffIn) (*oneOffPage, error) {
	command, err := o.oneOffCommand(ctx, in.OneOffNames)
	if err != nil {
		return nil, err
	}
	if in.Quantity.Set {
		command.Quantity = int(in.Quantity.Value)
	}
	if err := o.OneOffs.AddOneOff(ctx, web.CallerOf(ctx).Shop, command); err != nil {
		return nil, err
	}
	return o.oneOffsOf(ctx, billing.OneOffQuestion{Line: o.Line, Contract: command.Contract}, page.Request{Size: maxOneOffs})
}

func (o Options) removeOneOff(ctx context.Context, in *struct{ OneOffNames }) (*oneOffPage, error) {
	command, err := o.oneOffCommand(ctx, in.OneOffNames)
	if err != nil {
		return nil, err
	}
	if err := o.OneOffs.RemoveOneOff(ctx, web.CallerOf(ctx).Shop, command); err != nil {
		return nil, err
	}
	return o.oneOffsOf(ctx, billing.OneOffQuestion{Line: o.Line, Contract: command.Contract}, page.Request{Size: maxOneOffs})
}

// updateOneOffIn takes everything from the query or from the body.
type updateOneOffIn struct {
	Contract string         `query:"contractId" format:"id" doc:"The contract: number or graph id."`
	Attempt  web.Opt[int64] `query:"billingAttemptId" minimum:"1" maximum:"9007199254740991" doc:"The upcoming order."`
	Variant  string         `query:"variantId" format:"id" doc:"The variant: number or graph id."`
	Quantity web.Opt[int64] `query:"quantity" minimum:"1" maximum:"999" doc:"Pieces. Required, here or in the body."`

	body func(any) error // puts the body's fields into a value; nil when there is no body
}

// Resolve reads the body, if there is one.
func (in *updateOneOffIn) Resolve(ctx huma.Context) []error {
	r, _ := humago.Unwrap(ctx)
	if r.ContentLength == 0 {
		return nil
	}
	var body web.JSONBody
	if errs := body.Resolve(ctx); errs != nil {
		return errs
	}
	in.body = body.Into
	return nil
}

// oneOffQuantity is the body of a change of quantity.
type oneOffQuantity struct {
	Contract web.AnyID `json:"contractId"`
	Attempt  *int64    `json:"billingAttemptId"`
	Variant  web.AnyID `json:"variantId"`
	Quantity *int64    `json:"quantity"`
}

type oneOffOut struct{ Body oneOff }

func (o Options) updateOneOff(ctx context.Context, in *updateOneOffIn) (*oneOffOut, error) {
	if in.body != nil {
		var body oneOffQuantity
		if err := in.body(&body); err != nil {
			return nil, err
		}
		if in.Contract == "" {
			in.Contract = string(body.Contract)
		}
		if in.Variant == "" {
			in.Variant = string(body.Variant)
		}
		if !in.Attempt.Set && body.Attempt != nil {
			in.Attempt.Value, in.Attempt.Set = *body.Attempt, true
		}
		if !in.Quantity.Set && body.Quantity != nil {
			in.Quantity.Value, in.Quantity.Set = *body.Quantity, true
		}
	}
	for _, p := range []struct {
		name, kind string
		given      bool
	}{
		{"contractId", "Long", in.Contract != ""}, {"billingAttemptId", "Long", in.Attempt.Set}, {"variantId", "Long", in.Variant != ""}, {"quantity", "Integer", in.Quantity.Set},
	} {
		if !p.given {
			return nil, web.MissingParameter(p.name, p.kind)
		}
	}
	if in.Attempt.Value < 1 {
		return nil, fault.New(fault.Invalid, "billingAttemptId is %d and must be at least 1", in.Attempt.Value).At("billingAttemptId")
	}
	if in.Quantity.Value < 1 || in.Quantity.Value > billing.MaxOneOffQuantity {
		return nil, fault.New(fault.Invalid, "quantity is %d and must be from 1 to %d", in.Quantity.Value, billing.MaxOneOffQuantity).At("quantity")
	}
	command, err := o.oneOffCommand(ctx, OneOffNames{Contract: in.Contract, Attempt: in.Attempt.Value, Variant: in.Variant})
	if err != nil {
		return nil, err
	}
	command.Quantity = int(in.Quantity.Value)
	caller := web.CallerOf(ctx)
	record, err := o.OneOffs.UpdateOneOff(ctx, caller.Shop, command)
	if err != nil {
		return nil, err
	}
	return &oneOffOut{newOneOff(caller.Shop.Domain, record)}, nil
}
