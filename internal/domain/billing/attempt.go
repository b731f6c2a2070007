// Package billing charges every due cycle of every contract exactly once. It
// keeps a queue of upcoming attempts, sends what is due to the platform, and
// settles what the platform answers, whichever way the answer comes.
package billing

import (
	"time"

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
	DueAt       time.Time // when the service must act on it next; zero: never automatically
	PublishAt   time.Time // when to publish a skip, an unskip or a date at the platform; zero: it is published
	// PublishLeaseUntil is when the lease of the worker that publishes the attempt ends; past or
	// zero: no worker publishes it.
	PublishLeaseUntil time.Time

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
	Amount    money.Amount        // of that or, of a skipped order, what it would have cost; zero before
	Lines     []contract.LineItem // as they were charged, skipped or prepared; empty before
	// Expected is the expected amount of the order, before taxes, in minor units of the contract's
	// currency. The store keeps it (ExpectedOf) until the order is made.
	Expected int64

	Note  string // for this order only
	Flags contract.Flags
	Prep  Preparation

	Dunning dunning.Case // of its declines

	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int64
}

// Accepted reports whether the platform has the try and has not ended it.
func (a Attempt) Accepted() bool {
	return a.Status == Progress || a.Status == Challenge || a.Status == PlatformException && a.PlatformID != ""
}

// Sent reports whether the present try has been sent.
func (a Attempt) Sent() bool { return a.Status.InFlight() && !a.FirstSentAt.IsZero() }

// HoldsBack reports whether other cycles of the contract must wait for the attempt, because
// its charge may exist. A charge that the platform has accepted and not ended for long is
// known, and holds nothing back.
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

// SkipsAhead reports whether the attempt is skipped and its date is in the future: the skip can
// be undone.
func (a Attempt) SkipsAhead(now time.Time) bool {
	return a.Status == Skipped && a.BillingDate.After(now)
}
