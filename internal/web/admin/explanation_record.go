package admin

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/explain"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/web"
)

// AttemptExplanation is an explanation on the wire.
type AttemptExplanation struct {
	BillingAttemptID int64                `json:"billingAttemptId" doc:"Number of the billing attempt." example:"9"`
	Shop             string               `json:"shop" doc:"The store's domain." example:"demo.myshopify.com"`
	ContractID       int64                `json:"contractId" doc:"Number of the contract." example:"9001"`
	Cycle            int32                `json:"cycle" doc:"Which cycle of the contract is charged: the platform's index, from 1." example:"3"`
	Status           string               `json:"status" enum:"SUCCESS,FAILURE,REQUESTING,PROGRESS,QUEUED,SKIPPED,SOCIAL_CONNECTION_NULL,CONTRACT_CANCELLED,CONTRACT_ENDED,CONTRACT_PAUSED,AUTO_CHARGE_DISABLED,SKIPPED_DUNNING_MGMT,SECURITY_CHALLENGE,SHOPIFY_EXCEPTION" doc:"How far the attempt is."`
	ExplainedAt      *moment              `json:"explainedAt" doc:"The time of the explanation: now."`
	Summary          string               `json:"summary" doc:"The explanation in two or three sentences." example:"The order of cycle 3 waits for its date. The service charges the order at 2026-01-31 09:00 America/New_York (2026-01-31 14:00 UTC)."`
	Date             explainedDate        `json:"date" doc:"Why the order is due when it is."`
	Prices           explainedPrices      `json:"prices" doc:"What the order comes to, and why."`
	Preparation      explainedPreparation `json:"preparation" doc:"Whether the order is changed before it is charged: swapped products, one-time products, prices that begin with it, its note."`
	Tries            []explainedTry       `json:"tries" nullable:"false" doc:"The charges of the cycle, first to last. Of those before the last one only the key and the end are kept."`
	Outcome          explainedOutcome     `json:"outcome" doc:"What became of the order so far."`
	Next             explainedStep        `json:"next" doc:"What the service does next without a request."`
	Activity         []activityLog        `json:"activity" nullable:"false" doc:"Entries of the activity log about the attempt, oldest first; at most the newest 500."`
	EarlierActivity  int32                `json:"earlierActivity" doc:"How many entries there are before those." example:"0"`
}

type explainedDate struct {
	Due         *moment      `json:"due" doc:"When the order is due."`
	Moved       bool         `json:"moved" doc:"Whether a caller set the date, so that the calendar does not move it."`
	Planned     *moment      `json:"planned" doc:"Where the contract's calendar puts the cycle as it is today; null when it says nothing of it."`
	Rule        *string      `json:"rule" doc:"The calendar in words; null when the contract has none." example:"every month, counted from 2025-01-31, at 09:00 in America/New_York"`
	Interval    string       `json:"interval" enum:"DAY,WEEK,MONTH,YEAR" doc:"Unit of the billing interval."`
	Count       int32        `json:"intervalCount" doc:"Units between two orders." example:"1"`
	Anchors     []ruleAnchor `json:"anchors" nullable:"false" doc:"Fixed days on which orders fall; empty: they fall on the day of the start."`
	SeriesStart *moment      `json:"seriesStart" doc:"Where the counting starts; null when the contract has no calendar."`
	SeriesCycle int32        `json:"seriesCycle" doc:"The cycle that falls on the start." example:"1"`
	OrderTime   string       `json:"orderTime" doc:"Local time of day at which the store's orders are charged." example:"09:00"`
	Zone        string       `json:"zone" doc:"The store's time zone: its IANA name." example:"America/New_York"`
	Changes     []dateChange `json:"changes" nullable:"false" doc:"What was done to the date, oldest first."`
	Words       []string     `json:"words" nullable:"false" doc:"The same in sentences." example:"April 2025 has no 31st, so it falls on the last day of the month, the 30th."`
}

