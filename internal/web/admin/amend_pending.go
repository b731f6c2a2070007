package admin

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/web"
)

// pendingHandlers show and cancel a change that waits for the next order.
type pendingHandlers struct{ contractHandlers }

func (h pendingHandlers) register(api *web.API) {
	path := "/subscription-contract-details/{contractId}/pending-downgrade"
	read := amendment(contractLifecycle, "getPendingDowngrade", path, "The change that waits", "The downgrade of a line that waits for the contract's next order.")
	read.Method, read.Scope, read.Errors = http.MethodGet, access.ContractsRead, []int{http.StatusNotFound}
	web.Register(api, read, h.pending)
	drop := amendment(contractLifecycle, "cancelPendingDowngrade", path, "Take the waiting change back", "The line stays as it is.")
	drop.Method, drop.Status = http.MethodDelete, http.StatusNoContent
	web.Register(api, drop, h.cancelPending)
}

// pendingDowngrade is a change of a line's variant that waits for the next order.
type pendingDowngrade struct {
	Shop              string       `json:"shop" doc:"The store's domain." example:"demo.myshopify.com"`
	ContractID        int64        `json:"contractId" doc:"Number of the contract." example:"9001"`
	CustomerID        *int64       `json:"customerId" doc:"The platform's number of the customer; null when there is none." example:"7001"`
	LineID            string       `json:"lineId" doc:"Graph id." example:"gid://shopify/SubscriptionLine/12"`
	OldLineID         string       `json:"oldLineId" doc:"The same as lineId." example:"gid://shopify/SubscriptionLine/12"`
	OldVariantID      string       `json:"oldVariantId" doc:"Graph id." example:"gid://shopify/ProductVariant/4001"`
	NewVariantID      string       `json:"newVariantId" doc:"Graph id." example:"gid://shopify/ProductVariant/4002"`
	OldPrice          *float64     `json:"oldPrice" doc:"Unit price of the line now, in the contract's currency; null when the line is gone." example:"12.25"`
	NewPrice          *float64     `json:"newPrice" doc:"Unit price of the new variant when the change was asked for, in the contract's currency; the plan gives it again when the change is made. Null when it is not known." example:"8"`
	SellingPlanID     *string      `json:"sellingPlanId" doc:"Graph id of the line's selling plan; null when it has none." example:"gid://shopify/SellingPlan/6003"`
	SellingPlanName   *string      `json:"sellingPlanName" doc:"Name of the selling plan; null when the line has none." example:"Every month"`
	EffectiveDate     *web.Instant `json:"effectiveDate" format:"date-time" doc:"Of the order that has the new variant first." example:"2026-01-31T08:00:00Z"`
	WaitTillTimestamp *web.Instant `json:"waitTillTimestamp" format:"date-time" doc:"The same as effectiveDate." example:"2026-01-31T08:00:00Z"`
}

type pendingOut struct {
	Body pendingDowngrade
}

func (h pendingHandlers) pending(ctx context.Context, in *contractPath) (*pendingOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	caller := web.CallerOf(ctx)
	p, err := h.edits.PendingChange(ctx, caller.Shop.ID, cmd)
	if err != nil {
		return nil, err
	}
	body := pendingDowngrade{
		Shop: caller.Shop.Domain, ContractID: int64(cmd.Contract), CustomerID: web.Some(p.Customer), LineID: p.PendingChange.Line, OldLineID: p.PendingChange.Line,
		OldVariantID: gid.Of("ProductVariant", p.OldVariant), NewVariantID: gid.Of("ProductVariant", p.Variant),
		SellingPlanName: web.Some(p.Line.SellingPlanName), EffectiveDate: web.At(p.At), WaitTillTimestamp: web.At(p.At),
	}
	if p.Line.ID != "" {
		body.OldPrice = new(p.Line.Price.Float())
	}
	if p.Price != nil {
		body.NewPrice = new(p.Price.Float())
	}
	if p.Line.SellingPlanID != 0 {
		body.SellingPlanID = new(gid.Of("SellingPlan", p.Line.SellingPlanID))
	}
	return &pendingOut{body}, nil
}

func (h pendingHandlers) cancelPending(ctx context.Context, in *contractPath) (*struct{}, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	return nil, h.edits.CancelPendingChange(ctx, web.CallerOf(ctx).Shop.ID, cmd)
}
