package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

// lineHandlers change the lines of a contract.
type lineHandlers struct {
	contractHandlers

	oneOffs billing.OneOffBook
}

func (h lineHandlers) register(api *web.API) {
	web.Register(api, amendment(contractLines, "updateVariant", "/subscription-contract-update-variant", "Replace a line's variant",
		"Puts another variant into a line, at the price that the line's plan gives it. The line is named by its id or by its variant; the id wins. "+
			"The change itself never charges or refunds: the new price counts from the next order, with either value of skipBilling."), h.updateVariant)
	web.Register(api, amendment(contractLines, "updateLineItem", "/subscription-contracts-update-line-item", "Change a line",
		"Sets a line's variant, quantity, unit price or the name of its selling plan: at least one of them, and what is left out stays. Without a price the plan gives the price of a new variant."), h.updateLine)
	web.Register(api, once(amendment(contractLines, "addLineItem", "/subscription-contracts-add-line-item", "Add a line",
		"Adds a recurring line on the plan of the contract's first line, or a product for the next order only. A price may be given. With isOneTimeProduct=true the one-time products of upcoming orders follow the lines in the answer, marked _one_time_product.")), h.addLine)
	web.Register(api, once(amendment(contractLines, "addLineItemWithPrice", "/subscription-contract-add-line-item", "Add a line at a price",
		"As subscription-contracts-add-line-item.")), h.addLine)
	web.Register(api, once(withBody([]newLine{}, amendment(contractLines, "addLineItems", "/subscription-contracts-add-line-items", "Add lines",
		"Adds several recurring lines in one change."))), h.addLines)
	web.Register(api, amendment(contractLines, "removeLineItem", "/subscription-contracts-remove-line-item", "Remove a line",
		"Removes a line, and the discounts that were for it alone unless removeDiscount=false. The last line stays. The line id of a one-time product, as subscription-contracts-add-line-item and contractDetailsJSON have it, takes the product out of its upcoming order."), h.removeLine)
	web.Register(api, withBody([]string{}, amendment(contractLines, "removeLineItems", "/subscription-contracts-remove-line-items", "Remove lines",
		"Removes several lines in one change. The body is the list of their ids. One line at least stays.")), h.removeLines)
	web.Register(api, amendment(contractLines, "updateLineItemPrice", "/subscription-contracts-update-line-item-price", "Change a line's price",
		"Sets a line's unit price. Where the price changes with the orders, it becomes the base price and the steps are computed again from it; a step that is a fixed price and applies now is replaced."), h.updateLinePrice)
	web.Register(api, withBody([]cyclePrice{}, amendment(contractLines, "updateLineItemPricingPolicy", "/subscription-contracts-update-line-item-pricing-policy", "Change a line's prices by cycle",
		"Sets how a line's unit price changes with the orders: at most two steps, in the order of afterCycle. An empty list removes the steps.")), h.updateLinePricing)
	web.Register(api, amendment(contractLines, "updateLineItemQuantity", "/subscription-contracts-update-line-item-quantity", "Change a line's quantity", "Sets a line's quantity."), h.updateLineQuantity)
	web.Register(api, withBody([]record.AttributeObject{}, amendment(contractLines, "updateLineItemAttributes", "/subscription-contracts-update-line-item-attributes", "Change a line's attributes",
		"Replaces a line's attributes.")), h.updateLineAttributes)
	web.Register(api, withBody(map[string][]record.AttributeObject{}, amendment(contractLines, "updateMultipleLineItemAttributes", "/subscription-contracts-update-multiple-line-item-attributes", "Change the attributes of several lines",
		"Replaces the attributes of several lines in one change. The body has them by the ids of the lines; a line that is not named keeps its attributes.")), h.updateLinesAttributes)
	web.Register(api, amendment(contractLines, "updateLineItemSellingPlan", "/subscription-contracts-update-line-item-selling-plan", "Change a line's plan",
		"Puts a line on another selling plan, at the price that the plan gives."), h.updateLinePlan)
	replace := once(withBody(variantSwap{}, amendment(contractLines, "replaceVariants", "/subscription-contract-details/replace-variants-v3", "Replace variants",
		"Replaces the lines with the old variants, or the line named, by the new variants with their quantities, in one change. "+
			"Without new variants the old ones are removed, except the last line of a contract; without old ones the new ones are added. oldOneTimeVariants and newOneTimeVariants do the same with the products of the next order only.")))
	replace.Method = http.MethodPost
	web.Register(api, replace, h.replaceVariants)
}

