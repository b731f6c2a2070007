package admin

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

// termHandlers change the note, the attributes and the schedule of a contract.
type termHandlers struct{ contractHandlers }

func (h termHandlers) register(api *web.API) {
	attributes := withBody(attributesBody{}, amendment(contractTerms, "updateCustomNoteAttributes", "/subscription-contracts-update-custom-note-attributes", "Change a contract's attributes",
		"Replaces the contract's attributes, or lays the given ones over those it has. They are copied to every future order. Answers with no body."))
	web.Register(api, attributes, h.setAttributes)
	posted := attributes
	posted.ID, posted.Method, posted.Path = "postCustomNoteAttributes", http.MethodPost, base+"/update-custom-note-attributes"
	posted.Description = "As the PUT, and says so in words."
	web.Register(api, posted, h.postAttributes)
	web.Register(api, amendment(contractTerms, "updateOrderNote", "/subscription-contracts-update-order-note/{contractId}", "Change a contract's order note",
		"Replaces the note that every future order carries. An empty text clears it. Where the next order has a note of its own, the order carries both. Answers true."), h.setNote)
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

// attributesBody is a contract's attributes.
type attributesBody struct {
	Shop                   string                   `json:"shop,omitempty" doc:"Must be the key's store." example:"demo.myshopify.com"`
	SubscriptionContractID web.AnyID                `json:"subscriptionContractId" doc:"The contract: number or graph id."`
	CustomAttributesList   []record.AttributeObject `json:"customAttributesList" maxItems:"100" doc:"Keys are unique."`
}

type attributesIn struct {
	Overwrite bool `query:"overwriteExistingAttributes" default:"true" doc:"Whether the given attributes replace all; otherwise they are laid over those that are there."`
	web.JSONBody
}

func (h termHandlers) setAttributes(ctx context.Context, in *attributesIn) (*struct{}, error) {
	var body attributesBody
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	caller := web.CallerOf(ctx)
	if err := ownShop(body.Shop, caller, "shop"); err != nil {
		return nil, err
	}
	n, err := body.SubscriptionContractID.Parse(record.ContractTypename, "subscriptionContractId")
	if err != nil {
		return nil, err
	}
	for field, missing := range map[string]bool{"subscriptionContractId": n == 0, "customAttributesList": body.CustomAttributesList == nil} {
		if missing {
			return nil, fault.New(fault.Invalid, "field '%s' is required", field).Code("bodyField").Field(field)
		}
	}
	cmd := amend.Command{Line: h.line, Contract: contract.ID(n), Actor: caller.Actor}
	_, err = h.edits.SetAttributes(ctx, caller.Shop.ID, cmd, parseAttributes(body.CustomAttributesList), in.Overwrite)
	return nil, err
}

// messageOut says in words what was done.
type messageOut struct {
	Body messageBody
}

// messageBody is a sentence.
type messageBody struct {
	Message string `json:"message" doc:"What was done, in words." example:"Attributes updated successfully"`
}

func (h termHandlers) postAttributes(ctx context.Context, in *attributesIn) (*messageOut, error) {
	if _, err := h.setAttributes(ctx, in); err != nil {
		return nil, err
	}
	return &messageOut{messageBody{"Attributes updated successfully"}}, nil
}

type noteQuery struct {
	web.Given
	Contract string `path:"contractId" format:"id" example:"9001" doc:"The contract: number or graph id, percent-encoded."`
	Note     string `query:"orderNote" maxLength:"5000" doc:"The note; empty clears it. Plain text; lines end with newline characters. Required."`
	Other    string `query:"note" maxLength:"5000" doc:"Another spelling of orderNote. Both may be given when they say the same."`
}

// trueOut answers true.
type trueOut struct {
	Body bool
}

func (h termHandlers) setNote(ctx context.Context, in *noteQuery) (*trueOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	text, err := noteOf(in.Given, in.Note, in.Other)
	if err != nil {
		return nil, err
	}
	if _, err = h.edits.SetNote(ctx, web.CallerOf(ctx).Shop.ID, cmd, text); err != nil {
		return nil, err
	}
	return &trueOut{true}, nil
}

// noteOf returns the note that is sent as orderNote, as note, or as both.
func noteOf(given web.Given, orderNote, note string) (string, error) {
	switch {
	case given.Has("orderNote") && given.Has("note") && orderNote != note:
		return "", differ("orderNote", "note")
	case given.Has("orderNote"):
		return orderNote, nil
	case given.Has("note"):
		return note, nil
	}
	return "", web.MissingParameter("orderNote", "String")
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

func (h termHandlers) setBillingInterval(ctx context.Context, in *intervalQuery) (*contractOut, error) {
	return h.setInterval(ctx, in, h.edits.SetBillingInterval)
}

func (h termHandlers) setDeliveryInterval(ctx context.Context, in *deliveryIntervalQuery) (*contractOut, error) {
	q, err := in.asInterval()
	if err != nil {
		return nil, err
	}
	return h.setInterval(ctx, q, h.edits.SetDeliveryInterval)
}

type setRhythm func(ctx context.Context, of shop.ID, cmd amend.Command, r terms.Frequency) (contract.Detail, error)

func (h termHandlers) setInterval(ctx context.Context, in *intervalQuery, set setRhythm) (*contractOut, error) {
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

func (h termHandlers) setFrequency(ctx context.Context, in *planQuery) (*contractOut, error) {
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

func (h termHandlers) setMinCycles(ctx context.Context, in *minQuery) (*contractOut, error) {
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

func (h termHandlers) setMaxCycles(ctx context.Context, in *maxQuery) (*contractOut, error) {
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

func (h termHandlers) setBillingDate(ctx context.Context, in *dateQuery) (*contractOut, error) {
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
