package admin

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/web"
)

type linePriceQuery struct {
	OfLine
	web.Given
	Price web.Decimal `query:"basePrice" required:"true" minimum:"0" maximum:"999999.99" doc:"Unit price in the contract's currency, before the discounts of steps."`
}

func (h lineHandlers) updateLinePrice(ctx context.Context, in *linePriceQuery) (*contractOut, error) {
	cmd, err := h.commandWithPrices(ctx, in.Contract, in.Given, "basePrice")
	if err != nil {
		return nil, err
	}
	price, err := h.price(ctx, cmd, "basePrice", web.Opt[web.Decimal]{Value: in.Price, Set: true})
	if err != nil {
		return nil, err
	}
	return newContractOut(h.edits.ChangeLine(ctx, web.CallerOf(ctx).Shop.ID, cmd, contractedit.LineChange{Line: in.Line, Base: price}))
}

type linePricingBody struct {
	OfLine
	web.Given
	Base web.Opt[web.Decimal] `query:"basePrice" minimum:"0" maximum:"999999.99" doc:"Unit price from which the steps count. Absent: the current price."`
	web.JSONList
}

func (h lineHandlers) updateLinePricing(ctx context.Context, in *linePricingBody) (*contractOut, error) {
	cmd, err := h.commandWithPrices(ctx, in.Contract, in.Given, "basePrice")
	if err != nil {
		return nil, err
	}
	var body []cyclePrice
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	currency, err := h.currency(ctx, cmd)
	if err != nil {
		return nil, err
	}
	base, err := h.price(ctx, cmd, "basePrice", in.Base)
	if err != nil {
		return nil, err
	}
	steps, err := parseList(currency, "", body)
	if err != nil {
		return nil, err
	}
	return newContractOut(h.edits.ChangeLine(ctx, web.CallerOf(ctx).Shop.ID, cmd, contractedit.LineChange{Line: in.Line, Pricing: &steps, Base: base}))
}
