package admin

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

type addQuery struct {
	OfContract
	Variant  string `query:"variantId" required:"true" format:"id" doc:"The variant: number or graph id."`
	Quantity int32  `query:"quantity" required:"true" minimum:"1" maximum:"9999" example:"1" doc:"Items."`
	web.Given
	Once  bool                 `query:"isOneTimeProduct" default:"false" doc:"Only in the next order."`
	Price web.Opt[web.Decimal] `query:"price" minimum:"0" maximum:"999999.99" doc:"Unit price in the contract's currency. Absent: the price that the plan gives; of a one-time product its own."`
	Base  web.Opt[web.Decimal] `query:"basePrice" minimum:"0" maximum:"999999.99" doc:"Another spelling of price. Both may be given when they say the same."`
}

// unitPrice reads the price that the query gives under either name; nil when it gives
// none.
func (q addQuery) unitPrice(ctx context.Context, h lineHandlers, cmd amend.Command) (*money.Amount, error) {
	if err := refuseOtherPrices(q.Given, "price", "basePrice"); err != nil {
		return nil, err
	}
	price, err := h.price(ctx, cmd, "price", q.Price)
	if err != nil {
		return nil, err
	}
	base, err := h.price(ctx, cmd, "basePrice", q.Base)
	switch {
	case err != nil || base == nil:
		return price, err
	case price != nil && *price != *base:
		return nil, differ("price", "basePrice")
	}
	return base, nil
}

func (h lineHandlers) addLine(ctx context.Context, in *addQuery) (*contractOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	variant, err := web.ParseID("ProductVariant", "variantId", in.Variant)
	if err != nil {
		return nil, err
	}
	price, err := in.unitPrice(ctx, h, cmd)
	if err != nil {
		return nil, err
	}
	of := web.CallerOf(ctx).Shop.ID
	if in.Once {
		d, err := h.edits.AddOneOff(ctx, of, cmd, terms.NewLine{Variant: variant, Quantity: int(in.Quantity), Price: price})
		if err != nil {
			return nil, err
		}
		products, err := h.oneOffs.WaitingOneOffs(ctx, of, []contract.ID{cmd.Contract})
		if err != nil {
			return nil, err
		}
		out := &contractOut{record.NewContractObject(d)}
		out.Body.AddOneTimeProducts(products)
		return out, nil
	}
	return newContractOut(h.edits.AddLines(ctx, of, cmd, []terms.NewLine{{Variant: variant, Quantity: int(in.Quantity), Price: price}}))
}

type listBody struct {
	OfContract
	web.JSONList
}

func (h lineHandlers) addLines(ctx context.Context, in *listBody) (*contractOut, error) {
	var body []newLine
	cmd, err := h.commandWith(ctx, in.Contract, &in.JSONBody, &body)
	if err != nil {
		return nil, err
	}
	currency, err := h.currency(ctx, cmd)
	if err != nil {
		return nil, err
	}
	lines, err := parseList(currency, "", body)
	if err != nil {
		return nil, err
	}
	return newContractOut(h.edits.AddLines(ctx, web.CallerOf(ctx).Shop.ID, cmd, lines))
}

type removeQuery struct {
	OfLine
	Discount bool `query:"removeDiscount" default:"true" doc:"Whether discounts that were for the line alone go too."`
}

func (h lineHandlers) removeLine(ctx context.Context, in *removeQuery) (*contractOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	return newContractOut(h.edits.RemoveLine(ctx, web.CallerOf(ctx).Shop.ID, cmd, in.Line, in.Discount))
}

type removeBody struct {
	OfContract
	Discount bool `query:"removeDiscount" default:"true" doc:"Whether discounts that were for these lines alone go too."`
	web.JSONList
}

func (h lineHandlers) removeLines(ctx context.Context, in *removeBody) (*contractOut, error) {
	var lines []string
	cmd, err := h.commandWith(ctx, in.Contract, &in.JSONBody, &lines)
	if err != nil {
		return nil, err
	}
	return newContractOut(h.edits.RemoveLines(ctx, web.CallerOf(ctx).Shop.ID, cmd, lines, in.Discount))
}
