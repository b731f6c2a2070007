package charge

import (
	"errors"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/decide"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/platform"
)

// learn applies a finding to the attempt as it is now.
func (l *settling) learn(a *billing.Attempt, f finding) error {
	l.Changed = append(l.Changed, a.ID)
	switch {
	case f.found != nil: // our charge, or another paid one of this cycle
		return l.adopt(a, f.found)
	case f.billed:
		return l.stop(a, billing.Skipped, activity.DuplicateBillingAttemptDetected, "the platform has billed this cycle already, by an order that is not ours")
	case f.skipped:
		return l.stop(a, billing.Skipped, activity.BillingAttemptSkipped, "the cycle is skipped at the platform")
	case f.busy && l.Now.Sub(a.AttemptedAt) >= l.Policy.Horizon:
		return l.fail(a, dunning.EarlierChargeOpen, "an earlier charge of this cycle has not ended at the platform, and may still be paid")
	case f.busy:
		a.DueAt = l.Now.Add(l.Policy.Poll(a.Polls))
		a.Polls++
		return nil
	case !f.early.IsZero() && a.Failures > 0: // a call before this one was not answered, and may arrive when it is not too early any more
		a.Failures, a.DueAt = 0, l.Now.Add(l.Policy.Settling)
		return nil
	case !f.early.IsZero():
		return l.postpone(a, f.early)
	case !f.moved.IsZero():
		return l.followMove(a, f.moved)
	case f.refused != nil:
		return l.refuse(a, *f.refused)
	case a.Accepted():
		return l.stillPending(a)
	case f.absent && a.PaidElsewhere():
		return l.stop(a, billing.Skipped, activity.DuplicateBillingAttemptDetected, "the platform says that this cycle is paid, by an order that is not ours")
	case f.absent:
		return l.unsent(a, f.UpdatedAt)
	}
	return l.unreachable(a, f.err)
}

// adopt applies what the platform knows of a charge to its attempt.
func (l *settling) adopt(a *billing.Attempt, p *platform.Attempt) error {
	if a.Status == billing.Success {
		if p.State == platform.Succeeded && p.ID != a.PlatformID {
			l.Note(*a, activity.DuplicateBillingAttemptDetected, activity.Failure, billing.EntryInfo{Cycle: a.Cycle, OrderID: p.Order.ID, OrderName: p.Order.Name, Reason: "a second order exists for this cycle"})
		}
		return nil
	}
	if p.State == platform.Succeeded {
		return l.succeed(a, p)
	}
	if p.Key != a.Key || !a.Status.InFlight() {
		return nil // an end that was known already, or that of an earlier try
	}
	l.Changed = append(l.Changed, a.ID)
	known := a.Accepted()
	a.PlatformID = p.ID
	switch p.State {
	case platform.Failed:
		return l.fail(a, p.ErrorCode, p.ErrorMessage)
	case platform.Challenged:
		if a.Status == billing.Challenge {
			return l.stillPending(a)
		}
		if err := a.ChangeStatus(billing.Challenge); err != nil {
			return err
		}
		a.ActionURL, a.Polls = p.NextActionURL, 0
		a.DueAt = l.Now.Add(l.Policy.Poll(0))
		l.lingers(a)
		l.Note(*a, activity.BillingAttemptUpdated, activity.Info, billing.EntryInfo{Cycle: a.Cycle, Reason: "the customer must authenticate the payment"})
		return l.AskToConfirm(a)
	}
	if known {
		return l.stillPending(a)
	}
	a.Failures, a.Polls = 0, 0
	a.DueAt = l.Now.Add(l.Policy.Poll(0))
	return a.ChangeStatus(billing.Progress)
}

// succeed records the order. Success is final.
func (l *settling) succeed(a *billing.Attempt, p *platform.Attempt) error {
	if err := a.ChangeStatus(billing.Success); err != nil {
		return err
	}
	l.Changed = append(l.Changed, a.ID)
	c := l.Contracts[a.Contract]
	a.PlatformID = p.ID
	if a.Try == 0 {
		a.Try, a.Key = 1, p.Key
	}
	a.OrderID, a.OrderName, a.Amount = p.Order.ID, p.Order.Name, p.Amount
	a.ErrorCode, a.ErrorMessage, a.ActionURL = "", "", ""
	if !linesKnown(*a, *c) {
		l.unsure[a.ID] = true
	}
	if len(a.Lines) == 0 {
		a.Lines = c.Lines
	}
	a.DueAt, a.PublishAt = time.Time{}, l.Now // the platform shows the next date
	if a.AttemptedAt.IsZero() {
		a.AttemptedAt = l.Now
	}
	c.Orders++
	c.Lifetime = c.Lifetime.Plus(p.Amount)
	c.Lifetime.Currency = c.Currency
	c.LastOrderID, c.LastOrder = p.Order.ID, p.Order.Name
	c.LastOrderAmount = money.Amount{Minor: p.Amount.Minor, Currency: c.Currency}
	if c.LastOrderAt = p.CompletedAt; c.LastOrderAt.IsZero() {
		c.LastOrderAt = l.Now
	}
	c.LastPayment = "SUCCEEDED"
	l.Refill = append(l.Refill, c.ID)
	l.made = append(l.made, a.ID)
	l.count(*a)
	l.CloseCase(a, dunning.Recovered)
	l.Supersede(*a)
	l.Note(*a, activity.BillingAttemptTriggered, activity.Success, billing.EntryInfo{
		Cycle: a.Cycle, Try: a.Try, OrderID: a.OrderID, OrderName: a.OrderName, Amount: a.Amount.String(), Currency: string(a.Amount.Currency),
	})
	return nil
}

