package admin

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/amend/create"
	"github.com/perennialhq/perennial/internal/domain/amend/split"
	"github.com/perennialhq/perennial/internal/web"
)

// creationHandlers make contracts.
type creationHandlers struct {
	contractHandlers

	creations *create.Service
	splits    *split.Service
}

func (h creationHandlers) register(api *web.API) {
	create := withBody(newContract{}, amendment(contractLifecycle, "createContract", "/subscription-contract-details/create-subscription-contract", "Make a contract",
		"Makes a contract for a customer of the store, without a checkout. The first order is charged on nextBillingDate or, without one, after the free trial of the plan. Send an Idempotency-Key so that the request can be repeated."))
	create.Method, create.Status = http.MethodPost, http.StatusCreated
	web.Register(api, create, h.createContract)
	split := withBody([]string{}, amendment(contractLifecycle, "splitContract", "/subscription-contract-details/split-existing-contract", "Split a contract",
		"Moves lines into a contract of their own, which is charged on the same day as the old one, or at once with attemptBilling=true. "+
			"It keeps the order note and the discounts of its lines; an amount off the whole order stays with the old contract. "+
			"With isSplitContract=false the new contract ends after one order. An order that is due or being charged has all lines: until it is made the answer is 409 billingInProgress. So has one that could not be charged: until it is paid or given up, 409 orderUnpaid. "+
			"409 splitInProgress, statusInProgress and changePending say what else is under way. A contract that will be cancelled is not split before the cancellation is taken back (400 cancellationPending). Answers with the new contract. attemptBilling needs the scope billing:charge too."))
	split.Method = http.MethodPost
	web.Register(api, split, h.splitContract)
	restart := withBody(restartBody{}, amendment(contractLifecycle, "restartContract", "/subscription-contract-details/{contractId}/restart", "Restart a contract that has ended",
		"Makes a new ACTIVE contract from one that is CANCELLED or EXPIRED, which cannot be activated again. The new contract has the lines, the billing and delivery policy, the delivery method and price, the note and the attributes of the old one. "+
			"It has the payment method of the old one too or, where that is revoked, the customer's newest; without any, the answer is 400 paymentMethodMissing. minCycles and maxCycles begin again. Prices that change with the orders go on where they were, and discounts do not come along. "+
			"originalContractId of the new contract names the old one, which stays as it is. Of a contract that has not ended: 400 contractNotTerminated. Send an Idempotency-Key so that the request can be repeated."))
	restart.Method, restart.Status = http.MethodPost, http.StatusCreated
	web.Register(api, restart, h.restartContract)
}

// restartBody says when the first order of a restarted contract is charged.
type restartBody struct {
	NextBillingDate string `json:"nextBillingDate" maxLength:"40" doc:"When the first order is charged. ISO 8601 with a zone, or YYYY-MM-DD for a day in the store's zone." example:"2026-12-31"`
}

type restartIn struct {
	Contract string `path:"contractId" format:"id" example:"9001" doc:"The contract: number or graph id, percent-encoded."`
	web.JSONBody
}

func (h creationHandlers) restartContract(ctx context.Context, in *restartIn) (*contractOut, error) {
	var body restartBody
	cmd, err := h.commandWith(ctx, in.Contract, &in.JSONBody, &body)
	if err != nil {
		return nil, err
	}
	if body.NextBillingDate == "" {
		return nil, fault.New(fault.Invalid, "field 'nextBillingDate' is required").Entity(contractEntity).Code("bodyField").Field("nextBillingDate")
	}
	caller := web.CallerOf(ctx)
	w := create.RestartParams{RequestKey: web.RequestName(ctx)}
	if w.NextBillingDate, err = caller.OrderDate("nextBillingDate", body.NextBillingDate); err != nil {
		return nil, err
	}
	return newContractOut(h.creations.Restart(ctx, caller.Shop.ID, cmd, w))
}

type creationIn struct {
	web.JSONBody
}

func (h creationHandlers) createContract(ctx context.Context, in *creationIn) (*contractOut, error) {
	caller := web.CallerOf(ctx)
	var body newContract
	if err := intoChecked(&in.JSONBody, &body); err != nil {
		return nil, err
	}
	if err := ownShop(body.Shop, caller, "shop"); err != nil {
		return nil, err
	}
	n, err := body.parse(caller)
	if err != nil {
		return nil, err
	}
	n.RequestKey = web.RequestName(ctx)
	return newContractOut(h.creations.Create(ctx, caller.Shop.ID, h.line, caller.Actor, n))
}

type splitIn struct {
	OfContract
	Split bool `query:"isSplitContract" default:"true" doc:"Whether the new contract goes on; otherwise it ends after one order."`
	Now   bool `query:"attemptBilling" default:"false" doc:"Charge the new contract's first order at once."`
	web.JSONList
}

func (h creationHandlers) splitContract(ctx context.Context, in *splitIn) (*contractOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	if in.Now && !web.CallerOf(ctx).Key.Allows(access.BillingCharge) {
		return nil, fault.New(fault.Forbidden, "the API key lacks the scope %s, which attemptBilling needs", access.BillingCharge).
			Code("insufficientScope").Field(string(access.BillingCharge))
	}
	var lines []string
	if err := in.Into(&lines); err != nil {
		return nil, err
	}
	return newContractOut(h.splits.Split(ctx, web.CallerOf(ctx).Shop.ID, cmd, split.Params{
		Lines: lines, Once: !in.Split, Now: in.Now,
	}))
}
