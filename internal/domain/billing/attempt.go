// Package billing charges every due cycle of every contract exactly once. It
// keeps a queue of upcoming attempts, sends what is due to the platform, and
// settles what the platform answers, whichever way the answer comes.
package billing

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
)

// AttemptID is the service's number of a billing attempt, unique within a shop.
type AttemptID int64

// Attempt is the charge of one cycle of one contract, from the queue to its
// end. There is at most one for a cycle, ever.
type Attempt struct {
	ID       AttemptID
	Contract contract.ID
	Cycle    int // the platform's index, from 1
	Status   Status

	BillingDate time.Time // when the order is due
	Moved       bool      // a person chose the date: the calendar leaves it alone
	DueAt       time.Time // when the service must act on it next; zero: never by itself
	PublishAt   time.Time // when to tell the platform of a skip, an unskip or a date; zero: it knows
	// TellingUntil is until when whoever began to tell the platform does so alone;
	// past or zero: nobody does.
	TellingUntil time.Time

	Try         int       // which charge of the cycle this is, from 1; 0 before the first
	Key         string    // idempotency key of the try
	FirstSentAt time.Time // of the try, zero when it was not sent
	SentAt      time.Time // last time the try was sent
	Failures    int       // calls for the try that found the platform unreachable
	Polls       int       // questions after an accepted try that found it still pending
	Manual      bool      // a person asked for the try
	AttemptedAt time.Time // when the try was started

	PlatformID   string // graph id of the platform's attempt
	ErrorCode    string // of the last failure
	ErrorMessage string
	ActionURL    string // where the customer authenticates, while a challenge is open at the platform

	OrderID   int64 // of the successful charge
	OrderName string
	Amount    money.Amount    // of that or, of an order that is left out, what it would have come to; none before
	Lines     []contract.Line // as they were charged or left out, or as the order was prepared; empty before

	Note  string // for this order only
	Flags contract.Flags
	Prep  Preparation

	Dunning dunning.Case // what is, or was, done about declines

	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int64
}

// Status is how far an attempt is.
type Status string

// The attempt statuses of the interface.
const (
	Success            Status = "SUCCESS"
	Failure            Status = "FAILURE"
	Requesting         Status = "REQUESTING"
	Progress           Status = "PROGRESS"
	Queued             Status = "QUEUED"
	Skipped            Status = "SKIPPED"
	ConnectionGone     Status = "SOCIAL_CONNECTION_NULL"
	ContractCancelled  Status = "CONTRACT_CANCELLED"
	ContractEnded      Status = "CONTRACT_ENDED"
	ContractPaused     Status = "CONTRACT_PAUSED"
	AutoChargeDisabled Status = "AUTO_CHARGE_DISABLED"
	SkippedDunning     Status = "SKIPPED_DUNNING_MGMT"
	Challenge          Status = "SECURITY_CHALLENGE"
	PlatformException  Status = "SHOPIFY_EXCEPTION"
)

// Statuses lists every status, in the order of the interface.
var Statuses = []Status{
	Success, Failure, Requesting, Progress, Queued, Skipped, ConnectionGone, ContractCancelled, ContractEnded,
	ContractPaused, AutoChargeDisabled, SkippedDunning, Challenge, PlatformException,
}

// Open lists the statuses of attempts whose order may still be made by itself.
var Open = []Status{Queued, Requesting, Progress, Challenge, PlatformException}

// spellings are other names of statuses that callers may send.
var spellings = map[string]Status{"SCHEDULED": Queued, "PROCESSING": Progress, "FAILED": Failure}

// ParseStatus reads a status in any letter case and spelling.
func ParseStatus(s string) (Status, error) {
	upper := strings.ToUpper(s)
	if known, ok := spellings[upper]; ok {
		return known, nil
	}
	for _, known := range Statuses {
		if upper == string(known) {
			return known, nil
		}
	}
	return "", fault.New(fault.Invalid, "%q is not a billing attempt status", s).Field("status")
}

