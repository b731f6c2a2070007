package shopper

import (
	"cmp"
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

const contractsTag = "Contracts"

func (o Options) contracts(api *web.API) {
	list := o.operation("listContracts", http.MethodGet, "/contracts", contractsTag, "The shopper's contracts",
		"The shopper's contracts as rows, newest first.")
	list.List = &ownContracts
	web.Register(api, list, o.listContracts)

	one := o.operation("getContract", http.MethodGet, "/contracts/{contractId}", contractsTag, "A contract and what can be done with it",
		"The contract with its address and payment method, its version, and what the shopper may do now with it and with each of its orders to come. For what cannot be done, errorKey and reason say why; an action that the merchant has switched off is left out.")
	one.Errors = []int{http.StatusNotFound}
	web.Register(api, one, o.getContract)

	swap := o.operation("replaceVariant", http.MethodPost, "/subscription-contract-details/replace-variants-v2", contractsTag, "Replace a line's variant",
		"Lets a line give way to another variant, at the price that the contract's plan gives. Everything may be sent in the query or, under the same names, in a JSON body; what is in both counts as it is in the query. A request without a body needs no Content-Type. "+
			"Answers with the contract. A shopper who is held to a number of orders is answered 400 contractFrozen.")
	swap.Errors = append(swap.Errors, http.StatusRequestEntityTooLarge)
	web.Register(api, swap, o.replaceVariant)

	frozen := o.operation("getFreezeStatus", http.MethodGet, "/subscriptions-contracts-freeze-status-detail", contractsTag, "Whether a contract is frozen",
		"Whether the shopper is held to the orders that they committed to, and how many are left. Until they are made, orders can be neither skipped, moved nor asked for early.")
	frozen.Errors = []int{http.StatusNotFound}
	web.Register(api, frozen, o.freezeStatus)
}

// swapQuery says which line gives way to which variant.
type swapQuery struct {
	Contract string         `query:"contractId" format:"id" doc:"The contract: number or graph id. Required, here or in the body."`
	Line     string         `query:"oldLineId" maxLength:"255" doc:"Graph id of the line that gives way. Required, here or in the body."`
	Variant  string         `query:"newVariantId" format:"id" doc:"The variant that comes in its place: number or graph id. Required, here or in the body."`
	Quantity web.Opt[int32] `query:"quantity" minimum:"1" maximum:"9999" doc:"Pieces in every order. Default 1."`
	Versioned
	web.OptionalBody
}

// variantSwap is the body that says it.
type variantSwap struct {
	Shop       string    `json:"shop"`
	ContractID web.AnyID `json:"contractId"`
	OldLineID  string    `json:"oldLineId" maxLength:"255"`
	NewVariant web.AnyID `json:"newVariantId"`
	Quantity   *int32    `json:"quantity"`
}

func (o Options) replaceVariant(ctx context.Context, in *swapQuery) (*contractOut, error) {
	caller := web.CallerOf(ctx)
	var body variantSwap
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	if err := sameStore(body.Shop, caller); err != nil {
		return nil, err
	}
	if err := web.CheckLengths(body); err != nil {
		return nil, err
	}
	body.ContractID, body.OldLineID, body.NewVariant = cmp.Or(web.AnyID(in.Contract), body.ContractID), cmp.Or(in.Line, body.OldLineID), cmp.Or(web.AnyID(in.Variant), body.NewVariant)
	if in.Quantity.Set {
		body.Quantity = &in.Quantity.Value
	}
	of, err := required(body.ContractID, record.ContractTypename, "contractId")
	if err != nil {
		return nil, err
	}
	variant, err := required(body.NewVariant, "ProductVariant", "newVariantId")
	if err != nil {
		return nil, err
	}
	if body.OldLineID == "" {
		return nil, missingField("oldLineId")
	}
	quantity := 1
	if body.Quantity != nil {
		quantity = int(*body.Quantity)
	}
	return newContractOut(o.Portal.ChangeLine(ctx, o.who(ctx), portal.ContractRef{ID: contract.ID(of), Version: in.Version.Value},
		portal.LineEdit{Line: body.OldLineID, Variant: &variant, Quantity: &quantity}))
}

type freezeQuery struct {
	Contract string `query:"contractId" required:"true" format:"id" doc:"The contract: number or graph id."`
}

// freezeStatus says whether and how long the shopper is held to a contract.
type freezeStatus struct {
	ContractID int64 `json:"contractId" doc:"Number of the contract." example:"9001"`
	Frozen     bool  `json:"frozen" doc:"Whether the shopper is held to it now." example:"true"`
	MinCycles  int32 `json:"minCycles" minimum:"0" doc:"Orders that the shopper committed to; 0: none." example:"3"`
	Completed  int32 `json:"completedCycles" minimum:"0" doc:"Orders that were made, with the one of the checkout." example:"2"`
	Remaining  int32 `json:"remainingCycles" minimum:"0" doc:"Orders that are left of those." example:"1"`
}

type freezeOut struct{ Body freezeStatus }

func (o Options) freezeStatus(ctx context.Context, in *freezeQuery) (*freezeOut, error) {
	of, err := web.ParseID(record.ContractTypename, "contractId", in.Contract)
	if err != nil {
		return nil, err
	}
	v, err := o.Portal.Contract(ctx, o.who(ctx), contract.ID(of))
	if err != nil {
		return nil, err
	}
	c := v.State.Contract
	return &freezeOut{freezeStatus{
		ContractID: of, Frozen: c.InCommitment(v.Shop.Settings), MinCycles: int32(c.MinCycles), Completed: int32(c.Completed()), Remaining: int32(c.Committed()),
	}}, nil
}
