package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

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
	if err := intoChecked(&in.JSONBody, &body); err != nil {
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
	lines := contractedit.Swap{OldLine: body.OldLineID, Silent: body.StopSwapEmails}
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
