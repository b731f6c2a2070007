package lifecycle

import (
	"time"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

// Maximum lengths of texts about a pause or a cancellation, in characters.
const (
	MaxFeedback         = 500
	MaxCancellationNote = 1000
)

// MaxPauseCycles is the maximum length of a pause, in orders.
const MaxPauseCycles = 365

// StatusChange is a requested change of a contract's status.
type StatusChange struct {
	To contract.Status

	// Of a pause.
	Until    time.Time // when it ends automatically; zero: never
	Cycles   int       // or: how many orders it skips; 0: not given in orders
	Reason   string
	Feedback string // of the customer, also about a cancellation

	// Of a cancellation.
	Note string
	Now  bool // take effect at once, even if paid deliveries are still to come
	// CutoffDays is how many days before an order its changes are closed: a cancellation within them
	// takes effect after the order. 0: never.
	CutoffDays int

	Moved bool // the contract is between two services, and one of its move's steps changes it

	// Of an activation: when the contract is activated; zero: now.
	From time.Time
}

// Check refuses texts that are too long and dates that cannot be.
func (w StatusChange) Check(now time.Time) error {
	for _, text := range []struct {
		field, text string
		most        int
	}{{"cancellationFeedback", w.Feedback, MaxFeedback}, {"cancellationNote", w.Note, MaxCancellationNote}, {"pauseReason", w.Reason, MaxFeedback}} {
		if utf8.RuneCountInString(text.text) > text.most {
			return fault.New(fault.Invalid, "%s is longer than %d characters", text.field, text.most).Entity(amend.Entity).Field(text.field)
		}
	}
	past := func(field string, t time.Time) error {
		return fault.New(fault.Invalid, "%s %s is in the past", field, t.UTC().Format(time.RFC3339)).Entity(amend.Entity).Code("datePast").Field(field)
	}
	switch {
	case !w.From.IsZero() && w.From.Before(now.Add(-billing.PastTolerance)):
		return past("activationDate", w.From)
	case w.Cycles < 0 || w.Cycles > MaxPauseCycles:
		return fault.New(fault.Invalid, "pauseDurationCycle is %d and must be from 1 to %d", w.Cycles, MaxPauseCycles).Entity(amend.Entity).Field("pauseDurationCycle")
	case w.Cycles > 0 && !w.Until.IsZero():
		return fault.New(fault.Invalid, "send either pauseTillDate or pauseDurationCycle").Entity(amend.Entity).Field("pauseDurationCycle")
	case !w.Until.IsZero() && !w.Until.After(now):
		return past("pauseTillDate", w.Until)
	}
	if err := amend.CheckTooFar(w.From, now, "activationDate"); err != nil {
		return err
	}
	return amend.CheckTooFar(w.Until, now, "pauseTillDate")
}

// activationDeferred is the entry of a scheduled activation.
func activationDeferred(c contract.Contract, by activity.Actor, now time.Time) activity.Entry {
	return activity.Entry{
		EntityID: int64(c.ID), EntityType: activity.EntitySubscriptionContractDetails, Event: activity.ContractActivationDeferred, Status: activity.Success,
		Actor: by, At: now, Info: activity.Details(deferredDetails{Until: c.Pause.Until}),
	}
}

type deferredDetails struct {
	Until time.Time `json:"pauseTillDate"`
}
