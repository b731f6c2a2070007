package billing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/platform"
)

// learn applies a finding to the attempt as it is now.
func (l *settlement) learn(a *Attempt, f finding) error {
	l.changed = append(l.changed, a.ID)
	switch {
	case f.found != nil: // our charge, or a paid one of somebody else for this cycle
		return l.adopt(a, f.found)
	case f.billed:
		return l.stop(a, Skipped, activity.DuplicateBillingAttemptDetected, "the platform has billed this cycle already, by an order that is not ours")
	case f.skipped:
		return l.stop(a, Skipped, activity.BillingAttemptSkipped, "the cycle is skipped at the platform")
	case f.busy && l.now.Sub(a.AttemptedAt) >= l.policy.Horizon:
		return l.fail(a, dunning.EarlierChargeOpen, "an earlier charge of this cycle has not ended at the platform, and may still be paid")
	case f.busy:
		a.DueAt = l.now.Add(l.policy.poll(a.Polls))
		a.Polls++
		return nil
	case !f.early.IsZero() && a.Failures > 0: // a call before this one was not answered, and may arrive when it is not too early any more
		a.Failures, a.DueAt = 0, l.now.Add(l.policy.Settling)
		return nil
	case !f.early.IsZero():
		return l.postpone(a, f.early)
	case !f.moved.IsZero():
		return l.followMove(a, f.moved)
	case f.refused != nil:
		return l.refuse(a, *f.refused)
	case a.accepted():
		return l.stillPending(a)
	case f.absent && a.paidElsewhere():
		return l.stop(a, Skipped, activity.DuplicateBillingAttemptDetected, "the platform says that this cycle is paid, by an order that is not ours")
	case f.absent:
		return l.unsent(a, f.UpdatedAt)
	}
	return l.unreachable(a, f.err)
}

// adopt takes over the platform's word on a charge of the attempt.
func (l *settlement) adopt(a *Attempt, p *platform.Attempt) error {
	if a.Status == Success {
		if p.State == platform.Succeeded && p.ID != a.PlatformID {
			l.note(*a, activity.DuplicateBillingAttemptDetected, activity.Failure, outcome{Cycle: a.Cycle, OrderID: p.Order.ID, OrderName: p.Order.Name, Reason: "a second order exists for this cycle"})
		}
		return nil
	}
	if p.State == platform.Succeeded {
		return l.succeed(a, p)
	}
	if p.Key != a.Key || !a.Status.InFlight() {
		return nil // an end that was known already, or that of an earlier try
	}
	l.changed = append(l.changed, a.ID)
	known := a.accepted()
	a.PlatformID = p.ID
	switch p.State {
	case platform.Failed:
		return l.fail(a, p.ErrorCode, p.ErrorMessage)
	case platform.Challenged:
		if a.Status == Challenge {
			return l.stillPending(a)
		}
		if err := a.move(Challenge); err != nil {
			return err
		}
		a.ActionURL, a.Polls = p.NextActionURL, 0
		a.DueAt = l.now.Add(l.policy.poll(0))
		l.lingers(a)
		l.note(*a, activity.BillingAttemptUpdated, activity.Info, outcome{Cycle: a.Cycle, Reason: "the customer must authenticate the payment"})
		return l.askToConfirm(a)
	}
	if known {
		return l.stillPending(a)
	}
	a.Failures, a.Polls = 0, 0
	a.DueAt = l.now.Add(l.policy.poll(0))
	return a.move(Progress)
}

