package admin

import (
	"cmp"
	"context"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// scheduleHandlers change when a contract is charged and delivered, and how often.
type scheduleHandlers struct{ contractHandlers }

func (h scheduleHandlers) register(api *web.API) {
	web.Register(api, amendment(contractTerms, "updateBillingInterval", "/subscription-contracts-update-billing-interval", "Change how often orders are charged",
		"Upcoming orders are planned again. The delivery interval of a contract that is not prepaid follows. "+
			"The price of a payment stays, also of a prepaid contract, for which it then covers more or fewer deliveries: set the price too where it is to follow."), h.setBillingInterval)
	web.Register(api, amendment(contractTerms, "updateDeliveryInterval", "/subscription-contracts-update-delivery-interval", "Change how often orders are delivered",
		"Of a prepaid contract: the charge stays, and its interval must be a multiple of the new one. "+
			"400 notPrepaid for a contract that is charged for each delivery: changing the billing interval changes both."), h.setDeliveryInterval)
	web.Register(api, amendment(contractTerms, "updateFrequencyBySellingPlan", "/subscription-contracts-update-frequency-by-selling-plan", "Take a plan's frequency",
		"Puts the lines on a selling plan of one of the store's groups, at the prices that the plan gives, and takes over its intervals."), h.setFrequency)
	web.Register(api, amendment(contractTerms, "updateMinCycles", "/subscription-contracts-update-min-cycles", "Change the minimum of orders", "0 removes the minimum."), h.setMinCycles)
	web.Register(api, amendment(contractTerms, "updateMaxCycles", "/subscription-contracts-update-max-cycles", "Change the maximum of orders", "0 removes the maximum."), h.setMaxCycles)
	web.Register(api, amendment(contractTerms, "updateBillingDate", "/subscription-contracts-update-billing-date", "Change the next billing date",
		"Moves the next order to a day, at the store's order time, and the orders after it with it unless rescheduleFutureOrder=false. "+laterToday), h.setBillingDate)
}

type intervalQuery struct {
	OfContract
	Interval string `query:"interval" required:"true" enum:"DAY,WEEK,MONTH,YEAR" example:"MONTH" doc:"In any letter case."`
	Count    int32  `query:"intervalCount" required:"true" minimum:"1" maximum:"365" example:"1" doc:"So many days, weeks, months or years."`
}

type deliveryIntervalQuery struct {
	OfContract
	Interval      string         `query:"interval" enum:"DAY,WEEK,MONTH,YEAR" example:"MONTH" doc:"In any letter case. Required."`
	Count         web.Opt[int32] `query:"intervalCount" minimum:"1" maximum:"365" example:"1" doc:"So many days, weeks, months or years. Required."`
	OtherInterval string         `query:"deliveryInterval" enum:"DAY,WEEK,MONTH,YEAR" doc:"Another spelling of interval. Both may be given when they say the same."`
	OtherCount    web.Opt[int32] `query:"deliveryIntervalCount" minimum:"1" maximum:"365" doc:"Another spelling of intervalCount. Both may be given when they say the same."`
}

// asInterval returns the query in the spelling of the billing interval's.
func (q deliveryIntervalQuery) asInterval() (*intervalQuery, error) {
	switch {
	case q.Interval != "" && q.OtherInterval != "" && !strings.EqualFold(q.Interval, q.OtherInterval):
		return nil, differ("interval", "deliveryInterval")
	case q.Count.Set && q.OtherCount.Set && q.Count.Value != q.OtherCount.Value:
		return nil, differ("intervalCount", "deliveryIntervalCount")
	case q.Interval == "" && q.OtherInterval == "":
		return nil, web.MissingParameter("interval", "String")
	case !q.Count.Set && !q.OtherCount.Set:
		return nil, web.MissingParameter("intervalCount", "Integer")
	}
	count := q.Count.Value
	if !q.Count.Set {
		count = q.OtherCount.Value
	}
	return &intervalQuery{OfContract: q.OfContract, Interval: cmp.Or(q.Interval, q.OtherInterval), Count: count}, nil
}

func (q intervalQuery) rhythm() (terms.Frequency, error) {
	interval, err := cadence.ParseInterval(q.Interval)
	return terms.Frequency{Interval: interval, Count: int(q.Count)}, err
}

func (h scheduleHandlers) setBillingInterval(ctx context.Context, in *intervalQuery) (*contractOut, error) {
	return h.setInterval(ctx, in, h.edits.SetBillingInterval)
}

func (h scheduleHandlers) setDeliveryInterval(ctx context.Context, in *deliveryIntervalQuery) (*contractOut, error) {
	q, err := in.asInterval()
	if err != nil {
		return nil, err
	}
	return h.setInterval(ctx, q, h.edits.SetDeliveryInterval)
}

type setRhythm func(ctx context.Context, of shop.ID, cmd amend.Command, r terms.Frequency) (contract.Detail, error)

func (h scheduleHandlers) setInterval(ctx context.Context, in *intervalQuery, set setRhythm) (*contractOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	r, err := in.rhythm()
	if err != nil {
		return nil, err
	}
	return newContractOut(set(ctx, web.CallerOf(ctx).Shop.ID, cmd, r))
}

type planQuery struct {
	OfContract
	Plan string `query:"sellingPlanId" required:"true" format:"id" doc:"The selling plan: number or graph id."`
}

func (h scheduleHandlers) setFrequency(ctx context.Context, in *planQuery) (*contractOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	plan, err := web.ParseID("SellingPlan", "sellingPlanId", in.Plan)
	if err != nil {
		return nil, err
	}
	return newContractOut(h.edits.SetSellingPlan(ctx, web.CallerOf(ctx).Shop.ID, cmd, plan))
}

type minQuery struct {
	OfContract
	Min int32 `query:"minCycles" required:"true" minimum:"0" maximum:"9999" doc:"Orders that are owed at least."`
}

func (h scheduleHandlers) setMinCycles(ctx context.Context, in *minQuery) (*contractOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	return newContractOut(h.edits.SetCycles(ctx, web.CallerOf(ctx).Shop.ID, cmd, terms.Cycles{Min: new(int(in.Min))}))
}

type maxQuery struct {
	OfContract
	Max int32 `query:"maxCycles" required:"true" minimum:"0" maximum:"9999" doc:"Orders after which the contract ends."`
}

func (h scheduleHandlers) setMaxCycles(ctx context.Context, in *maxQuery) (*contractOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	return newContractOut(h.edits.SetCycles(ctx, web.CallerOf(ctx).Shop.ID, cmd, terms.Cycles{Max: new(int(in.Max))}))
}

type dateQuery struct {
	OfContract
	Date   string `query:"nextBillingDate" required:"true" maxLength:"40" example:"2027-01-31" doc:"ISO 8601 with a zone, or YYYY-MM-DD for a day in the store's zone."`
	Future bool   `query:"rescheduleFutureOrder" default:"true" doc:"Whether the orders after the next one move too."`
}

func (h scheduleHandlers) setBillingDate(ctx context.Context, in *dateQuery) (*contractOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	caller := web.CallerOf(ctx)
	date, err := caller.OrderDate("nextBillingDate", in.Date)
	if err != nil {
		return nil, err
	}
	return newContractOut(h.edits.SetBillingDate(ctx, caller.Shop.ID, cmd, date, in.Future))
}
