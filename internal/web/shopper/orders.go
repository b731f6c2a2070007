package shopper

import (
	"context"
	"net/http"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

const (
	attemptsPath = "/subscription-billing-attempts"
	attemptsTag  = "Orders"
)

func (o Options) orders(api *web.API) {
	top := o.operation("listUpcomingOrders", http.MethodGet, attemptsPath+"/top-orders", attemptsTag, "Upcoming orders",
		"Attempts that wait for their date, soonest first unless they are sorted otherwise: of one contract, or of all of the shopper's.")
	top.List, top.Errors = &record.AttemptList, []int{http.StatusNotFound}
	web.Register(api, top, o.topOrders)

	past := o.operation("listPastOrders", http.MethodGet, attemptsPath+"/past-orders", attemptsTag, "Past orders",
		"Attempts that no longer wait, newest first unless they are sorted otherwise: of one contract, or of all of the shopper's.")
	past.List, past.Errors = &record.AttemptList, []int{http.StatusNotFound}
	web.Register(api, past, o.pastOrders)

	web.Register(api, o.operation("skipOrder", http.MethodPut, attemptsPath+"/skip-order/{id}", attemptsTag, "Skip an order",
		"Skips an upcoming order. The contract's next billing date moves to the following cycle. A shopper who is held to a number of orders, as a member always is, is answered 400 contractFrozen until they are made."), o.skipOrder)

	web.Register(api, o.operation("unskipOrder", http.MethodPut, attemptsPath+"/unskip-order/{id}", attemptsTag, "Take a skip back",
		"Puts a skipped order whose date has not passed back into the queue. 400 contractEnds when the contract ends before the order, such as a prepaid contract whose cancellation is scheduled."), o.unskipOrder)

	web.Register(api, o.operation("keepProducts", http.MethodPut, attemptsPath+"/keep-products/{id}", attemptsTag, "Keep the products of an order",
		"Has an upcoming order keep the products that the store's swap rules would replace in it. Later orders are changed as they would be. 400 nothingToDecline when no rule changes the order."), o.keepProducts)

	web.Register(api, o.operation("attemptBilling", http.MethodPut, attemptsPath+"/attempt-billing/{id}", attemptsTag, "Order now",
		"Asks for an order to be charged now and answers with its attempt as soon as that is certain to happen; what comes of it is read later. A shopper who is held to a number of orders is answered 400 contractFrozen."), o.attemptBilling)

	edit := o.operation("updateBillingAttempt", http.MethodPut, attemptsPath, attemptsTag, "Change an order",
		"Changes the date or the note of an order. Every other field of the record may be sent back as it was read, and is refused when it differs.")
	edit.Body = attemptEdit{}
	web.Register(api, edit, o.editAttempt)

	web.Register(api, o.operation("skipUpcomingOrder", http.MethodPut, attemptsPath+"/skip-upcoming-order", attemptsTag, "Skip the next order",
		"Skips the contract's next order, as skip-order does with one that is named. 400 noUpcomingOrder when there is none."), o.skipNext)

	web.Register(api, o.operation("rescheduleOrder", http.MethodPut, attemptsPath+"/reschedule/{id}", attemptsTag, "Move an order",
		"Moves an order to another day, at the store's order time, and with rescheduleFutureOrder=true the orders after it with it. 400 rescheduleRange outside of the days that the store allows."), o.reschedule)

	web.Register(api, o.operation("retryPayment", http.MethodPut, attemptsPath+"/retry-payment/{id}", attemptsTag, "Try a declined payment again",
		"Has an order that was declined charged again now, as soon as that is certain to happen; what comes of it is read later. It needs no permission for immediate orders, and a shopper who is held to a number of orders may do it too: the order is owed. "+
			"400 cardTryLimit when the payment method was declined too often."), o.retryPayment)
}

// orderQuery is a question for attempts of the shopper's.
type orderQuery struct {
	web.Paging
	Contract string `query:"contractId" doc:"The contract: number or graph id. Absent: all of the shopper's."`
}

func (o Options) topOrders(ctx context.Context, in *orderQuery) (*record.AttemptPage, error) {
	return o.attempts(ctx, in, true)
}

func (o Options) pastOrders(ctx context.Context, in *orderQuery) (*record.AttemptPage, error) {
	return o.attempts(ctx, in, false)
}

func (o Options) attempts(ctx context.Context, in *orderQuery, upcoming bool) (*record.AttemptPage, error) {
	caller := web.CallerOf(ctx)
	p, err := in.Request(record.AttemptList)
	if err != nil {
		return nil, err
	}
	of, err := web.ParseID(record.ContractTypename, "contractId", in.Contract)
	if err != nil {
		return nil, err
	}
	q := billing.Question{Line: o.Line, Contract: contract.ID(of), Customer: caller.Actor.Customer, Upcoming: upcoming}
	return record.ListAttempts(ctx, o.Book, q, p)
}

type skipQuery struct {
	record.SkipQuery
	Versioned
}

func (o Options) skipOrder(ctx context.Context, in *skipQuery) (*record.AttemptOut, error) {
	return o.skip(ctx, in, o.Portal.Skip)
}

func (o Options) unskipOrder(ctx context.Context, in *skipQuery) (*record.AttemptOut, error) {
	return o.skip(ctx, in, o.Portal.Unskip)
}

func (o Options) keepProducts(ctx context.Context, in *skipQuery) (*record.AttemptOut, error) {
	return o.skip(ctx, in, o.Portal.DeclineSwap)
}

func (o Options) skip(ctx context.Context, in *skipQuery, do func(context.Context, portal.Caller, portal.OrderRef) (billing.Record, error)) (*record.AttemptOut, error) {
	of, err := web.ParseID(record.ContractTypename, "subscriptionContractId", in.Contract)
	if err != nil {
		return nil, err
	}
	r, err := do(ctx, o.who(ctx), portal.OrderRef{Attempt: billing.AttemptID(in.ID), Contract: contract.ID(of), Prepaid: in.Prepaid.Ptr(), Version: in.Version.Value})
	return record.NewAttemptOut(web.CallerOf(ctx), r, err)
}

type nextQuery struct {
	Contract string `query:"subscriptionContractId" required:"true" format:"id" doc:"The contract: number or graph id."`
	Versioned
}

func (o Options) skipNext(ctx context.Context, in *nextQuery) (*record.AttemptOut, error) {
	ref, err := in.ref("subscriptionContractId", in.Contract)
	if err != nil {
		return nil, err
	}
	r, err := o.Portal.SkipNext(ctx, o.who(ctx), ref)
	return record.NewAttemptOut(web.CallerOf(ctx), r, err)
}

// OfOrder names an order by its path.
type OfOrder struct {
	ID int64 `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The billing attempt."`
	Versioned
}

func (in OfOrder) ref() portal.OrderRef {
	return portal.OrderRef{Attempt: billing.AttemptID(in.ID), Version: in.Version.Value}
}

type rescheduleQuery struct {
	OfOrder
	Date   string `query:"billingDate" required:"true" maxLength:"40" example:"2027-01-31" doc:"ISO 8601 with a zone, or YYYY-MM-DD for a day in the store's zone."`
	Future bool   `query:"rescheduleFutureOrder" default:"false" doc:"Whether the orders after it move too."`
}

func (o Options) reschedule(ctx context.Context, in *rescheduleQuery) (*record.AttemptOut, error) {
	caller := web.CallerOf(ctx)
	date, err := caller.OrderDate("billingDate", in.Date)
	if err != nil {
		return nil, err
	}
	r, err := o.Portal.Reschedule(ctx, o.who(ctx), in.ref(), date, in.Future)
	return record.NewAttemptOut(caller, r, err)
}

// chargeQuery names an order. Whether the store is the right one is found out where
// the request is let in, for the platform's own word of it is there.
type chargeQuery struct {
	OfOrder
	Shop string `query:"shop" example:"demo.myshopify.com" doc:"The store at which the shopper is. Another one is answered 400."`
}

func (o Options) attemptBilling(ctx context.Context, in *chargeQuery) (*record.AttemptOut, error) {
	return o.charge(ctx, in.OfOrder, o.Portal.OrderNow)
}

func (o Options) retryPayment(ctx context.Context, in *OfOrder) (*record.AttemptOut, error) {
	return o.charge(ctx, *in, o.Portal.RetryPayment)
}

func (o Options) charge(ctx context.Context, in OfOrder, do func(context.Context, portal.Caller, portal.OrderRef) error) (*record.AttemptOut, error) {
	caller := web.CallerOf(ctx)
	if err := do(ctx, o.who(ctx), in.ref()); err != nil {
		return nil, err
	}
	r, err := billing.Shown(ctx, o.Book, caller.Shop.ID, o.Line, billing.AttemptID(in.ID), caller.Actor)
	return record.NewAttemptOut(caller, r, err)
}

// attemptEdit is what of a billing attempt record a shopper may change, with what
// tells which record it is.
type attemptEdit struct {
	ID          int64   `json:"id" minimum:"1" doc:"Number of the attempt to be changed." example:"9"`
	BillingDate *string `json:"billingDate,omitempty" doc:"The order is charged on that day, at the store's order time. Not in the past, and at most 5 years ahead." example:"2026-12-31"`
	OrderNote   *string `json:"orderNote,omitempty" nullable:"true" maxLength:"5000" doc:"null or an empty text clears it." example:"No plastic, please"`
}

type editIn struct {
	Versioned
	web.JSONBody
}

// editAttempt changes an attempt. The body is laid over the record as it is: nothing
// but the date and the note may differ then.
func (o Options) editAttempt(ctx context.Context, in *editIn) (*record.AttemptOut, error) {
	caller := web.CallerOf(ctx)
	var body attemptEdit
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	if body.ID < 1 {
		return nil, fault.New(fault.Invalid, "field 'id' is required: the number of the billing attempt").Code("bodyField").Field("id")
	}
	var date time.Time
	var err error
	if body.BillingDate != nil {
		if date, err = caller.OrderDate("billingDate", *body.BillingDate); err != nil {
			return nil, err
		}
	}
	known, err := billing.Shown(ctx, o.Book, caller.Shop.ID, o.Line, billing.AttemptID(body.ID), caller.Actor)
	if err != nil {
		return nil, err
	}
	is, become := record.NewBillingAttempt(caller.Shop.Domain, known), record.NewBillingAttempt(caller.Shop.Domain, known)
	if err := in.Into(&become); err != nil {
		return nil, err
	}
	if become.BillingDate == nil && !known.BillingDate.IsZero() {
		return nil, fault.New(fault.Invalid, "field 'billingDate' cannot be empty").Code("bodyField").Field("billingDate")
	}
	if status, err := billing.ParseStatus(become.Status); err != nil {
		return nil, err
	} else if status == known.Status {
		become.Status = is.Status // in another spelling
	}
	if err := is.OnlyDiffers(become, "billingDate", "orderNote"); err != nil {
		return nil, err
	}
	var want portal.OrderEdit
	if !date.IsZero() && !date.Equal(clock.Trim(known.BillingDate)) {
		want.Date = &date
	}
	if note := text(become.OrderNote); note != known.Note {
		want.Note = &note
	}
	r, err := o.Portal.EditOrder(ctx, o.who(ctx), portal.OrderRef{Attempt: known.ID, Version: in.Version.Value}, want)
	return record.NewAttemptOut(caller, r, err)
}