// succeed records the order. Success is final.
func (l *settlement) succeed(a *Attempt, p *platform.Attempt) error {
	if err := a.move(Success); err != nil {
		return err
	}
	l.changed = append(l.changed, a.ID)
	c := l.contracts[a.Contract]
	a.PlatformID = p.ID
	if a.Try == 0 {
		a.Try, a.Key = 1, p.Key
	}
	a.OrderID, a.OrderName, a.Amount = p.Order.ID, p.Order.Name, p.Amount
	a.ErrorCode, a.ErrorMessage, a.ActionURL = "", "", ""
	if !a.linesKnown(*c) {
		l.unsure = append(l.unsure, a.ID)
	}
	if len(a.Lines) == 0 {
		a.Lines = c.Lines
	}
	a.DueAt, a.PublishAt = time.Time{}, l.now // the platform shows the next date
	if a.AttemptedAt.IsZero() {
		a.AttemptedAt = l.now
	}
	c.Orders++
	c.Lifetime = c.Lifetime.Plus(p.Amount)
	c.Lifetime.Currency = c.Currency
	c.LastOrderID, c.LastOrder = p.Order.ID, p.Order.Name
	c.LastOrderAmount = money.Amount{Minor: p.Amount.Minor, Currency: c.Currency}
	if c.LastOrderAt = p.CompletedAt; c.LastOrderAt.IsZero() {
		c.LastOrderAt = l.now
	}
	c.LastPayment = "SUCCEEDED"
	l.advanced = append(l.advanced, c.ID)
	l.ordered = append(l.ordered, a.ID)
	l.count(*a)
	l.settleCase(a, dunning.Recovered)
	l.supersede(*a)
	l.note(*a, activity.BillingAttemptTriggered, activity.Success, outcome{
		Cycle: a.Cycle, Try: a.Try, OrderID: a.OrderID, OrderName: a.OrderName, Amount: a.Amount.String(), Currency: string(a.Amount.Currency),
	})
	return nil
}

// fail records a definite decline.
func (l *settlement) fail(a *Attempt, code, message string) error {
	if err := a.move(Failure); err != nil {
		return err
	}
	a.ErrorCode, a.ErrorMessage = code, message
	if code != dunning.ChallengeExpired { // the platform still holds that one open
		a.ActionURL = ""
	}
	if a.paidElsewhere() { // the order is looked for at once
		a.DueAt = l.now
		return nil
	}
	a.DueAt = time.Time{}
	l.count(*a)
	c := l.contracts[a.Contract]
	c.LastPayment = "FAILED"
	l.advanced = append(l.advanced, c.ID)
	l.note(*a, activity.BillingAttemptTriggered, activity.Failure, outcome{Cycle: a.Cycle, Try: a.Try, ErrorCode: code, ErrorMessage: message})
	return l.startDunning(a, code)
}

// refusals says what the platform's definite "no" makes of an attempt, by its
// code (the schema's BillingAttemptUserErrorCode). Others are failures.
var refusals = map[string]Status{
	"BILLING_CYCLE_SKIPPED": Skipped,
	"CONTRACT_PAUSED":       ContractPaused,
	"CONTRACT_TERMINATED":   ContractCancelled,
}

func (l *settlement) refuse(a *Attempt, r platform.Refusal) error {
	if r.Code == "THROTTLED" {
		a.DueAt = l.now.Add(l.policy.Throttled)
		return nil
	}
	if status, ok := refusals[r.Code]; ok {
		return l.stop(a, status, activity.BillingAttemptSkipped, r.Message)
	}
	return l.fail(a, r.Code, r.Message)
}

// postpone puts an attempt back into the queue that the platform does not take
// yet. A charge that a person asked for too early waits for its own date. One
// that is due was planned by a calendar from which the platform's has come apart,
// as it does when a policy changes: the series begins anew on the first date that
// the platform takes, so that later cycles agree again. Where both mean the same
// day it is the clocks that differ, and the date stays.
func (l *settlement) postpone(a *Attempt, possible time.Time) error {
	if err := l.requeue(a); err != nil {
		return err
	}
	reason := tooEarlyReason(*a, possible.Add(-early))
	a.ErrorMessage = reason
	if a.BillingDate.After(l.now) {
		l.note(*a, activity.BillingAttemptTriggered, activity.Failure, outcome{Cycle: a.Cycle, Reason: reason})
		return nil
	}
	cal, err := l.shop.Calendar()
	if err != nil {
		return err
	}
	before := a.BillingDate
	if cal.At(possible).Equal(before) {
		if a.DueAt = possible.Add(-early); a.DueAt.Before(l.now.Add(l.policy.InFlight)) {
			a.DueAt = l.now.Add(l.policy.InFlight)
		}
		return nil
	}
	if a.BillingDate = cal.At(possible); !a.BillingDate.After(l.now) {
		a.BillingDate = possible
	}
	a.DueAt = a.BillingDate
	l.contracts[a.Contract].ReplaceSeries(contract.Series{Cycle: a.Cycle, Start: a.BillingDate})
	l.restarted = append(l.restarted, a.Contract)
	l.note(*a, activity.NextBillingDateChange, activity.Info, outcome{
		Cycle: a.Cycle, From: before.Format(time.RFC3339), To: a.BillingDate.Format(time.RFC3339), Reason: reason,
	})
	return nil
}

