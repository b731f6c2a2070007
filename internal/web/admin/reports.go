package admin

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

// reportHandlers report on past orders.
type reportHandlers struct {
	line    shop.Line
	reports billing.Reports
}

func (h reportHandlers) register(api *web.API) {
	web.Register(api, web.Operation{
		ID: "reportPastOrders", Method: http.MethodGet, Path: attemptsPath + "/past-orders/report", Tag: "Billing attempts",
		Summary: "Report past orders",
		Description: "Attempts of all contracts that no longer wait and have one of the statuses, newest first. At most 2000 in a page. " +
			"Statuses that other services of this interface know are accepted too and match nothing: " + strings.Join(foreignStatuses, ", ") + ".",
		Scope: access.ContractsRead, List: &record.AttemptList, Errors: []int{http.StatusNotFound},
	}, h.reportOrders)
	web.Register(api, web.Operation{
		ID: "getContractAnalytics", Method: http.MethodGet, Path: base + "/subscription-contract-details/analytics/{contractId}", Tag: "Contracts",
		Summary:     "Figures of a contract",
		Description: "What a contract has come to. Only renewal orders count, as in totalSuccessfulOrders and lifetimeValue of the contract search; the order of the checkout does not.",
		Scope:       access.ContractsRead, Errors: []int{http.StatusNotFound},
	}, h.contractAnalytics)
}

// contractAnalytics are the figures of a contract.
type contractAnalytics struct {
	ContractID      int64        `json:"contractId" doc:"Number of the contract." example:"9001"`
	TotalOrders     int32        `json:"totalOrders" doc:"Renewal orders that were charged." example:"3"`
	TotalAmount     float64      `json:"totalAmount" doc:"Sum of the renewal orders, as they were charged, with taxes and delivery." example:"75"`
	AverageOrder    float64      `json:"averageOrderValue" doc:"totalAmount by totalOrders, rounded to the currency's decimals; 0 before the first renewal order." example:"25"`
	Currency        string       `json:"currencyCode" doc:"Currency of the amounts: ISO 4217." example:"USD"`
	FirstOrderDate  *web.Instant `json:"firstOrderDate" format:"date-time" doc:"When the first renewal order was charged, in UTC; null before." example:"2026-01-31T08:00:00Z"`
	LastOrderDate   *web.Instant `json:"lastOrderDate" format:"date-time" doc:"When the last renewal order was charged, in UTC; null before the first one." example:"2026-03-31T08:00:00Z"`
	NextBillingDate *web.Instant `json:"nextBillingDate" format:"date-time" doc:"When the next order is charged; null when none is to come." example:"2026-04-30T08:00:00Z"`
	Skipped         int32        `json:"skipped" doc:"Orders that are skipped, of those to come too." example:"1"`
	Failed          int32        `json:"failed" doc:"Orders that could not be charged: those that are unpaid now, and those that dunning gave up." example:"0"`
}

type analyticsOut struct {
	Body contractAnalytics
}

func (h reportHandlers) contractAnalytics(ctx context.Context, in *contractPath) (*analyticsOut, error) {
	id, err := web.ParseID(record.ContractTypename, "contractId", in.Contract)
	if err != nil {
		return nil, err
	}
	a, err := h.reports.Analytics(ctx, web.CallerOf(ctx).Shop.ID, h.line, contract.ID(id))
	if err != nil {
		return nil, err
	}
	return &analyticsOut{contractAnalytics{
		ContractID: id, TotalOrders: int32(a.Of.Orders), TotalAmount: a.Of.Lifetime.Float(), AverageOrder: a.Average().Float(), Currency: string(a.Of.Currency),
		FirstOrderDate: web.At(a.First), LastOrderDate: web.At(a.Last), NextBillingDate: web.At(a.Of.NextBillingDate), Skipped: int32(a.Skipped), Failed: int32(a.Failed),
	}}, nil
}

// foreignStatuses are statuses that callers ask for and no attempt of ours has.
var foreignStatuses = []string{
	"SKIPPED_INVENTORY_MGMT", "IMMEDIATE_TRIGGERED", "CONTRACT_PAUSED_MAX_CYCLES", "REFUNDED", "SKIPPED_DEMO_SHOP",
	"SKIPPED_SHOP_INFO_NOT_FOUND", "SKIPPED_BILLING_DATE_STALE", "SKIPPED_DUNNING_NOT_CONFIGURED", "PENDING_CONSOLIDATION",
}