// fail records a definite decline.
func (l *settling) fail(a *billing.Attempt, code, message string) error {
	if err := a.ChangeStatus(billing.Failure); err != nil {
		return err
	}
	a.ErrorCode, a.ErrorMessage = code, message
	if code != dunning.ChallengeExpired { // the platform still holds that one open
		a.ActionURL = ""
	}
	if a.PaidElsewhere() { // the order is looked for at once
		a.DueAt = l.Now
		return nil
	}
	a.DueAt = time.Time{}
	l.count(*a)
	c := l.Contracts[a.Contract]
	c.LastPayment = "FAILED"
	l.Refill = append(l.Refill, c.ID)
	l.Note(*a, activity.BillingAttemptTriggered, activity.Failure, billing.EntryInfo{Cycle: a.Cycle, Try: a.Try, ErrorCode: code, ErrorMessage: message})
	return l.Decline(a, code)
}

// refusals says what the platform's definite "no" makes of an attempt, by its
// code (the schema's BillingAttemptUserErrorCode). Others are failures.
var refusals = map[string]billing.Status{
	"BILLING_CYCLE_SKIPPED": billing.Skipped,
	"CONTRACT_PAUSED":       billing.ContractPaused,
	"CONTRACT_TERMINATED":   billing.ContractCancelled,
}

func (l *settling) refuse(a *billing.Attempt, r platform.Refusal) error {
	if r.Code == "THROTTLED" {
		a.DueAt = l.Now.Add(l.Policy.Throttled)
		return nil
	}
	if status, ok := refusals[r.Code]; ok {
		return l.stop(a, status, activity.BillingAttemptSkipped, r.Message)
	}
	return l.fail(a, r.Code, r.Message)
}

// postpone requeues an attempt that the platform does not accept yet. A charge that a person
// asked for too early waits for its own date. A due one was planned by a calendar that no longer
// agrees with the platform's, as after a change of the policy: its series starts again on the
// first date that the platform accepts, so that later cycles agree. If both mean the same day,
// only the clocks differ, and the date stays.
func (l *settling) postpone(a *billing.Attempt, possible time.Time) error {
	if err := l.requeue(a); err != nil {
		return err
	}
	reason := billing.TooEarlyReason(*a, possible.Add(-billing.ChargeLead))
	a.ErrorMessage = reason
	if a.BillingDate.After(l.Now) {
		l.Note(*a, activity.BillingAttemptTriggered, activity.Failure, billing.EntryInfo{Cycle: a.Cycle, Reason: reason})
		return nil
	}
	cal, err := l.Shop.Calendar()
	if err != nil {
		return err
	}
	before := a.BillingDate
	if cal.At(possible).Equal(before) {
		if a.DueAt = possible.Add(-billing.ChargeLead); a.DueAt.Before(l.Now.Add(l.Policy.InFlight)) {
			a.DueAt = l.Now.Add(l.Policy.InFlight)
		}
		return nil
	}
	if a.BillingDate = cal.At(possible); !a.BillingDate.After(l.Now) {
		a.BillingDate = possible
	}
	a.DueAt = a.BillingDate
	l.Contracts[a.Contract].ReplaceSeries(contract.Series{Cycle: a.Cycle, Start: a.BillingDate})
	l.Redate = append(l.Redate, a.Contract)
	l.Note(*a, activity.NextBillingDateChange, activity.Info, billing.EntryInfo{
		Cycle: a.Cycle, From: before.Format(time.RFC3339), To: a.BillingDate.Format(time.RFC3339), Reason: reason,
	})
	return nil
}

// followMove gives an attempt the date that its cycle has after an edit at the platform. Later
// orders keep theirs.
func (l *settling) followMove(a *billing.Attempt, to time.Time) error {
	cal, err := l.Shop.Calendar()
	if err != nil {
		return err
	}
	if err := l.requeue(a); err != nil {
		return err
	}
	before := a.BillingDate
	a.BillingDate, a.Moved = cal.At(to), true
	a.DueAt = a.BillingDate
	l.Entries = append(l.Entries, billing.NewEntry(*a, activity.NextBillingDateChange, activity.Success, activity.Platform, l.Now, billing.EntryInfo{
		Cycle: a.Cycle, From: before.Format(time.RFC3339), To: a.BillingDate.Format(time.RFC3339),
	}))
	return nil
}