// followMove gives an attempt the date to which somebody moved its cycle at the
// platform. Later orders keep theirs.
func (l *settlement) followMove(a *Attempt, to time.Time) error {
	cal, err := l.shop.Calendar()
	if err != nil {
		return err
	}
	if err := l.requeue(a); err != nil {
		return err
	}
	before := a.BillingDate
	a.BillingDate, a.Moved = cal.At(to), true
	a.DueAt = a.BillingDate
	l.entries = append(l.entries, entryOf(*a, activity.NextBillingDateChange, activity.Success, activity.Platform, l.now, outcome{
		Cycle: a.Cycle, From: before.Format(time.RFC3339), To: a.BillingDate.Format(time.RFC3339),
	}))
	return nil
}

// requeue puts an attempt back of which nothing was sent.
func (l *settlement) requeue(a *Attempt) error {
	if err := a.withdraw(); err != nil {
		return err
	}
	l.returned = append(l.returned, a.Contract)
	l.settleCase(a, dunning.Lost)
	l.advanced = append(l.advanced, a.Contract)
	return nil
}

// redate gives the upcoming attempts of contracts whose series begins anew their
// new dates, save those that a person chose.
func (l *settlement) redate(ctx context.Context, tx Tx) error {
	return redate(ctx, tx, l.shop, chosen(l.contracts, l.restarted), l.now)
}

// stop ends an attempt without a charge, unless it waits for its date again.
func (l *settlement) stop(a *Attempt, as Status, event activity.EventType, reason string) error {
	if a.outlives(as, l.now) {
		l.note(*a, activity.BillingAttemptTriggered, activity.Failure, outcome{Cycle: a.Cycle, Reason: reason})
		return l.requeue(a)
	}
	if err := a.endWithoutCharge(as, *l.contracts[a.Contract], 0); err != nil {
		return err
	}
	a.DueAt = time.Time{}
	if a.ErrorMessage = reason; event == activity.DuplicateBillingAttemptDetected {
		l.settleCase(a, dunning.Recovered)
	} else {
		l.settleCase(a, dunning.Lost)
	}
	l.advanced = append(l.advanced, a.Contract)
	l.note(*a, event, activity.Skipped, outcome{Cycle: a.Cycle, Reason: reason})
	return nil
}

// lingers lets the contract of a charge that has no end for now go on: its queue is
// filled behind the order that is being charged, and its next date is that of the next
// one. Most charges end at once, and do that then.
func (l *settlement) lingers(a *Attempt) { l.advanced = append(l.advanced, a.Contract) }

// stillPending puts the next question off. A challenge that nobody answered in
// time has failed; a charge that the platform has not ended in time is shown as
// an exception and goes on being asked for.
func (l *settlement) stillPending(a *Attempt) error {
	if a.Polls == 0 {
		l.lingers(a)
	}
	a.Polls++
	a.DueAt = l.now.Add(l.policy.poll(a.Polls))
	if l.now.Sub(a.SentAt) < l.policy.Horizon || a.Status == PlatformException {
		return nil
	}
	if a.Status == Challenge {
		return l.fail(a, dunning.ChallengeExpired, fmt.Sprintf("the customer has not authenticated the payment within %s", l.policy.Horizon))
	}
	if err := a.move(PlatformException); err != nil {
		return err
	}
	a.ErrorMessage = fmt.Sprintf("the platform has not ended this charge within %s", l.policy.Horizon)
	l.note(*a, activity.BillingAttemptNotification, activity.Failure, outcome{Cycle: a.Cycle, Reason: a.ErrorMessage})
	return nil
}

