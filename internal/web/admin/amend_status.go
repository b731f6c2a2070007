package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web"
)

// statusHandlers pause, activate and cancel contracts.
type statusHandlers struct {
	contractHandlers

	lifecycle *lifecycle.Service
}

func (h statusHandlers) register(api *web.API) {
	status := amendment(contractLifecycle, "updateStatus", "/subscription-contracts-update-status", "Pause, activate or cancel a contract",
		"Upcoming orders leave the queue when a contract is paused or cancelled and come back when it is activated. The status that the contract has already is refused. "+
			"A cancellation waits for deliveries that are paid for; ACTIVE takes it back while it waits. "+
			"A contract that is CANCELLED or EXPIRED has ended for good: ACTIVE is refused with 400 contractTerminated, and restart makes a new contract from it.")
	status.Status = http.StatusNoContent
	web.Register(api, status, h.setStatus)
	cancel := amendment(contractLifecycle, "cancelContract", "/subscription-contracts/{contractId}", "Cancel a contract", "Cancels a contract and keeps what is said about it. A prepaid contract is cancelled when what is paid for has been delivered.")
	cancel.Method, cancel.Status = http.MethodDelete, http.StatusNoContent
	web.Register(api, cancel, h.cancelContract)
}

type statusQuery struct {
	OfContract
	Status string `query:"status" required:"true" enum:"ACTIVE,PAUSED,CANCELLED" example:"PAUSED" doc:"In any letter case."`
	Until  string `query:"pauseTillDate" maxLength:"40" example:"2027-01-31" doc:"With PAUSED: when the pause ends automatically. ISO 8601 with a zone, or YYYY-MM-DD for the beginning of a day in the store's zone. Absent: the pause lasts until the contract is activated."`
	Cycles int32  `query:"pauseDurationCycle" minimum:"1" maximum:"365" doc:"With PAUSED: how many orders the pause leaves out. This or pauseTillDate."`
	Reason string `query:"pauseReason" maxLength:"500" doc:"With PAUSED: why."`
	Words  string `query:"pauseFeedback" maxLength:"500" doc:"With PAUSED: what the customer said."`
	From   string `query:"activationDate" maxLength:"40" example:"2027-01-31" doc:"With ACTIVE: when a paused contract runs again, written as pauseTillDate. Absent: now."`
}

func (h statusHandlers) setStatus(ctx context.Context, in *statusQuery) (*struct{}, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	to, err := web.ParseEnum("status", in.Status, []contract.Status{contract.Active, contract.Paused, contract.Cancelled})
	if err != nil {
		return nil, err
	}
	w := lifecycle.StatusChange{To: to}
	switch to {
	case contract.Paused:
		w.Cycles, w.Reason, w.Feedback = int(in.Cycles), in.Reason, in.Words
		w.Until, err = dayOrInstant(ctx, "pauseTillDate", in.Until)
	case contract.Active:
		w.From, err = dayOrInstant(ctx, "activationDate", in.From)
	}
	if err != nil {
		return nil, err
	}
	_, err = h.lifecycle.SetStatus(ctx, web.CallerOf(ctx).Shop.ID, cmd, w)
	return nil, err
}

// dayOrInstant reads an instant, or the beginning of a day of the store; zero when there
// is none.
func dayOrInstant(ctx context.Context, param, value string) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	cal, err := web.CallerOf(ctx).Shop.Calendar()
	if err != nil {
		return time.Time{}, err
	}
	m, err := web.ParseMoment(param, value, cal.Zone)
	return m.From, err
}

type cancelQuery struct {
	Contract string `path:"contractId" format:"id" example:"9001" doc:"The contract: number or graph id, percent-encoded."`
	Feedback string `query:"cancellationFeedback" maxLength:"500" doc:"Why, in the customer's words."`
	Note     string `query:"cancellationNote" maxLength:"1000" doc:"For the merchant."`
	Now      bool   `query:"immediately" doc:"Wait for nothing, not even for deliveries that are paid for."`
}

func (h statusHandlers) cancelContract(ctx context.Context, in *cancelQuery) (*struct{}, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	_, err = h.lifecycle.SetStatus(ctx, web.CallerOf(ctx).Shop.ID, cmd, lifecycle.StatusChange{To: contract.Cancelled, Feedback: in.Feedback, Note: in.Note, Now: in.Now})
	return nil, err
}

// readHandlers show one contract.
type readHandlers struct{ contractHandlers }

func (h readHandlers) register(api *web.API) {
	read := web.Operation{
		Method: http.MethodGet, Tag: "Contracts", Scope: access.ContractsRead, Errors: []int{http.StatusNotFound},
		Summary: "One contract", Description: "The contract as the platform has it now.",
	}
	read.ID, read.Path = "getContract", base+"/subscription-contracts/{contractId}"
	web.Register(api, read, h.contractByPath)
	read.ID, read.Path = "getContractExternal", base+"/subscription-contracts/contract-external/{contractId}"
	web.Register(api, read, h.contractByPath)
	read.ID, read.Path = "getContractRaw", base+"/contract-raw-response"
	web.Register(api, read, h.contractByQuery)
	cycle := read
	cycle.ID, cycle.Path, cycle.Summary = "getCurrentCycle", base+"/subscription-contract-details/current-cycle/{contractId}", "Number of the next cycle"
	cycle.Description = "The number, from 1, of the cycle that comes next: that of the next order, or of an order that could not be charged and has not been given up. Of a contract with no order to come it is the one after the last."
	web.Register(api, cycle, h.currentCycle)
}

type cycleOut struct {
	Body int32 `doc:"Number of the cycle." example:"4"`
}

func (h readHandlers) currentCycle(ctx context.Context, in *contractPath) (*cycleOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	cycle, err := h.edits.NextCycle(ctx, web.CallerOf(ctx).Shop.ID, cmd)
	return &cycleOut{int32(cycle)}, err
}

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

type contractPath struct {
	Contract string `path:"contractId" format:"id" example:"9001" doc:"The contract: number or graph id, percent-encoded."`
}

func (h readHandlers) contractByPath(ctx context.Context, in *contractPath) (*contractOut, error) {
	return h.readContract(ctx, in.Contract)
}

func (h readHandlers) contractByQuery(ctx context.Context, in *contractQueryOnly) (*contractOut, error) {
	return h.readContract(ctx, in.Contract)
}

func (h readHandlers) readContract(ctx context.Context, id string) (*contractOut, error) {
	cmd, err := h.command(ctx, id)
	if err != nil {
		return nil, err
	}
	return newContractOut(h.edits.Detail(ctx, web.CallerOf(ctx).Shop.ID, cmd.Line, cmd.Contract))
}
