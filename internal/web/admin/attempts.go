package admin

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

const attemptsPath = base + "/subscription-billing-attempts"

// attemptChange is what the operations that change an attempt have in common.
func attemptChange() web.Operation {
	return web.Operation{
		Method: http.MethodPut, Tag: "Billing attempts", Scope: access.BillingWrite,
		Errors: []int{http.StatusNotFound, http.StatusConflict},
	}
}

// Billing changes billing attempts. Failures are faults.
type Billing interface {
	Skip(ctx context.Context, of shop.ID, c command.Skip) (billing.Record, error)
	Unskip(ctx context.Context, of shop.ID, c command.Skip) (billing.Record, error)
	Edit(ctx context.Context, of shop.ID, c command.Edit) (billing.Record, error)
	Trigger(ctx context.Context, of shop.ID, c command.Trigger) error
}

// attemptHandlers show and change billing attempts.
type attemptHandlers struct {
	line    shop.Line
	book    billing.Book
	billing Billing
}

func (h attemptHandlers) register(api *web.API) {
	list := web.Operation{
		Method: http.MethodGet, Tag: "Billing attempts", Scope: access.ContractsRead, List: &record.AttemptList,
		Errors: []int{http.StatusNotFound},
	}
	change := attemptChange()

	top := list
	top.ID, top.Path, top.Summary = "listUpcomingOrders", attemptsPath+"/top-orders", "Upcoming orders"
	top.Description = "Attempts that wait for their date, soonest first unless they are sorted otherwise, of a contract or of a customer."
	web.Register(api, top, h.topOrders)

	past := list
	past.ID, past.Path, past.Summary = "listPastOrders", attemptsPath+"/past-orders", "Past orders"
	past.Description = "Attempts that no longer wait, newest first unless they are sorted otherwise, of a contract or of a customer."
	web.Register(api, past, h.pastOrders)

	edit := change
	edit.ID, edit.Path, edit.Summary = "updateBillingAttempt", attemptsPath, "Change a billing attempt"
	edit.Description = "Changes the date, the note, the flags, or QUEUED to SKIPPED and back. A field that is absent keeps its value; null clears it where it may be empty. " +
		"Every other field of the record may be sent back as it was read, and is refused when it differs. " + laterToday
	edit.Body = attemptEdit{}
	web.Register(api, edit, h.editAttempt)

	skip := change
	skip.ID, skip.Path, skip.Summary = "skipOrder", attemptsPath+"/skip-order/{id}", "Skip an order"
	skip.Description = "Skips an upcoming order. The contract's next billing date moves to the following cycle."
	web.Register(api, skip, h.skipOrder)

	unskip := change
	unskip.ID, unskip.Path, unskip.Summary = "unskipOrder", attemptsPath+"/unskip-order/{id}", "Take a skip back"
	unskip.Description = "Puts a skipped order whose date has not passed back into the queue. 400 contractEnds when the contract ends before the order, such as a prepaid contract whose cancellation is scheduled."
	web.Register(api, unskip, h.unskipOrder)

	charge := change
	charge.ID, charge.Path, charge.Summary, charge.Scope = "attemptBilling", attemptsPath+"/attempt-billing/{id}", "Charge now", access.BillingCharge
	charge.Description = "Asks for an order to be charged now and answers as soon as that is certain to happen. The result is read later from the attempt."
	web.Register(api, charge, h.attemptBilling)
}

// orderQuery is a question for the attempts of a contract or of a customer.
type orderQuery struct {
	web.Paging
	Contract string `query:"contractId" doc:"The contract: number or graph id. This or customerId is required."`
	Customer string `query:"customerId" doc:"The customer: number or graph id."`
}

func (q orderQuery) question() (billing.Question, error) {
	switch {
	case q.Contract == "" && q.Customer == "":
		return billing.Question{}, web.MissingParameter("contractId", "Long")
	case q.Contract != "" && q.Customer != "":
		return billing.Question{}, fault.New(fault.Invalid, "give contractId or customerId, not both").Field("customerId")
	}
	of, err := web.ParseID("SubscriptionContract", "contractId", q.Contract)
	if err != nil {
		return billing.Question{}, err
	}
	customer, err := web.ParseID("Customer", "customerId", q.Customer)
	return billing.Question{Contract: contract.ID(of), Customer: customer}, err
}

func (h attemptHandlers) topOrders(ctx context.Context, in *orderQuery) (*record.AttemptPage, error) {
	return h.orders(ctx, in, true)
}

func (h attemptHandlers) pastOrders(ctx context.Context, in *orderQuery) (*record.AttemptPage, error) {
	return h.orders(ctx, in, false)
}

func (h attemptHandlers) orders(ctx context.Context, in *orderQuery, upcoming bool) (*record.AttemptPage, error) {
	p, err := in.Request(record.AttemptList)
	if err != nil {
		return nil, err
	}
	q, err := in.question()
	if err != nil {
		return nil, err
	}
	q.Line, q.Upcoming = h.line, upcoming
	return record.ListAttempts(ctx, h.book, q, p)
}

func (h attemptHandlers) skipOrder(ctx context.Context, in *record.SkipQuery) (*record.AttemptOut, error) {
	return in.Do(ctx, h.line, h.billing.Skip)
}

func (h attemptHandlers) unskipOrder(ctx context.Context, in *record.SkipQuery) (*record.AttemptOut, error) {
	return in.Do(ctx, h.line, h.billing.Unskip)
}

type chargeQuery struct {
	ID int64 `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The billing attempt."`
}

func (h attemptHandlers) attemptBilling(ctx context.Context, in *chargeQuery) (*struct{}, error) {
	caller := web.CallerOf(ctx)
	return nil, h.billing.Trigger(ctx, caller.Shop.ID, command.Trigger{Line: h.line, Attempt: billing.AttemptID(in.ID), Actor: caller.Actor})
}