// OfLine is the line that an operation is about.
type OfLine struct {
	OfContract
	Line string `query:"lineId" required:"true" maxLength:"255" example:"gid://shopify/SubscriptionLine/1f0c" doc:"Graph id of the line."`
}

type variantQuery struct {
	web.Given
	Contract   string        `query:"contractId" required:"true" format:"id" example:"9001" doc:"The contract: number or graph id."`
	OldLine    string        `query:"oldLineId" maxLength:"255" doc:"Graph id of the line. It wins over oldVariantId, which is not looked at then."`
	OldVariant string        `query:"oldVariantId" doc:"The variant of the line: number or graph id."`
	NewVariant string        `query:"newVariantId" required:"true" doc:"The variant that takes its place: number or graph id."`
	Prorate    web.Opt[bool] `query:"prorateDowngrade" doc:"false lets a downgrade (a cheaper variant on a plan that is allowed for upgrade and downgrade) wait for the next order. Otherwise it is made at once."`
	SkipBill   bool          `query:"skipBilling" default:"false" doc:"No charge or refund on the plan change. The change itself never charges: both values give the same result."`
}

func (h lineHandlers) updateVariant(ctx context.Context, in *variantQuery) (*contractOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	if err := refuseOtherPrices(in.Given); err != nil {
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
	d, err := h.edits.ChangeLine(ctx, web.CallerOf(ctx).Shop.ID, cmd, contractedit.LineChange{Line: in.OldLine, OldVariant: old, Variant: &variant, Reprice: true, DowngradeAtNextOrder: in.Prorate.Set && !in.Prorate.Value})
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

// priceParams are the names under which integrations send the unit price of a line.
var priceParams = []string{"price", "basePrice", "currentPrice"}

// refuseOtherPrices refuses a price under a name that the operation does not take: a
// line at another price than the caller named would be a wrong result without an error.
func refuseOtherPrices(given web.Given, takes ...string) error {
	for _, name := range priceParams {
		if !given.Has(name) || slices.Contains(takes, name) {
			continue
		}
		if len(takes) == 0 {
			return fault.New(fault.Invalid, "this operation takes no price: leave out parameter '%s'", name).Entity(contractEntity).Code("parameterUnknown").Field(name)
		}
		return fault.New(fault.Invalid, "parameter '%s' is not known here: use %s", name, strings.Join(takes, " or ")).Entity(contractEntity).Code("parameterUnknown").Field(name)
	}
	return nil
}

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

// newLine is a line to be added.
type newLine struct {
	VariantID        web.AnyID                `json:"variantId" doc:"The variant: number or graph id."`
	Quantity         int32                    `json:"quantity" minimum:"1" maximum:"9999" doc:"Pieces in every order." example:"2"`
	SellingPlanID    web.AnyID                `json:"sellingPlanId,omitempty" doc:"The selling plan: number or graph id. Absent: that of the contract's first line."`
	CurrentPrice     json.Number              `json:"currentPrice,omitempty" doc:"Unit price in the contract's currency. Absent: the price that the plan gives." example:"12.25"`
	Price            json.Number              `json:"price,omitempty" doc:"Another spelling of currentPrice; one of them may be sent." example:"12.25"`
	BasePrice        json.Number              `json:"basePrice,omitempty" doc:"Another spelling of currentPrice; one of them may be sent." example:"12.25"`
	CustomAttributes []record.AttributeObject `json:"customAttributes,omitempty" maxItems:"100" doc:"Keys and values to put on the line, each key once."`
}

func (l newLine) parse(currency money.Currency, field string) (terms.NewLine, error) {
	variant, err := l.VariantID.Parse("ProductVariant", field+".variantId")
	if err != nil {
		return terms.NewLine{}, err
	}
	if variant == 0 {
		return terms.NewLine{}, fault.New(fault.Invalid, "field '%s.variantId' is required", field).Code("bodyField").Field(field + ".variantId")
	}
	plan, err := l.SellingPlanID.Parse("SellingPlan", field+".sellingPlanId")
	if err != nil {
		return terms.NewLine{}, err
	}
	made := terms.NewLine{Variant: variant, Quantity: int(l.Quantity), SellingPlan: plan, Attributes: parseAttributes(l.CustomAttributes)}
	for _, p := range []struct {
		name  string
		value json.Number
	}{{"currentPrice", l.CurrentPrice}, {"price", l.Price}, {"basePrice", l.BasePrice}} {
		if p.value == "" {
			continue
		}
		price, err := amountIn(currency, field+"."+p.name, string(p.value))
		if err != nil {
			return made, err
		}
		if made.Price != nil && *made.Price != *price {
			return made, fault.New(fault.Invalid, "field '%s.%s' is not the price that another field of the line names: send one of them", field, p.name).
				Code("bodyField").Field(field + "." + p.name)
		}
		made.Price = price
	}
	return made, nil
}

type listBody struct {
	OfContract
	web.JSONList
}

func (h lineHandlers) addLines(ctx context.Context, in *listBody) (*contractOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	var body []newLine
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	of := web.CallerOf(ctx).Shop.ID
	currency, err := h.edits.Currency(ctx, of, cmd)
	if err != nil {
		return nil, err
	}
	lines := make([]terms.NewLine, len(body))
	for i, l := range body {
		if lines[i], err = l.parse(currency, fmt.Sprintf("[%d]", i)); err != nil {
			return nil, err
		}
	}
	return newContractOut(h.edits.AddLines(ctx, of, cmd, lines))
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
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	var lines []string
	if err := in.Into(&lines); err != nil {
		return nil, err
	}
	return newContractOut(h.edits.RemoveLines(ctx, web.CallerOf(ctx).Shop.ID, cmd, lines, in.Discount))
}

type linePriceQuery struct {
	OfLine
	web.Given
	Price web.Decimal `query:"basePrice" required:"true" minimum:"0" maximum:"999999.99" doc:"Unit price in the contract's currency, before the discounts of steps."`
}

func (h lineHandlers) updateLinePrice(ctx context.Context, in *linePriceQuery) (*contractOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	if err := refuseOtherPrices(in.Given, "basePrice"); err != nil {
		return nil, err
	}
	price, err := h.price(ctx, cmd, "basePrice", web.Opt[web.Decimal]{Value: in.Price, Set: true})
	if err != nil {
		return nil, err
	}
	return newContractOut(h.edits.ChangeLine(ctx, web.CallerOf(ctx).Shop.ID, cmd, contractedit.LineChange{Line: in.Line, Base: price}))
}

// cyclePrice is a step of a line's price.
type cyclePrice struct {
	AfterCycle   int32       `json:"afterCycle" minimum:"0" doc:"The step counts from the cycle after so many on. An order that is skipped has its cycle too." example:"3"`
	DiscountType string      `json:"discountType" enum:"PERCENTAGE,FIXED,PRICE" doc:"PERCENTAGE or FIXED off the base price, or the PRICE itself."`
	Value        json.Number `json:"value" doc:"A percentage from 0 to 100, or an amount from 0 to 999999.99 in the contract's currency." example:"10"`
}

// adjustments are the discount types of the interface, by the platform's words.
var adjustments = map[string]string{"PERCENTAGE": "PERCENTAGE", "FIXED": "FIXED_AMOUNT", "FIXED_AMOUNT": "FIXED_AMOUNT", "PRICE": "PRICE"}

type linePricingBody struct {
	OfLine
	web.Given
	Base web.Opt[web.Decimal] `query:"basePrice" minimum:"0" maximum:"999999.99" doc:"Unit price from which the steps count. Absent: the current price."`
	web.JSONList
}

func (h lineHandlers) updateLinePricing(ctx context.Context, in *linePricingBody) (*contractOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	if err := refuseOtherPrices(in.Given, "basePrice"); err != nil {
		return nil, err
	}
	var body []cyclePrice
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	of := web.CallerOf(ctx).Shop.ID
	currency, err := h.edits.Currency(ctx, of, cmd)
	if err != nil {
		return nil, err
	}
	base, err := h.price(ctx, cmd, "basePrice", in.Base)
	if err != nil {
		return nil, err
	}
	steps := make([]contract.CyclePrice, len(body))
	for i, b := range body {
		if steps[i], err = b.parse(currency, fmt.Sprintf("[%d]", i)); err != nil {
			return nil, err
		}
	}
	return newContractOut(h.edits.ChangeLine(ctx, of, cmd, contractedit.LineChange{Line: in.Line, Pricing: &steps, Base: base}))
}

func (p cyclePrice) parse(currency money.Currency, field string) (contract.CyclePrice, error) {
	step := contract.CyclePrice{After: int(p.AfterCycle)}
	kind, ok := adjustments[strings.ToUpper(p.DiscountType)]
	if !ok {
		return step, fault.New(fault.Invalid, "field '%s.discountType' is %q: use PERCENTAGE, FIXED or PRICE", field, p.DiscountType).Code("bodyField").Field(field + ".discountType")
	}
	if p.Value == "" {
		return step, fault.New(fault.Invalid, "field '%s.value' is required", field).Code("bodyField").Field(field + ".value")
	}
	terms.SetCyclePriceKind(&step, kind)
	if kind == "PERCENTAGE" {
		percent, err := p.Value.Float64()
		if err != nil {
			return step, fault.Because(fault.Invalid, err, "field '%s.value' is no number", field).Code("bodyField").Field(field + ".value")
		}
		step.Percent = percent
		return step, nil
	}
	amount, err := amountIn(currency, field+".value", string(p.Value))
	if err == nil {
		step.Amount = *amount
	}
	return step, err
}

type lineQuantityQuery struct {
	OfLine
	web.Given
	Quantity int32 `query:"quantity" required:"true" minimum:"1" maximum:"9999" doc:"Items."`
}

func (h lineHandlers) updateLineQuantity(ctx context.Context, in *lineQuantityQuery) (*contractOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	if err := refuseOtherPrices(in.Given); err != nil {
		return nil, err
	}
	return newContractOut(h.edits.ChangeLine(ctx, web.CallerOf(ctx).Shop.ID, cmd, contractedit.LineChange{Line: in.Line, Quantity: new(int(in.Quantity))}))
}

type lineListBody struct {
	OfLine
	web.JSONList
}

func (h lineHandlers) updateLineAttributes(ctx context.Context, in *lineListBody) (*contractOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	var body []record.AttributeObject
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	return newContractOut(h.edits.ChangeLine(ctx, web.CallerOf(ctx).Shop.ID, cmd, contractedit.LineChange{Line: in.Line, Attributes: new(parseAttributes(body))}))
}

type contractBody struct {
	OfContract
	web.JSONBody
}

func (h lineHandlers) updateLinesAttributes(ctx context.Context, in *contractBody) (*contractOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	var body map[string][]record.AttributeObject
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	by := make(map[string][]contract.Attribute, len(body))
	for line, list := range body {
		by[line] = parseAttributes(list)
	}
	return newContractOut(h.edits.SetLineAttributes(ctx, web.CallerOf(ctx).Shop.ID, cmd, by))
}

func parseAttributes(list []record.AttributeObject) []contract.Attribute {
	made := make([]contract.Attribute, len(list))
	for i, a := range list {
		made[i] = contract.Attribute(a)
	}
	return made
}

type linePlanQuery struct {
	OfLine
	web.Given
	Plan string `query:"sellingPlanId" required:"true" format:"id" doc:"The selling plan: number or graph id."`
}

func (h lineHandlers) updateLinePlan(ctx context.Context, in *linePlanQuery) (*contractOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	if err := refuseOtherPrices(in.Given); err != nil {
		return nil, err
	}
	plan, err := web.ParseID("SellingPlan", "sellingPlanId", in.Plan)
	if err != nil {
		return nil, err
	}
	return newContractOut(h.edits.ChangeLine(ctx, web.CallerOf(ctx).Shop.ID, cmd, contractedit.LineChange{Line: in.Line, SellingPlan: &plan, Reprice: true}))
}

// variantSwap says which lines give way to which.
type variantSwap struct {
	Shop                 string           `json:"shop,omitempty" doc:"Must be the key's store." example:"demo.myshopify.com"`
	ContractID           web.AnyID        `json:"contractId" doc:"The contract: number or graph id."`
	EventSource          string           `json:"eventSource,omitempty" doc:"Ignored: the source of what an API key does is MERCHANT_EXTERNAL_API." example:"MERCHANT_EXTERNAL_API"`
	OldVariants          []web.AnyID      `json:"oldVariants,omitempty" doc:"Variants of the lines that give way."`
	OldLineID            string           `json:"oldLineId,omitempty" maxLength:"255" doc:"Or the line that gives way." example:"gid://shopify/SubscriptionLine/12"`
	NewVariants          map[string]int32 `json:"newVariants,omitempty" doc:"Quantities by variant."`
	OldOneTimeVariants   []web.AnyID      `json:"oldOneTimeVariants,omitempty" doc:"Products of the next order that give way."`
	NewOneTimeVariants   map[string]int32 `json:"newOneTimeVariants,omitempty" doc:"Quantities by variant, for the next order only."`
	StopSwapEmails       bool             `json:"stopSwapEmails,omitempty" doc:"No e-mail about the change."`
	CarryForwardDiscount carryForward     `json:"carryForwardDiscount,omitempty" doc:"EXISTING_PLAN or true: the new lines get the discount of the old ones, as many per cent off their own prices, by the same steps where the price changes with the orders. PRODUCT_THEN_EXISTING: what the plan of the old lines asks or, where they are on none, as EXISTING_PLAN. PRODUCT_PLAN, NONE, false or nothing: what that plan asks or, where there is none, their own prices."`
}

// carryForward is a way to carry a discount: its name, or whether there is one.
type carryForward string

// Schema describes both.
func (carryForward) Schema(huma.Registry) *huma.Schema {
	names := make([]any, len(swap.DiscountModes))
	for i, c := range swap.DiscountModes {
		names[i] = string(c)
	}
	return &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeBoolean}, {Type: huma.TypeString, Enum: names}}}
}