// surveyQuery is a report on past orders, in the interface's words.
type surveyQuery struct {
	web.Paging
	Status         string         `query:"status" required:"true" example:"FAILURE" doc:"A status of billing attempts, or several with commas between them. An order that is QUEUED is not past and is never listed."`
	Contract       string         `query:"contractId" doc:"The contract: number or graph id. 404 when the store does not have it."`
	FromDay        string         `query:"fromDay" example:"2025-01-01" doc:"Billing date at or after: YYYY-MM-DD in the store's zone, or ISO 8601 with a zone."`
	ToDay          string         `query:"toDay" example:"2025-01-31" doc:"Billing date at or before; of a day, its end."`
	AttemptCount   web.Opt[int64] `query:"attemptCount" minimum:"0" maximum:"2147483647" doc:"The cycle was charged exactly so often."`
	ContractStatus string         `query:"contractStatus" doc:"The contract's status today: ACTIVE, PAUSED, CANCELLED, EXPIRED or FAILED."`
}

func (q surveyQuery) survey(caller web.Caller) (billing.Survey, error) {
	var s billing.Survey
	for name := range strings.SplitSeq(q.Status, ",") {
		name = strings.TrimSpace(name)
		if slices.ContainsFunc(foreignStatuses, func(f string) bool { return strings.EqualFold(f, name) }) {
			continue
		}
		status, err := billing.ParseStatus(name)
		if err != nil {
			return s, err
		}
		s.Statuses = append(s.Statuses, status)
	}
	of, err := web.ParseID("SubscriptionContract", "contractId", q.Contract)
	if err != nil {
		return s, err
	}
	s.Contract = contract.ID(of)
	cal, err := caller.Shop.Calendar()
	if err != nil {
		return s, err
	}
	if q.FromDay != "" {
		m, err := web.ParseMoment("fromDay", q.FromDay, cal.Zone)
		if err != nil {
			return s, err
		}
		s.From = m.From
	}
	if q.ToDay != "" {
		m, err := web.ParseMoment("toDay", q.ToDay, cal.Zone)
		if err != nil {
			return s, err
		}
		s.To = m.To
	}
	if q.AttemptCount.Set {
		s.Tries = new(int(q.AttemptCount.Value))
	}
	if q.ContractStatus != "" {
		s.ContractStatus, err = web.ParseEnum("contractStatus", q.ContractStatus, contract.Statuses)
	}
	return s, err
}

// reportRow is an attempt and, beside its fields, the same attempt and its contract as
// objects.
type reportRow struct {
	record.BillingAttempt
	Attempt  record.BillingAttempt `json:"subscriptionBillingAttempt" doc:"The same attempt."`
	Contract reportContract        `json:"subscriptionContractDetails" doc:"The attempt's contract."`
}

// reportContract is what a report says of the contract of an attempt.
type reportContract struct {
	ContractID    int64   `json:"contractId" doc:"Number of the contract." example:"9001"`
	CustomerName  *string `json:"customerName" doc:"Name of the customer; null when not known." example:"Ada Khan"`
	CustomerEmail *string `json:"customerEmail" doc:"E-mail address of the customer; null when not known." example:"ada@example.com"`
	Status        string  `json:"status" doc:"The contract's status today: active, paused, cancelled, expired or failed." example:"active"`
	Orders        int32   `json:"totalSuccessfulOrders" doc:"Renewal orders that were charged so far." example:"4"`
	Lifetime      float64 `json:"lifetimeValue" doc:"Sum of all renewal orders so far, in currencyCode." example:"98"`
	Currency      string  `json:"currencyCode" doc:"Currency of the contract: ISO 4217." example:"USD"`
}

type reportPage struct {
	web.ListHeaders
	Body []reportRow
}

func newReportRow(domain string, r billing.Record) reportRow {
	a := record.NewBillingAttempt(domain, r)
	return reportRow{a, a, reportContract{
		ContractID: int64(r.Of.ID), CustomerName: web.Some(r.Of.Customer.Name), CustomerEmail: web.Some(r.Of.Customer.Email),
		Status: strings.ToLower(string(r.Of.Status)), Orders: int32(r.Of.Orders), Lifetime: r.Of.Lifetime.Float(), Currency: string(r.Of.Currency),
	}}
}

func (h reportHandlers) reportOrders(ctx context.Context, in *surveyQuery) (*reportPage, error) {
	caller := web.CallerOf(ctx)
	p, err := in.Request(record.AttemptList)
	if err != nil {
		return nil, err
	}
	s, err := in.survey(caller)
	if err != nil {
		return nil, err
	}
	s.Line = h.line
	records, total, err := h.reports.PastAttempts(ctx, caller.Shop.ID, s, p)
	if err != nil {
		return nil, err
	}
	out := &reportPage{ListHeaders: web.Paged(ctx, p, total), Body: make([]reportRow, len(records))}
	for i, r := range records {
		out.Body[i] = newReportRow(caller.Shop.Domain, r)
	}
	return out, nil
}
