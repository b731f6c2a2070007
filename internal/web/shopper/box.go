package shopper

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

func (o Options) boxes(api *web.API) {
	show := o.operation("getBox", http.MethodGet, "/contracts/{contractId}/box", linesTag, "A box and its rules",
		"What a box holds, and what the merchant's rules permit. 404 boxNotFound for a contract that is none. Products that may be chosen are those of listProducts.")
	show.Errors = []int{http.StatusNotFound}
	web.Register(api, show, o.getBox)

	fill := o.operation("fillBox", http.MethodPut, "/contracts/{contractId}/box", linesTag, "Choose what a box holds",
		"The box holds exactly these products from the next order on, in one change. 400 with the key of the rule that they break, such as bundleMinProducts; nothing is changed then. Answers with the contract.")
	fill.Body, fill.Once, fill.Errors = boxBody{}, true, append(fill.Errors, http.StatusRequestEntityTooLarge)
	web.Register(api, fill, o.fillBox)
}

// box is what a box holds and may hold.
type box struct {
	Products   []boxProduct         `json:"products" nullable:"false" doc:"What it holds."`
	Rules      bool                 `json:"rulesEnabled" doc:"Whether the rules below hold." example:"true"`
	Least      int                  `json:"minProducts" doc:"Pieces at least; 0: no limit." example:"3"`
	Most       int                  `json:"maxProducts" doc:"Pieces at most; 0: no limit." example:"12"`
	LeastValue *record.AmountObject `json:"minValue" doc:"Worth at least, before discounts; null: no limit."`
	MostValue  *record.AmountObject `json:"maxValue" doc:"Worth at most, before discounts; null: no limit."`
	Cutoff     int                  `json:"cutoffDays" doc:"Days before the next order in which nothing may be changed; 0: none." example:"2"`
	Swaps      int                  `json:"maxSwaps" doc:"Products that may be exchanged before each order; 0: no limit." example:"3"`
	Fixed      *record.AmountObject `json:"fixedPrice" doc:"What the box costs in an order, unless its products cost less; null: what its products cost."`
	Tiers      []boxTier            `json:"tiers" nullable:"false" doc:"What is taken off the price of the box, by rising minProducts. The highest tier that it reaches counts."`
	Changeable bool                 `json:"modifiable" doc:"Whether the merchant lets its products be changed." example:"true"`
}

// boxTier is a discount from a number of pieces on.
type boxTier struct {
	Least   int     `json:"minProducts" doc:"Pieces from which it is given." example:"6"`
	Percent float64 `json:"discountPercent" doc:"What is taken off, in percent." example:"5"`
}

// boxProduct is a product in a box.
type boxProduct struct {
	product
	Quantity int `json:"quantity" doc:"Pieces in every order." example:"2"`
}

type boxOut struct{ Body box }

func (o Options) getBox(ctx context.Context, in *OfContract) (*boxOut, error) {
	ref, err := in.ref()
	if err != nil {
		return nil, err
	}
	is, err := o.Portal.Box(ctx, o.who(ctx), ref.ID)
	if err != nil {
		return nil, err
	}
	return &boxOut{newBox(is)}, nil
}

func newBox(is portal.Box) box {
	r := is.Bundle.Rules
	out := box{
		Products: make([]boxProduct, len(is.Held)), Rules: r.Enabled, Least: r.MinProducts, Most: r.MaxProducts, Cutoff: r.CutoffDays, Swaps: r.MaxSwaps,
		Changeable: !r.Enabled || r.AllowModifications, LeastValue: limitOf(r.MinValue), MostValue: limitOf(r.MaxValue),
	}
	if fixed, has := is.Bundle.Pricing.FixedFor(is.State.Contract.Currency, is.State.Contract.Deliveries()); has {
		out.Fixed = new(record.NewAmount(fixed))
	}
	out.Tiers = []boxTier{}
	if is.Bundle.Pricing.Volume {
		for _, t := range is.Bundle.Pricing.Tiers {
			out.Tiers = append(out.Tiers, boxTier{t.MinProducts, t.Percent})
		}
	}
	for i, p := range is.Held {
		out.Products[i] = boxProduct{newProduct(p.Product), p.Quantity}
	}
	return out
}

// limitOf returns the amount of a limit; nil: there is none.
func limitOf(a money.Amount) *record.AmountObject {
	if a.Minor == 0 {
		return nil
	}
	return new(record.NewAmount(a))
}

// boxBody is what a box shall hold.
type boxBody struct {
	Products []boxItem `json:"products" minItems:"1" maxItems:"100" doc:"All that it shall hold. What is not named goes."`
}

type boxItem struct {
	Variant  web.AnyID `json:"variantId" doc:"The variant: number or graph id."`
	Quantity int32     `json:"quantity" minimum:"1" maximum:"9999" doc:"Pieces in every order." example:"2"`
}

func (o Options) fillBox(ctx context.Context, in *bodyIn) (*contractOut, error) {
	ref, err := in.ref()
	if err != nil {
		return nil, err
	}
	var body boxBody
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	want := make([]contractedit.BoxItem, len(body.Products))
	for i, p := range body.Products {
		if want[i].Variant, err = required(p.Variant, "ProductVariant", "products.variantId"); err != nil {
			return nil, err
		}
		if want[i].Quantity, err = pieces(p.Quantity); err != nil {
			return nil, err
		}
	}
	return newContractOut(o.Portal.FillBox(ctx, o.who(ctx), ref, want))
}
