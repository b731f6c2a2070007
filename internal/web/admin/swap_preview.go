package admin

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/billing/prepare"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

// Preview says what rules will make of a contract's orders.
type Preview interface {
	Preview(ctx context.Context, of shop.Shop, line shop.Line, c contract.ID) ([]prepare.Preview, error)
}

// previewHandlers show what the rules will make of orders.
type previewHandlers struct {
	line    shop.Line
	preview Preview
}

func (h previewHandlers) register(api *web.API) {
	web.Register(api, web.Operation{
		Method: http.MethodPost, ID: "previewProductSwaps", Path: base + "/product-swaps-by-variant-groups/{contractId}", Tag: "Product swaps",
		Summary: "What the rules will make of a contract", Scope: access.ContractsRead, Errors: []int{http.StatusNotFound},
		Description: "The next 10 orders of the contract as the rules would make them. Nothing is changed.",
	}, h.previewSwaps)
}

// previewOrder is an order as the rules would make it.
type previewOrder struct {
	BillingCycle int32         `json:"billingCycle" doc:"The platform's index of the billing cycle." example:"5"`
	OrderDate    *web.Instant  `json:"orderDate" format:"date-time" doc:"When the order is due, in UTC." example:"2026-01-31T08:00:00Z"`
	Variants     []previewLine `json:"variants" doc:"What would be ordered."`
	Rules        []previewRule `json:"appliedRules" doc:"Rules that change the order, in the order in which they do."`
}

type previewLine struct {
	ID       int64   `json:"id" doc:"The variant." example:"4001"`
	Name     string  `json:"displayName" doc:"Title of the product and of the variant." example:"House Blend Coffee - 250 g"`
	Image    string  `json:"imageSrc" doc:"Address of a picture; empty when there is none." example:""`
	Quantity int32   `json:"quantity" doc:"Pieces." example:"2"`
	Price    float64 `json:"price" doc:"Of one, in the contract's currency." example:"12.25"`
}

type previewRule struct {
	ID   int64  `json:"id" doc:"Number of the rule." example:"1001"`
	Name string `json:"name" doc:"Name of the rule; empty when it has none." example:"Starter kit, then refills"`
}

type previewOut struct {
	web.ListHeaders
	Body []previewOrder
}

func (h previewHandlers) previewSwaps(ctx context.Context, in *struct {
	Contract string `path:"contractId" doc:"The contract: number or graph id."`
}) (*previewOut, error) {
	caller := web.CallerOf(ctx)
	of, err := web.ParseID("SubscriptionContract", "contractId", in.Contract)
	if err != nil {
		return nil, err
	}
	orders, err := h.preview.Preview(ctx, caller.Shop, h.line, contract.ID(of))
	if err != nil {
		return nil, err
	}
	out := &previewOut{ListHeaders: web.Whole(ctx, len(orders)), Body: make([]previewOrder, len(orders))}
	for i, f := range orders {
		order := previewOrder{BillingCycle: int32(f.Cycle), OrderDate: web.At(f.Date), Variants: []previewLine{}, Rules: []previewRule{}}
		for _, l := range f.Lines {
			v := record.NewAttemptVariant(l)
			name := v.ProductTitle
			if v.Title != "" && v.Title != name {
				name += " - " + v.Title
			}
			order.Variants = append(order.Variants, previewLine{ID: l.VariantID, Name: name, Image: l.Image, Quantity: int32(l.Quantity), Price: l.Price.Float()})
		}
		for _, r := range f.Applied {
			order.Rules = append(order.Rules, previewRule{int64(r.ID), r.Name})
		}
		out.Body[i] = order
	}
	return out, nil
}