type dateChange struct {
	Kind   string      `json:"kind" enum:"MOVED,SKIPPED,UNSKIPPED" doc:"What was done."`
	By     *string     `json:"by" doc:"Who did it; null for the service and for the platform." example:"API key Warehouse"`
	Source eventSource `json:"eventSource" doc:"From where the change came."`
	At     *moment     `json:"at" doc:"When it was done."`
	From   *moment     `json:"from" doc:"Of MOVED: the date before; null otherwise, or when the date stayed and later ones follow it."`
	To     *moment     `json:"to" doc:"Of MOVED: the date after; null otherwise."`
	Words  string      `json:"words" doc:"The same in a sentence." example:"At 2026-01-20 10:12:05 America/New_York (2026-01-20 15:12:05 UTC) API key Warehouse skipped it."`
}

type ruleAnchor struct {
	Type  string `json:"type" enum:"WEEKDAY,MONTHDAY,YEARDAY" doc:"What the day is counted in."`
	Day   int32  `json:"day" doc:"WEEKDAY: 1 (Monday) to 7. Otherwise the day of the month; in a shorter month it is the last one." example:"15"`
	Month *int32 `json:"month" doc:"Of YEARDAY: 1 to 12; null otherwise." example:"7"`
}

type explainedPreparation struct {
	State string   `json:"state" enum:"NOT_NEEDED,WAITING,UNDER_WAY,DONE" doc:"How far it is."`
	Words []string `json:"words" nullable:"false" doc:"What is needed, and how it went." example:"The order needs no preparation: it is made as the contract has it."`
}

type explainedOutcome struct {
	Final     bool     `json:"final" doc:"Whether nothing changes it any more but a person, or the platform's word that there is an order after all."`
	OrderID   *int64   `json:"orderId" doc:"Number of the order; null while there is none." example:"5004"`
	OrderName *string  `json:"orderName" doc:"Its name." example:"#1004"`
	Amount    *float64 `json:"amount" doc:"What was charged, in the currency of prices." example:"24.5"`
	Words     string   `json:"words" doc:"The same in sentences." example:"Order #1004 (number 5004) was made for 24.50 USD."`
}

type explainedStep struct {
	Action string  `json:"action" enum:"CHARGE,PREPARE,ASK,WAIT,END,NONE" doc:"CHARGE: charge, for the first time or again under the same key. PREPARE: change the order first. ASK: ask the platform for the end of a charge. WAIT: look again, since something holds the order back. END: end it without a charge. NONE: nothing, until a person does something."`
	At     *moment `json:"at" doc:"When; null with NONE."`
	Status *string `json:"status" doc:"Of END: the status that the attempt gets; null otherwise." example:"CONTRACT_PAUSED"`
	Words  string  `json:"words" doc:"What and why, in sentences." example:"The service charges the order at 2026-01-31 09:00 America/New_York (2026-01-31 14:00 UTC)."`
}

// moment is an instant as clocks show it in two places.
type moment struct {
	At    *web.Instant `json:"at" format:"date-time" doc:"In UTC." example:"2026-01-31T14:00:00Z"`
	Local string       `json:"local" doc:"As the clocks of the store show it, with their distance from UTC." example:"2026-01-31T09:00:00-05:00"`
	Zone  string       `json:"zone" doc:"The store's time zone: its IANA name." example:"America/New_York"`
}

type explainedTry struct {
	Number       int32   `json:"number" doc:"Which charge of the cycle, from 1." example:"1"`
	Key          string  `json:"idempotencyKey" doc:"What the platform recognises the charge by, however often it is sent." example:"prn1-lhjsfte2ixphpmi6gtciwdfan5zllbxs"`
	State        string  `json:"state" enum:"NOT_SENT,UNKNOWN,PENDING,CHALLENGED,FAILED,SUCCEEDED,DROPPED" doc:"Its state. UNKNOWN: sent, and not known whether it arrived. PENDING: the platform has it. CHALLENGED: the customer must confirm the payment. DROPPED: the platform made no order for it, and it is not sent again."`
	AskedBy      *string `json:"askedBy" doc:"Who asked for the charge; null when it was due." example:"API key Warehouse"`
	AskedAt      *moment `json:"askedAt" doc:"When they did; null when they did not."`
	FirstSentAt  *moment `json:"firstSentAt" doc:"When it was sent first; null when it was not, or for a try before the last."`
	LastSentAt   *moment `json:"lastSentAt" doc:"When it was sent last, under the same key."`
	EndedAt      *moment `json:"endedAt" doc:"When its end was learned; null while there is none."`
	PlatformID   *string `json:"platformAttemptId" doc:"Graph id of the platform's attempt; null before there is one, or for a try before the last." example:"gid://shopify/SubscriptionBillingAttempt/8001"`
	ErrorCode    *string `json:"errorCode" doc:"The platform's code of a failure." example:"INSUFFICIENT_FUNDS"`
	ErrorMessage *string `json:"errorMessage" doc:"And its message." example:"Insufficient funds."`
	Words        string  `json:"words" doc:"The same in a sentence." example:"Try 1 was sent at 2026-01-31 09:00 America/New_York (2026-01-31 14:00 UTC) and made the order."`
}

