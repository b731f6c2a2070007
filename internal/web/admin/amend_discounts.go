package admin

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/web"
)

// discountHandlers change the discounts of a contract.
type discountHandlers struct{ contractHandlers }

func (h discountHandlers) register(api *web.API) {
	web.Register(api, amendment(contractDiscounts, "applyDiscount", "/subscription-contracts-apply-discount", "Apply a discount code",
		"Redeems a discount code of the store on the contract."), h.applyDiscount)
	web.Register(api, amendment(contractDiscounts, "removeDiscount", "/subscription-contracts-remove-discount", "Remove a discount",
		"Takes a discount off the contract."), h.removeDiscount)
	web.Register(api, once(amendment(contractDiscounts, "addDiscount", "/subscription-contracts-add-discount", "Add a discount",
		"Adds a percentage or an amount off all lines, for a number of orders or for good.")), h.addDiscount)
}

type codeQuery struct {
	OfContract
	Code string `query:"discountCode" required:"true" maxLength:"255" example:"WELCOME10" doc:"A discount code of the store."`
}

func (h discountHandlers) applyDiscount(ctx context.Context, in *codeQuery) (*contractOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	return newContractOut(h.edits.ApplyCode(ctx, web.CallerOf(ctx).Shop.ID, cmd, in.Code))
}

type discountQuery struct {
	OfContract
	Discount string `query:"discountId" required:"true" maxLength:"255" doc:"The discount: graph id, or its last part."`
}

func (h discountHandlers) removeDiscount(ctx context.Context, in *discountQuery) (*contractOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	return newContractOut(h.edits.RemoveDiscount(ctx, web.CallerOf(ctx).Shop.ID, cmd, in.Discount))
}

type newDiscountQuery struct {
	OfContract
	Percentage web.Opt[int32]       `query:"percentage" minimum:"1" maximum:"100" doc:"Percent off. This or amount."`
	Amount     web.Opt[web.Decimal] `query:"amount" minimum:"0" maximum:"999999.99" doc:"Off, in the contract's currency. This or percentage."`
	Title      string               `query:"discountTitle" maxLength:"255" doc:"What people see. Default: Discount."`
	Cycles     web.Opt[int32]       `query:"recurringCycleLimit" minimum:"1" maximum:"9999" doc:"How many orders it lasts. Absent: no end."`
	Each       bool                 `query:"appliesOnEachItem" default:"false" doc:"The amount is off every item, not off the order."`
}

func (h discountHandlers) addDiscount(ctx context.Context, in *newDiscountQuery) (*contractOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	amount, err := h.price(ctx, cmd, "amount", in.Amount)
	if err != nil {
		return nil, err
	}
	return newContractOut(h.edits.AddDiscount(ctx, web.CallerOf(ctx).Shop.ID, cmd, contractedit.Discount{
		Title: in.Title, Percent: int(in.Percentage.Value), Amount: amount, EachItem: in.Each, CycleLimit: int(in.Cycles.Value),
	}))
}