// next lists every move between statuses. Success has none: it never changes.
var next = map[Status][]Status{
	Queued: {
		Requesting, Skipped, Success, ConnectionGone, ContractCancelled, ContractEnded, ContractPaused, AutoChargeDisabled, SkippedDunning,
	},
	Requesting: {
		Requesting, Queued, Progress, Success, Failure, Challenge, PlatformException, Skipped,
		ConnectionGone, ContractCancelled, ContractEnded, ContractPaused,
	},
	Progress:          {Success, Failure, Challenge, PlatformException},
	Challenge:         {Success, Failure},
	Failure:           {Requesting, Success, SkippedDunning},
	PlatformException: {Requesting, Progress, Success, Failure, Challenge, Skipped, ConnectionGone, ContractCancelled, ContractEnded, ContractPaused},
	Skipped:           {Queued, Success},

	// The platform's word that an order exists outranks what we believed.
	ConnectionGone:     {Requesting, Success},
	ContractCancelled:  {Success},
	ContractEnded:      {Success},
	ContractPaused:     {Success},
	AutoChargeDisabled: {Requesting, Success},
	SkippedDunning:     {Success},
}

// move changes the status, or says why it cannot.
func (a *Attempt) move(to Status) error {
	for _, allowed := range next[a.Status] {
		if allowed == to {
			a.clearSkippedAmount()
			a.Status = to
			return nil
		}
	}
	return fault.New(fault.FailedPrecondition, "billing attempt %d is %s and cannot become %s", a.ID, a.Status, to).
		Entity("subscriptionBillingAttempt").Code("billingAttemptStatus")
}

// endWithoutCharge ends an attempt without a charge, and notes what its order would have come
// to. Ahead is how many of the contract's orders come before it.
func (a *Attempt) endWithoutCharge(as Status, of contract.Contract, ahead int) error {
	was := *a
	if err := a.move(as); err != nil {
		return err
	}
	a.RecordSkippedAmount(Record{Attempt: was, Of: of, Ahead: ahead})
	return nil
}

// RecordSkippedAmount notes what the order of an attempt that is left out would have come to, by the
// record that it had before: the contract may change, and that does not. A late success
// is of what was sent.
func (a *Attempt) RecordSkippedAmount(was Record) {
	lines := was.LinesOf()
	if !was.FirstSentAt.IsZero() && len(was.Lines) > 0 {
		lines = was.Lines
	} else if !was.settled() {
		a.unready()
	}
	a.Lines, a.Amount = lines, was.Of.Cost(lines, a.Cycle, was.Ahead)
}

// clearSkippedAmount forgets what an order would have come to that is no longer left out.
func (a *Attempt) clearSkippedAmount() {
	if a.Status == Success || a.Amount == (money.Amount{}) {
		return
	}
	a.Amount = money.Amount{}
	if a.FirstSentAt.IsZero() && a.Prep.Stage != Ready {
		a.Lines = nil
	}
}

// InFlight reports whether a charge may exist at the platform of which the end
// is not known.
func (s Status) InFlight() bool {
	return s == Requesting || s == Progress || s == Challenge || s == PlatformException
}

// accepted reports whether the platform has the try and has not ended it.
func (a Attempt) accepted() bool {
	return a.Status == Progress || a.Status == Challenge || a.Status == PlatformException && a.PlatformID != ""
}

// sent reports whether the present try has been sent.
func (a Attempt) sent() bool { return a.Status.InFlight() && !a.FirstSentAt.IsZero() }

// HoldsBack reports whether other cycles of the contract must wait for the
// attempt: its charge may exist and nobody knows. One that the platform has
// accepted and not ended for long is known, and holds nothing back.
func (a Attempt) HoldsBack() bool {
	return a.Status.InFlight() && !(a.Status == PlatformException && a.PlatformID != "")
}

// Precedes reports whether the attempt's order is made before another one of the
// contract, should nothing come between.
func (a Attempt) Precedes(o Attempt) bool {
	switch {
	case a.Status.InFlight() != o.Status.InFlight():
		return a.Status.InFlight()
	case !a.BillingDate.Equal(o.BillingDate):
		return a.BillingDate.Before(o.BillingDate)
	}
	return a.Cycle < o.Cycle
}

// Upcoming reports whether the attempt still waits for its date.
func (s Status) Upcoming() bool { return s == Queued }

// SkipsAhead reports whether the attempt is skipped and its date is still to come: the
// skip can be taken back, and the cycle is not behind the contract.
func (a Attempt) SkipsAhead(now time.Time) bool {
	return a.Status == Skipped && a.BillingDate.After(now)
}

// KeyOf returns the idempotency key of a try. It is a pure function of what the
// charge is, so that a restored database, another node or a repeated job cannot
// ask for the same charge under another name.
func KeyOf(shopDomain string, c contract.ID, cycle, try int) string {
	text := fmt.Sprintf("%s|%s|%d|%d", shopDomain, gid.Of("SubscriptionContract", int64(c)), cycle, try)
	sum := sha256.Sum256([]byte(text))
	return "prn1-" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:20]))
}
