package shopper

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/web"
)

const statusTag = "Pause, resume and cancel"

func (o Options) status(api *web.API) {
	web.Register(api, o.operation("updateStatus", http.MethodPut, "/subscription-contracts-update-status", statusTag, "Pause, resume or cancel a contract",
		"PAUSED: nothing is charged until the pause ends or the contract is resumed; 400 pauseTooLong where the store limits a pause. ACTIVE: resumes a paused contract, or takes back a cancellation that is scheduled. "+
			"CANCELLED: as DELETE. A contract that has ended is refused with 400 contractTerminated: restart makes a new one from it. Answers with the contract."), o.setStatus)

	web.Register(api, o.operation("cancelContract", http.MethodDelete, "/subscription-contracts/{contractId}", statusTag, "Cancel a contract",
		"Ends the contract. A shopper who is held to a number of orders gets those first, and a prepaid contract ends when what is paid for has been delivered: the contract then stays ACTIVE, "+
			"with pendingCancellationDate in the lists, and ACTIVE takes the cancellation back. Answers with the contract."), o.cancel)

	restart := o.operation("restartContract", http.MethodPost, "/contracts/{contractId}/restart", statusTag, "Start again",
		"Makes a new contract from one that is CANCELLED or EXPIRED, with its products, frequency, address and payment method. 400 paymentMethodMissing when nothing can be charged. Discounts do not come along. "+
			"Answers with the new contract, whose originalContractId is the old one. Send an Idempotency-Key so that the request can be repeated.")
	restart.Body, restart.Status, restart.Errors = restartBody{}, http.StatusCreated, append(restart.Errors, http.StatusRequestEntityTooLarge)
	web.Register(api, restart, o.restart)
}

type statusQuery struct {
	Contract string `query:"contractId" required:"true" format:"id" doc:"The contract: number or graph id."`
	Versioned
	Status   string         `query:"status" required:"true" enum:"ACTIVE,PAUSED,CANCELLED" example:"PAUSED" doc:"In any letter case."`
	Until    string         `query:"pauseTillDate" maxLength:"40" example:"2027-01-31" doc:"With PAUSED: when the pause ends. ISO 8601 with a zone, or YYYY-MM-DD for the beginning of a day in the store's zone. Absent: the pause lasts until the contract is resumed."`
	Cycles   web.Opt[int32] `query:"pauseDurationCycle" minimum:"1" maximum:"365" doc:"With PAUSED: how many orders the pause leaves out. This or pauseTillDate."`
	Reason   string         `query:"pauseReason" maxLength:"500" doc:"With PAUSED: why."`
	Words    string         `query:"pauseFeedback" maxLength:"500" doc:"With PAUSED: what the shopper said."`
	From     string         `query:"activationDate" maxLength:"40" example:"2027-01-31" doc:"With ACTIVE: when a paused contract runs again, written as pauseTillDate. Absent: now."`
	Feedback string         `query:"cancellationFeedback" maxLength:"500" doc:"With CANCELLED: why, in the shopper's words."`
}

func (o Options) setStatus(ctx context.Context, in *statusQuery) (*contractOut, error) {
	ref, err := in.ref("contractId", in.Contract)
	if err != nil {
		return nil, err
	}
	to, err := web.ParseEnum("status", in.Status, []contract.Status{contract.Active, contract.Paused, contract.Cancelled})
	if err != nil {
		return nil, err
	}
	caller, who := web.CallerOf(ctx), o.who(ctx)
	switch to {
	case contract.Cancelled:
		return newContractOut(o.Portal.Cancel(ctx, who, ref, in.Feedback))
	case contract.Paused:
		w := portal.PauseParams{Cycles: int(in.Cycles.Value), Reason: in.Reason, Feedback: in.Words}
		if w.Until, err = caller.DayOrInstant("pauseTillDate", in.Until); err != nil {
			return nil, err
		}
		return newContractOut(o.Portal.Pause(ctx, who, ref, w))
	}
	from, err := caller.DayOrInstant("activationDate", in.From)
	if err != nil {
		return nil, err
	}
	return newContractOut(o.Portal.Resume(ctx, who, ref, from))
}

type cancelQuery struct {
	OfContract
	Feedback string `query:"cancellationFeedback" maxLength:"500" doc:"Why, in the shopper's words. A store may require it: 400 reasonRequired."`
}

func (o Options) cancel(ctx context.Context, in *cancelQuery) (*contractOut, error) {
	ref, err := in.ref()
	if err != nil {
		return nil, err
	}
	return newContractOut(o.Portal.Cancel(ctx, o.who(ctx), ref, in.Feedback))
}

// restartBody says when the first order of a contract that starts again is charged.
type restartBody struct {
	NextBillingDate string `json:"nextBillingDate" maxLength:"40" doc:"When the first order is charged. ISO 8601 with a zone, or YYYY-MM-DD for a day in the store's zone." example:"2026-12-31"`
}

func (o Options) restart(ctx context.Context, in *bodyIn) (*contractOut, error) {
	ref, err := in.ref()
	if err != nil {
		return nil, err
	}
	var body restartBody
	if err := into(&in.JSONBody, &body); err != nil {
		return nil, err
	}
	if body.NextBillingDate == "" {
		return nil, missingField("nextBillingDate")
	}
	first, err := web.CallerOf(ctx).OrderDate("nextBillingDate", body.NextBillingDate)
	if err != nil {
		return nil, err
	}
	return newContractOut(o.Portal.Restart(ctx, o.who(ctx), ref, first, web.RequestName(ctx)))
}
