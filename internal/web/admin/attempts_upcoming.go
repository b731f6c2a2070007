package admin

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

// Upcoming changes orders that still wait. Failures are faults.
type Upcoming interface {
	SkipNext(ctx context.Context, of shop.ID, c command.SkipNext) (billing.Record, error)
	Reschedule(ctx context.Context, of shop.ID, c command.Reschedule) (billing.Record, error)
	SetNote(ctx context.Context, of shop.ID, c command.Note) (billing.Record, error)
}

// upcomingHandlers change orders that still wait.
type upcomingHandlers struct {
	line     shop.Line
	upcoming Upcoming
}

func (h upcomingHandlers) register(api *web.API) {
	change := attemptChange()

	skip := change
	skip.ID, skip.Path, skip.Summary = "skipUpcomingOrder", attemptsPath+"/skip-upcoming-order", "Skip a contract's next order"
	skip.Description = "Skips the order of the contract that falls due first, as skip-order does with one that is named, and answers with it. " +
		"400 when the contract has no upcoming order. Sent twice it skips two orders: send an Idempotency-Key."
	web.Register(api, once(skip), h.skipUpcoming)

	reschedule := change
	reschedule.ID, reschedule.Path, reschedule.Summary = "rescheduleOrder", attemptsPath+"/reschedule-order/{id}", "Move an order to another date"
	reschedule.Description = "Moves an order that is QUEUED or has failed to another day, at the store's order time; the answer shows the instant. " + laterToday + " " +
		"With rescheduleFutureOrder=true the contract's calendar counts from that date on, so that all later orders follow, " +
		"except those whose date was set by a caller; orders before it keep their dates."
	web.Register(api, reschedule, h.rescheduleOrder)

	note := change
	note.ID, note.Path, note.Summary = "updateAttemptOrderNote", base+"/subscription-billing-attempts-update-order-note/{billingAttemptId}", "Change the note of one order"
	note.Description = "Replaces the note of one upcoming order: plain text, line breaks as newline characters. An empty note clears it. " +
		"Only a QUEUED attempt takes one. When the order is made, the contract's own note and this one are joined."
	web.Register(api, note, h.noteOrder)
}

type skipUpcomingQuery struct {
	Contract string `query:"subscriptionContractId" example:"9001" doc:"The contract: number or graph id. This or contractId is required."`
	Other    string `query:"contractId" doc:"Another spelling of subscriptionContractId."`
}

func (h upcomingHandlers) skipUpcoming(ctx context.Context, in *skipUpcomingQuery) (*record.AttemptOut, error) {
	caller := web.CallerOf(ctx)
	of, err := oneContract("subscriptionContractId", in.Contract, "contractId", in.Other)
	if err != nil {
		return nil, err
	}
	r, err := h.upcoming.SkipNext(ctx, caller.Shop.ID, command.SkipNext{Line: h.line, Contract: of, Actor: caller.Actor})
	return record.NewAttemptOut(caller, r, err)
}

// oneContract reads a contract that may be named by either of two parameters. It
// is required.
func oneContract(param, value, otherParam, other string) (contract.ID, error) {
	if value == "" {
		if other == "" {
			return 0, web.MissingParameter(param, "Long")
		}
		param, value, other = otherParam, other, ""
	}
	id, err := web.ParseID("SubscriptionContract", param, value)
	if err != nil || other == "" {
		return contract.ID(id), err
	}
	again, err := web.ParseID("SubscriptionContract", otherParam, other)
	if err == nil && again != id {
		err = differ(param, otherParam)
	}
	return contract.ID(id), err
}

type rescheduleQuery struct {
	ID          int64  `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The billing attempt."`
	BillingDate string `query:"billingDate" required:"true" example:"2025-03-01" doc:"The new day: ISO 8601 with a zone, or YYYY-MM-DD in the store's zone. Not in the past, and at most 5 years ahead."`
	Future      bool   `query:"rescheduleFutureOrder" doc:"Whether later orders are counted from the new date. Default false."`
}

func (h upcomingHandlers) rescheduleOrder(ctx context.Context, in *rescheduleQuery) (*record.AttemptOut, error) {
	caller := web.CallerOf(ctx)
	date, err := caller.OrderDate("billingDate", in.BillingDate)
	if err != nil {
		return nil, err
	}
	r, err := h.upcoming.Reschedule(ctx, caller.Shop.ID, command.Reschedule{
		Line: h.line, Attempt: billing.AttemptID(in.ID), BillingDate: date, Future: in.Future, Actor: caller.Actor,
	})
	return record.NewAttemptOut(caller, r, err)
}

type attemptNoteQuery struct {
	web.Given
	ID    int64  `path:"billingAttemptId" minimum:"1" maximum:"9007199254740991" doc:"The billing attempt."`
	Note  string `query:"orderNote" maxLength:"5000" example:"Ring twice" doc:"The new note; empty clears it. Required."`
	Other string `query:"note" maxLength:"5000" doc:"Another spelling of orderNote. Both may be given when they say the same."`
}

// agreed answers that something was done.
type agreed struct {
	Body bool `doc:"Always true."`
}

func (h upcomingHandlers) noteOrder(ctx context.Context, in *attemptNoteQuery) (*agreed, error) {
	caller := web.CallerOf(ctx)
	text, err := noteOf(in.Given, in.Note, in.Other)
	if err != nil {
		return nil, err
	}
	_, err = h.upcoming.SetNote(ctx, caller.Shop.ID, command.Note{
		Line: h.line, Attempt: billing.AttemptID(in.ID), Note: text, Actor: caller.Actor,
	})
	if err != nil {
		return nil, err
	}
	return &agreed{Body: true}, nil
}
