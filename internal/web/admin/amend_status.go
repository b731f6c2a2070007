package admin

import (
	"context"
	"net/http"

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
		w.Until, err = web.CallerOf(ctx).DayOrInstant("pauseTillDate", in.Until)
	case contract.Active:
		w.From, err = web.CallerOf(ctx).DayOrInstant("activationDate", in.From)
	}
	if err != nil {
		return nil, err
	}
	_, err = h.lifecycle.SetStatus(ctx, web.CallerOf(ctx).Shop.ID, cmd, w)
	return nil, err
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