// unsent is the end of a question without a send: the platform never saw the
// try, if it was asked late enough. What forbade the charge may forbid it for
// good, and a newer order may have fallen due meanwhile, which is charged instead.
func (l *settlement) unsent(a *Attempt, asked time.Time) error {
	c := l.contracts[a.Contract]
	stop, status, reason := hindrance(*a, inputs{shop: l.shop, contract: *c})
	if !stop {
		reason, stop = missed(*a, l.others[a.Contract], l.now)
		status = Skipped
	}
	if stop && asked.Sub(a.SentAt) >= l.policy.Settling {
		return l.stop(a, status, activity.BillingAttemptSkipped, reason)
	}
	a.DueAt = a.SentAt.Add(l.policy.Settling)
	if l.shop.Guard.BlockReason(l.now) != "" { // it may only be asked for
		a.DueAt = l.now.Add(l.policy.Repair)
	}
	if !a.DueAt.After(l.now) {
		a.DueAt = l.now
	}
	return nil
}

// unreachable counts a call that found nobody. The key stays, for the charge may
// have been made.
func (l *settlement) unreachable(a *Attempt, cause error) error {
	if errors.Is(cause, platform.ErrThrottled) {
		a.DueAt = l.now.Add(l.policy.Throttled)
		return nil
	}
	if errors.Is(cause, platform.ErrDisconnected) {
		l.gone = true
	}
	if a.Status != Requesting { // a poll: its own waits apply
		return l.stillPending(a)
	}
	a.Failures++
	if a.Failures <= len(l.policy.Retries) {
		a.DueAt = l.now.Add(l.policy.Retries[a.Failures-1])
		return nil
	}
	if err := a.move(PlatformException); err != nil {
		return err
	}
	a.DueAt = l.now.Add(l.policy.Repair)
	a.ErrorMessage = "the platform could not be reached; the charge is repeated with the same key, or adopted, as soon as it answers"
	l.lingers(a)
	if a.Failures == len(l.policy.Retries)+1 {
		l.note(*a, activity.BillingAttemptTriggered, activity.PartialFailure, outcome{Cycle: a.Cycle, Try: a.Try, Reason: a.ErrorMessage})
	}
	return nil
}

// outcome is the additional information of an entry about an attempt.
type outcome struct {
	Cycle        int    `json:"cycle,omitempty"`
	Try          int    `json:"try,omitempty"`
	OrderID      int64  `json:"orderId,omitempty"`
	OrderName    string `json:"orderName,omitempty"`
	Amount       string `json:"amount,omitempty"`
	Currency     string `json:"currency,omitempty"`
	ErrorCode    string `json:"errorCode,omitempty"`
	ErrorMessage string `json:"errorMessage,omitempty"`
	Reason       string `json:"reason,omitempty"`
	From         string `json:"from,omitempty"` // date-time, UTC
	To           string `json:"to,omitempty"`

	Variant  int64          `json:"variantId,omitempty"`
	Quantity int            `json:"quantity,omitempty"`
	Rule     int64          `json:"ruleId,omitempty"`
	RuleName string         `json:"ruleName,omitempty"`
	Removed  []swap.Product `json:"removed,omitempty"`
	Added    []swap.Product `json:"added,omitempty"`
	Target   string         `json:"target,omitempty"` // graph id
	Tags     []string       `json:"tags,omitempty"`
	Untagged []string       `json:"removedTags,omitempty"`
}

func (l *settlement) note(a Attempt, event activity.EventType, status activity.Status, o outcome) {
	l.entries = append(l.entries, entryOf(a, event, status, activity.System, l.now, o))
}

func entryOf(a Attempt, event activity.EventType, status activity.Status, by activity.Actor, now time.Time, o outcome) activity.Entry {
	return activity.Entry{
		EntityID: int64(a.ID), EntityType: activity.EntitySubscriptionBillingAttempt, Event: event, Status: status,
		Actor: by, At: now, Info: activity.Details(o),
	}
}
