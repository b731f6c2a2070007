package explain

import (
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/dunning"
)

// TryReport is one charge of a cycle. Of tries before the latest one only their
// keys and their ends are kept.
type TryReport struct {
	Number       int
	Key          string // idempotency key
	State        TryState
	AskedBy      activity.Actor // the person who asked for it; the zero actor: no person did
	AskedAt      time.Time
	FirstSentAt  time.Time // zero: not sent, or not kept
	SentAt       time.Time // for the last time
	EndedAt      time.Time // when its end was learned; zero: not, or not kept
	PlatformID   string    // graph id of the platform's attempt
	ErrorCode    string
	ErrorMessage string
	Words        string
}

// TryState is what is known of a try.
type TryState string

// The states of tries.
const (
	TryNotSent    TryState = "NOT_SENT"
	TryUnknown    TryState = "UNKNOWN" // sent, without an answer
	TryPending    TryState = "PENDING" // accepted
	TryChallenged TryState = "CHALLENGED"
	TryFailed     TryState = "FAILED"
	TrySucceeded  TryState = "SUCCEEDED"
	TryDropped    TryState = "DROPPED" // the platform has no charge for it, and it is not sent again
)

// TryStates lists every state.
var TryStates = []TryState{TryNotSent, TryUnknown, TryPending, TryChallenged, TryFailed, TrySucceeded, TryDropped}

func (f Facts) explainTries(history []happening) []TryReport {
	tries := make([]TryReport, f.Try)
	for i := range tries {
		t := &tries[i]
		t.Number, t.Key, t.State = i+1, billing.KeyOf(f.Shop.Domain, f.Contract, f.Cycle, i+1), TryFailed
		for _, h := range history {
			switch {
			case h.told.Try != t.Number:
			case h.what == askedFor:
				t.AskedBy, t.AskedAt = h.Actor, h.At
			case h.what == failed:
				t.EndedAt, t.ErrorCode, t.ErrorMessage = h.At, h.told.ErrorCode, h.told.ErrorMessage
			case h.what == charged:
				t.EndedAt = h.At
			}
		}
		if t.Number == f.Try {
			f.latest(t)
		} else if t.ErrorCode == "" && f.PaidElsewhere() && t.EndedAt.IsZero() {
			t.ErrorCode = f.ErrorCode // no entry has it
		}
		t.Words = f.tryWords(*t)
	}
	return tries
}

// latest adds what is known of the latest try alone.
func (f Facts) latest(t *TryReport) {
	t.Key, t.FirstSentAt, t.SentAt, t.PlatformID = f.Key, f.FirstSentAt, f.SentAt, f.PlatformID
	switch {
	case f.FirstSentAt.IsZero() && f.Status != billing.Failure && f.Status != billing.SkippedDunning:
		t.State = TryNotSent // an order that exists was made by another charge
	case f.Status == billing.Success:
		t.State, t.ErrorCode, t.ErrorMessage = TrySucceeded, "", ""
	case f.Status == billing.Failure, f.Status == billing.SkippedDunning:
		t.State, t.ErrorCode, t.ErrorMessage = TryFailed, f.ErrorCode, f.ErrorMessage
	case f.Status == billing.Challenge:
		t.State = TryChallenged
	case f.Accepted():
		t.State = TryPending
	case f.Status.InFlight():
		t.State = TryUnknown
	default:
		t.State = TryDropped
	}
}

func (f Facts) tryWords(t TryReport) string {
	words := fmt.Sprintf("Try %d", t.Number)
	if !t.AskedAt.IsZero() {
		words += fmt.Sprintf(", for which %s asked at %s,", actorName(t.AskedBy), f.moment(t.AskedAt))
	}
	switch {
	case t.ErrorCode == dunning.EarlierChargeOpen:
		words += " was not sent: the platform was asked"
		if !t.FirstSentAt.IsZero() {
			words += fmt.Sprintf(", from %s on,", f.moment(t.FirstSentAt))
		}
		return words + fmt.Sprintf(" and holds an earlier charge of the cycle that has not ended (%s).", t.ErrorCode)
	case t.FirstSentAt.IsZero() && t.State == TryNotSent:
		return words + " has not been sent."
	case t.FirstSentAt.IsZero():
	case t.SentAt.Equal(t.FirstSentAt):
		words += fmt.Sprintf(" was sent at %s and", f.moment(t.SentAt))
	default:
		words += fmt.Sprintf(" was sent at %s, for the last time at %s, under the same key, and", f.moment(t.FirstSentAt), f.moment(t.SentAt))
	}
	switch t.State {
	case TrySucceeded:
		return words + " made the order."
	case TryFailed:
		if words += " failed"; !t.EndedAt.IsZero() {
			words += ", which was learned at " + f.moment(t.EndedAt)
		}
		return words + ": " + answered(t.ErrorCode, t.ErrorMessage) + "."
	case TryChallenged:
		return words + " was taken by the platform, which waits for the customer to confirm the payment." + f.polled()
	case TryPending:
		return words + " was taken by the platform, which has not ended it." + f.polled()
	case TryDropped:
		return words + " is not sent again: the platform made no order for it."
	}
	if f.Failures > 0 {
		return words + fmt.Sprintf(" %s: the platform has not been reached %s.", unanswered, times(f.Failures))
	}
	return words + " " + unanswered + "."
}

// unanswered says that the outcome of a try is not known.
const unanswered = "has no answer yet that says what became of it"

func (f Facts) polled() string {
	if f.Polls == 0 {
		return ""
	}
	return fmt.Sprintf(" It has been asked for the end %s.", times(f.Polls))
}