// UnmarshalJSON reads either.
func (c *carryForward) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, (*string)(c))
	}
	var carries bool
	if err := json.Unmarshal(text, &carries); err != nil { // null is no
		return err
	}
	*c = carryForward(swap.None)
	if carries {
		*c = carryForward(swap.ExistingPlan)
	}
	return nil
}

type bodyIn struct {
	web.JSONBody
}

func (h lineHandlers) replaceVariants(ctx context.Context, in *bodyIn) (*contractOut, error) {
	caller := web.CallerOf(ctx)
	var body variantSwap
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	if err := web.CheckLengths(body); err != nil {
		return nil, err
	}
	if err := ownShop(body.Shop, caller, "shop"); err != nil {
		return nil, err
	}
	n, err := body.ContractID.Parse(record.ContractTypename, "contractId")
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, fault.New(fault.Invalid, "field 'contractId' is required").Code("bodyField").Field("contractId")
	}
	cmd := amend.Command{Line: h.line, Contract: contract.ID(n), Actor: caller.Actor}
	lines := contractedit.Swap{OldLine: body.OldLineID}
	if body.CarryForwardDiscount != "" {
		if lines.Discount, err = web.ParseEnum("carryForwardDiscount", string(body.CarryForwardDiscount), swap.DiscountModes); err != nil {
			return nil, err
		}
	}
	if lines.OldVariants, err = parseIDs("ProductVariant", "oldVariants", body.OldVariants); err != nil {
		return nil, err
	}
	if lines.New, err = parseQuantities("newVariants", body.NewVariants); err != nil {
		return nil, err
	}
	var once contractedit.NextOrderSwap
	if once.Old, err = parseIDs("ProductVariant", "oldOneTimeVariants", body.OldOneTimeVariants); err != nil {
		return nil, err
	}
	if once.New, err = parseQuantities("newOneTimeVariants", body.NewOneTimeVariants); err != nil {
		return nil, err
	}
	return newContractOut(h.edits.Replace(ctx, caller.Shop.ID, cmd, lines, once))
}

// parseQuantities reads quantities by variant, in the order of the variants.
func parseQuantities(field string, by map[string]int32) ([]terms.NewLine, error) {
	lines := make([]terms.NewLine, 0, len(by))
	for id, quantity := range by {
		variant, err := web.ParseID("ProductVariant", field, id)
		if err != nil {
			return nil, err
		}
		lines = append(lines, terms.NewLine{Variant: variant, Quantity: int(quantity)})
	}
	slices.SortFunc(lines, func(a, b terms.NewLine) int { return int(a.Variant - b.Variant) })
	return lines, nil
}

func parseIDs(objectType, field string, ids []web.AnyID) ([]int64, error) {
	numbers := make([]int64, len(ids))
	for i, id := range ids {
		n, err := id.Parse(objectType, fmt.Sprintf("%s[%d]", field, i))
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return nil, fault.New(fault.Invalid, "field '%s[%d]' is empty", field, i).Code("bodyField").Field(field)
		}
		numbers[i] = n
	}
	return numbers, nil
}