func newMoment(e explain.Explanation, at time.Time) *moment {
	if at.IsZero() || !at.Before(cadence.Never()) {
		return nil
	}
	local := at.In(e.Calendar.Zone)
	return &moment{At: web.At(at), Local: local.Format(time.RFC3339), Zone: e.Shop.TimeZone}
}

// NewAttemptExplanation returns an explanation on the wire.
func NewAttemptExplanation(e explain.Explanation) AttemptExplanation {
	out := AttemptExplanation{
		BillingAttemptID: int64(e.ID), Shop: e.Shop.Domain, ContractID: int64(e.Of.ID), Cycle: int32(e.Cycle), Status: string(e.Status),
		ExplainedAt: newMoment(e, e.Now), Summary: e.Summary, Date: newExplainedDate(e), Prices: newExplainedPrices(e),
		Preparation: explainedPreparation{State: string(e.Preparation.Kind), Words: e.Preparation.Words},
		Tries:       make([]explainedTry, len(e.Tries)),
		Outcome:     explainedOutcome{Final: e.Outcome.Final, OrderID: web.Some(e.OrderID), OrderName: web.Some(e.OrderName), Words: e.Outcome.Words},
		Next:        explainedStep{Action: string(e.Next.Kind), At: newMoment(e, e.Next.At), Status: web.Some(string(e.Next.Ends)), Words: e.Next.Words},
		Activity:    make([]activityLog, len(e.Entries)), EarlierActivity: int32(e.Earlier),
	}
	if e.Status == billing.Success {
		out.Outcome.Amount = new(e.Amount.Float())
	}
	for i, t := range e.Tries {
		out.Tries[i] = explainedTry{
			Number: int32(t.Number), Key: t.Key, State: string(t.State), AskedBy: web.Some(t.AskedBy.By), AskedAt: newMoment(e, t.AskedAt),
			FirstSentAt: newMoment(e, t.FirstSentAt), LastSentAt: newMoment(e, t.SentAt), EndedAt: newMoment(e, t.EndedAt),
			PlatformID: web.Some(t.PlatformID), ErrorCode: web.Some(t.ErrorCode), ErrorMessage: web.Some(t.ErrorMessage), Words: t.Words,
		}
	}
	for i, entry := range e.Entries {
		out.Activity[i] = newActivityLog(e.Shop.Domain, entry)
	}
	return out
}

func newExplainedDate(e explain.Explanation) explainedDate {
	d := explainedDate{
		Due: newMoment(e, e.BillingDate), Moved: e.Moved, Planned: newMoment(e, e.Date.Planned), Rule: web.Some(e.Date.Rule),
		Interval: e.Of.Billing.Interval.String(), Count: int32(e.Of.Billing.Count), Anchors: []ruleAnchor{},
		SeriesStart: newMoment(e, e.Of.SeriesOf(e.Cycle).Start), SeriesCycle: int32(e.Of.SeriesOf(e.Cycle).Origin()),
		OrderTime: e.Calendar.OrderTime(), Zone: e.Shop.TimeZone, Changes: []dateChange{}, Words: e.Date.Words,
	}
	for _, a := range e.Of.Billing.Anchors {
		anchor := ruleAnchor{Type: a.Kind.String(), Day: int32(a.Day)}
		if a.Kind == cadence.YearDay {
			anchor.Month = new(int32(a.Month))
		}
		d.Anchors = append(d.Anchors, anchor)
	}
	for _, c := range e.Date.Changes {
		d.Changes = append(d.Changes, dateChange{
			Kind: string(c.Kind), By: web.Some(c.By.By), Source: eventSource(c.By.Source), At: newMoment(e, c.At),
			From: newMoment(e, c.From), To: newMoment(e, c.To), Words: c.Words,
		})
	}
	return d
}
