package record

import (
	"regexp"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// OneOff is the record of a one-time product.
type OneOff struct {
	ID               int64   `json:"id" minimum:"1" doc:"Number of the one-time product." example:"1001"`
	Shop             string  `json:"shop" doc:"The store's domain." example:"demo.myshopify.com"`
	BillingAttemptID *int64  `json:"billingAttemptId" minimum:"1" doc:"The order that carries the product; null while the contract has no order for it." example:"9"`
	ContractID       int64   `json:"subscriptionContractId" minimum:"1" doc:"Number of the contract." example:"9001"`
	VariantID        int64   `json:"variantId" minimum:"1" doc:"Number of the variant." example:"4001"`
	VariantHandle    *string `json:"variantHandle" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" example:"cold-brew" doc:"The product's name in addresses of the storefront; null when not known."`
	Quantity         int32   `json:"quantity" minimum:"1" doc:"Pieces. At most 999 can be asked for; there are more where an order that is not made leaves its own to this one." example:"1"`
	Price            float64 `json:"price" minimum:"0" maximum:"999999.99" doc:"Of one, in the store's currency." example:"12.5"`
}

// NewOneOff writes a one-time product of the store with the domain.
func NewOneOff(domain string, r billing.OneOffRecord) OneOff {
	handle := r.Handle
	if handle == "" {
		handle = r.Variant.Handle
	}
	return OneOff{
		ID: int64(r.ID), Shop: domain, BillingAttemptID: web.Some(int64(r.Attempt)), ContractID: int64(r.Contract), VariantID: r.Variant.ID,
		VariantHandle: web.Some(handle), Quantity: int32(r.Quantity), Price: r.Variant.Price.Float(),
	}
}

// OneOffNames names a one-time product of an order.
type OneOffNames struct {
	Contract string `query:"contractId" required:"true" format:"id" doc:"The contract: number or graph id."`
	Attempt  int64  `query:"billingAttemptId" required:"true" minimum:"1" maximum:"9007199254740991" doc:"The upcoming order."`
	Variant  string `query:"variantId" required:"true" format:"id" doc:"The variant: number or graph id."`
	Handle   string `query:"variantHandle" maxLength:"255" doc:"The product's handle: lower-case letters and digits in groups joined by hyphens."`
}

// Command returns the command to change it, for one piece.
func (in OneOffNames) Command(line shop.Line, by activity.Actor) (command.OneOff, error) {
	of, err := web.ParseID("SubscriptionContract", "contractId", in.Contract)
	if err != nil {
		return command.OneOff{}, err
	}
	variant, err := web.ParseID("ProductVariant", "variantId", in.Variant)
	if err != nil {
		return command.OneOff{}, err
	}
	if in.Handle != "" && !handlePattern.MatchString(in.Handle) {
		return command.OneOff{}, fault.New(fault.Invalid, "parameter 'variantHandle' must be lower-case letters and digits in groups joined by hyphens, and %q is not", in.Handle).
			Field("variantHandle")
	}
	return command.OneOff{
		Line: line, Contract: contract.ID(of), Attempt: billing.AttemptID(in.Attempt), Variant: variant, Handle: in.Handle, Quantity: 1, Actor: by,
	}, nil
}

var handlePattern = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// OneOffQuantity says how many of a product an order is to carry. It takes everything from the query or from the body.
type OneOffQuantity struct {
	Contract string         `query:"contractId" format:"id" doc:"The contract: number or graph id."`
	Attempt  web.Opt[int64] `query:"billingAttemptId" minimum:"1" maximum:"9007199254740991" doc:"The upcoming order."`
	Variant  string         `query:"variantId" format:"id" doc:"The variant: number or graph id."`
	Quantity web.Opt[int64] `query:"quantity" minimum:"1" maximum:"999" doc:"Pieces. Required, here or in the body."`
	web.OptionalBody
}

// quantityBody is the body of a change of quantity.
type quantityBody struct {
	Contract web.AnyID `json:"contractId"`
	Attempt  *int64    `json:"billingAttemptId"`
	Variant  web.AnyID `json:"variantId"`
	Quantity *int64    `json:"quantity"`
}

// Command returns the command to change the quantity.
func (in *OneOffQuantity) Command(line shop.Line, by activity.Actor) (command.OneOff, error) {
	var body quantityBody
	if err := in.Into(&body); err != nil {
		return command.OneOff{}, err
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
	for _, p := range []struct {
		name, kind string
		given      bool
	}{
		{"contractId", "Long", in.Contract != ""}, {"billingAttemptId", "Long", in.Attempt.Set}, {"variantId", "Long", in.Variant != ""}, {"quantity", "Integer", in.Quantity.Set},
	} {
		if !p.given {
			return command.OneOff{}, web.MissingParameter(p.name, p.kind)
		}
	}
	if in.Attempt.Value < 1 {
		return command.OneOff{}, fault.New(fault.Invalid, "billingAttemptId is %d and must be at least 1", in.Attempt.Value).Field("billingAttemptId")
	}
	if in.Quantity.Value < 1 || in.Quantity.Value > command.MaxOneOffQuantity {
		return command.OneOff{}, fault.New(fault.Invalid, "quantity is %d and must be from 1 to %d", in.Quantity.Value, command.MaxOneOffQuantity).Field("quantity")
	}
	command, err := OneOffNames{Contract: in.Contract, Attempt: in.Attempt.Value, Variant: in.Variant}.Command(line, by)
	command.Quantity = int(in.Quantity.Value)
	return command, err
}
