package admin

import (
	"context"
	"errors"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

type variantQuery struct {
	web.Given
	Contract   string        `query:"contractId" required:"true" format:"id" example:"9001" doc:"The contract: number or graph id."`
	OldLine    string        `query:"oldLineId" maxLength:"255" doc:"Graph id of the line. It wins over oldVariantId, which is not looked at then."`
	OldVariant string        `query:"oldVariantId" doc:"The variant of the line: number or graph id."`
	NewVariant string        `query:"newVariantId" required:"true" doc:"The variant that takes its place: number or graph id."`
	Prorate    web.Opt[bool] `query:"prorateDowngrade" doc:"false lets a downgrade (a cheaper variant on a plan that is allowed for upgrade and downgrade) wait for the next order. Otherwise it is made at once."`
	SkipBill   web.Opt[bool] `query:"skipBilling" doc:"false: no charge or refund on the plan change. true, or without it: on a plan that is allowed for upgrade and downgrade, what the new variant costs more or less in the rest of the term that is paid for is settled with the next orders: the next one costs more, or the next ones cost less. 400 differenceNotSettled where that cannot be."`
}

func (h lineHandlers) updateVariant(ctx context.Context, in *variantQuery) (*contractOut, error) {
	cmd, err := h.commandWithPrices(ctx, in.Contract, in.Given)
	if err != nil {
		return nil, err
	}
	if in.OldLine == "" && in.OldVariant == "" {
		return nil, fault.New(fault.Invalid, "give oldLineId or oldVariantId").Entity(contractEntity).Code("parameterMissing").Field("oldLineId")
	}
	var old int64
	if in.OldLine == "" { // which wins: what is not looked at need not be right
		if old, err = web.ParseID("ProductVariant", "oldVariantId", in.OldVariant); err != nil {
			return nil, err
		}
	}
	variant, err := web.ParseID("ProductVariant", "newVariantId", in.NewVariant)
	if err != nil {
		return nil, err
	}
	d, err := h.edits.ChangeLine(ctx, web.CallerOf(ctx).Shop.ID, cmd, contractedit.LineChange{Line: in.OldLine, OldVariant: old, Variant: &variant, Reprice: true, DowngradeAtNextOrder: in.Prorate.Set && !in.Prorate.Value, Settle: !in.SkipBill.Set || in.SkipBill.Value})
	if f, ok := errors.AsType[*fault.Error](err); ok {
		switch {
		case f.Param == "variantId":
			f.Param = "newVariantId"
		case f.Param == "lineId" && in.OldLine == "":
			f.Param = "oldVariantId"
		case f.Param == "lineId":
			f.Param = "oldLineId"
		}
	}
	return newContractOut(d, err)
}

type lineQuery struct {
	OfLine
	web.Given
	Variant  string               `query:"variantId" format:"id" doc:"The variant: number or graph id; it may be another one. Absent: it stays."`
	Quantity web.Opt[int32]       `query:"quantity" minimum:"1" maximum:"9999" example:"2" doc:"Items. Absent: they stay as many."`
	Price    web.Opt[web.Decimal] `query:"price" minimum:"0" maximum:"999999.99" example:"12.50" doc:"Unit price in the contract's currency. Absent: it stays or, of another variant, the price that the plan gives."`
	PlanName string               `query:"sellingPlanName" maxLength:"255" example:"Every month" doc:"Name of the selling plan, as the line shows it. Absent: it stays."`
}

func (h lineHandlers) updateLine(ctx context.Context, in *lineQuery) (*contractOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	variant, err := web.ParseID("ProductVariant", "variantId", in.Variant)
	if err != nil {
		return nil, err
	}
	if err := refuseOtherPrices(in.Given, "price"); err != nil {
		return nil, err
	}
	price, err := h.price(ctx, cmd, "price", in.Price)
	if err != nil {
		return nil, err
	}
	change := contractedit.LineChange{Line: in.Line, Variant: web.Some(variant), Price: price, Reprice: true, PlanName: web.Some(in.PlanName)}
	if in.Quantity.Set {
		change.Quantity = new(int(in.Quantity.Value))
	}
	if change.Variant == nil && change.Quantity == nil && price == nil && change.PlanName == nil {
		return nil, fault.New(fault.Invalid, "give variantId, quantity, price or sellingPlanName").Entity(contractEntity).Code("parameterMissing").Field("variantId")
	}
	return newContractOut(h.edits.ChangeLine(ctx, web.CallerOf(ctx).Shop.ID, cmd, change))
}

type lineQuantityQuery struct {
	OfLine
	web.Given
	Quantity int32 `query:"quantity" required:"true" minimum:"1" maximum:"9999" doc:"Items."`
}

func (h lineHandlers) updateLineQuantity(ctx context.Context, in *lineQuantityQuery) (*contractOut, error) {
	cmd, err := h.commandWithPrices(ctx, in.Contract, in.Given)
	if err != nil {
		return nil, err
	}
	return newContractOut(h.edits.ChangeLine(ctx, web.CallerOf(ctx).Shop.ID, cmd, contractedit.LineChange{Line: in.Line, Quantity: new(int(in.Quantity))}))
}

type lineListBody struct {
	OfLine
	web.JSONList
}

func (h lineHandlers) updateLineAttributes(ctx context.Context, in *lineListBody) (*contractOut, error) {
	var body []record.AttributeObject
	cmd, err := h.commandWith(ctx, in.Contract, &in.JSONBody, &body)
	if err != nil {
		return nil, err
	}
	return newContractOut(h.edits.ChangeLine(ctx, web.CallerOf(ctx).Shop.ID, cmd, contractedit.LineChange{Line: in.Line, Attributes: new(parseAttributes(body))}))
}

type contractBody struct {
	OfContract
	web.JSONBody
}

func (h lineHandlers) updateLinesAttributes(ctx context.Context, in *contractBody) (*contractOut, error) {
	var body map[string][]record.AttributeObject
	cmd, err := h.commandWith(ctx, in.Contract, &in.JSONBody, &body)
	if err != nil {
		return nil, err
	}
	by := make(map[string][]contract.Attribute, len(body))
	for line, list := range body {
		by[line] = parseAttributes(list)
	}
	return newContractOut(h.edits.SetLineAttributes(ctx, web.CallerOf(ctx).Shop.ID, cmd, by))
}

type linePlanQuery struct {
	OfLine
	web.Given
	Plan string `query:"sellingPlanId" required:"true" format:"id" doc:"The selling plan: number or graph id."`
}

func (h lineHandlers) updateLinePlan(ctx context.Context, in *linePlanQuery) (*contractOut, error) {
	cmd, err := h.commandWithPrices(ctx, in.Contract, in.Given)
	if err != nil {
		return nil, err
	}
	plan, err := web.ParseID("SellingPlan", "sellingPlanId", in.Plan)
	if err != nil {
		return nil, err
	}
	return newContractOut(h.edits.ChangeLine(ctx, web.CallerOf(ctx).Shop.ID, cmd, contractedit.LineChange{Line: in.Line, SellingPlan: &plan, Reprice: true}))
}