// requeue puts an attempt whose charge was not sent back into the queue.
func (l *settling) requeue(a *billing.Attempt) error {
	if err := withdraw(a); err != nil {
		return err
	}
	l.Requeued = append(l.Requeued, a.Contract)
	l.CloseCase(a, dunning.Lost)
	l.Refill = append(l.Refill, a.Contract)
	return nil
}

// stop ends an attempt without a charge, unless it waits for its date again.
func (l *settling) stop(a *billing.Attempt, as billing.Status, event activity.EventType, reason string) error {
	if decide.Outlives(*a, as, l.Now) {
		l.Note(*a, activity.BillingAttemptTriggered, activity.Failure, billing.EntryInfo{Cycle: a.Cycle, Reason: reason})
		return l.requeue(a)
	}
	if err := a.EndWithoutCharge(as, billing.Record{Attempt: *a, Of: *l.Contracts[a.Contract]}); err != nil {
		return err
	}
	a.DueAt = time.Time{}
	if a.ErrorMessage = reason; event == activity.DuplicateBillingAttemptDetected {
		l.CloseCase(a, dunning.Recovered)
	} else {
		l.CloseCase(a, dunning.Lost)
	}
	l.Refill = append(l.Refill, a.Contract)
	l.Note(*a, event, activity.Skipped, billing.EntryInfo{Cycle: a.Cycle, Reason: reason})
	return nil
}

// lingers lets the contract of a charge that has no outcome yet go on: its queue is filled, and
// its next date is that of the next order. Most charges end at once and do so then.
func (l *settling) lingers(a *billing.Attempt) { l.Refill = append(l.Refill, a.Contract) }

// stillPending schedules the next poll. A challenge that the customer does not answer in time
// fails; a charge that the platform does not end in time becomes PlatformException, and is
// polled further.
func (l *settling) stillPending(a *billing.Attempt) error {
	if a.Polls == 0 {
		l.lingers(a)
	}
	a.Polls++
	a.DueAt = l.Now.Add(l.Policy.Poll(a.Polls))
	if l.Now.Sub(a.SentAt) < l.Policy.Horizon || a.Status == billing.PlatformException {
		return nil
	}
	if a.Status == billing.Challenge {
		return l.fail(a, dunning.ChallengeExpired, fmt.Sprintf("the customer has not authenticated the payment within %s", l.Policy.Horizon))
	}
	if err := a.ChangeStatus(billing.PlatformException); err != nil {
		return err
	}
	a.ErrorMessage = fmt.Sprintf("the platform has not ended this charge within %s", l.Policy.Horizon)
	l.Note(*a, activity.BillingAttemptNotification, activity.Failure, billing.EntryInfo{Cycle: a.Cycle, Reason: a.ErrorMessage})
	return nil
}

// unsent handles a try that the platform has not received, if it was asked late enough after the
// last send. What blocked the charge may block it for good, and a newer order that has fallen
// due since then is charged instead.
func (l *settling) unsent(a *billing.Attempt, asked time.Time) error {
	c := l.Contracts[a.Contract]
	stop, status, reason := decide.Blocked(*a, decide.Inputs{Shop: l.Shop, Contract: *c})
	if !stop {
		reason, stop = decide.Missed(*a, l.others[a.Contract], l.Now)
		status = billing.Skipped
	}
	if stop && asked.Sub(a.SentAt) >= l.Policy.Settling {
		return l.stop(a, status, activity.BillingAttemptSkipped, reason)
	}
	a.DueAt = a.SentAt.Add(l.Policy.Settling)
	if l.Shop.Guard.BlockReason(l.Now) != "" { // it may only be asked for
		a.DueAt = l.Now.Add(l.Policy.Repair)
	}
	if !a.DueAt.After(l.Now) {
		a.DueAt = l.Now
	}
	return nil
}

// unreachable counts a call without an answer. The key stays, because the charge may have been
// made.
func (l *settling) unreachable(a *billing.Attempt, cause error) error {
	if errors.Is(cause, platform.ErrThrottled) {
		a.DueAt = l.Now.Add(l.Policy.Throttled)
		return nil
	}
	if errors.Is(cause, platform.ErrDisconnected) {
		l.Disconnected = true
	}
	if a.Status != billing.Requesting { // a poll: its own waits apply
		return l.stillPending(a)
	}
	a.Failures++
	if a.Failures <= len(l.Policy.Retries) {
		a.DueAt = l.Now.Add(l.Policy.Retries[a.Failures-1])
		return nil
	}
	if err := a.ChangeStatus(billing.PlatformException); err != nil {
		return err
	}
	a.DueAt = l.Now.Add(l.Policy.Repair)
	a.ErrorMessage = "the platform could not be reached; the charge is repeated with the same key, or adopted, as soon as it answers"
	l.lingers(a)
	if a.Failures == len(l.Policy.Retries)+1 {
		l.Note(*a, activity.BillingAttemptTriggered, activity.PartialFailure, billing.EntryInfo{Cycle: a.Cycle, Try: a.Try, Reason: a.ErrorMessage})
	}
	return nil
}
