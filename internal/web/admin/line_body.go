package admin

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

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

// cyclePrice is a step of a line's price.
type cyclePrice struct {
	AfterCycle   int32       `json:"afterCycle" minimum:"0" doc:"The step counts from the cycle after so many on. An order that is skipped has its cycle too." example:"3"`
	DiscountType string      `json:"discountType" enum:"PERCENTAGE,FIXED,PRICE" doc:"PERCENTAGE or FIXED off the base price, or the PRICE itself."`
	Value        json.Number `json:"value" doc:"A percentage from 0 to 100, or an amount from 0 to 999999.99 in the contract's currency." example:"10"`
}

// adjustments are the discount types of the interface, by the platform's words.
var adjustments = map[string]string{"PERCENTAGE": "PERCENTAGE", "FIXED": "FIXED_AMOUNT", "FIXED_AMOUNT": "FIXED_AMOUNT", "PRICE": "PRICE"}

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

func parseAttributes(list []record.AttributeObject) []contract.Attribute {
	made := make([]contract.Attribute, len(list))
	for i, a := range list {
		made[i] = contract.Attribute(a)
	}
	return made
}

// parseList reads the elements of the list in a field; the field of a body that is a list
// has no name. Amounts are in the currency.
func parseList[In interface {
	parse(currency money.Currency, field string) (Out, error)
}, Out any](currency money.Currency, field string, list []In) ([]Out, error) {
	parsed := make([]Out, len(list))
	for i, element := range list {
		var err error
		if parsed[i], err = element.parse(currency, fmt.Sprintf("%s[%d]", field, i)); err != nil {
			return nil, err
		}
	}
	return parsed, nil
}
