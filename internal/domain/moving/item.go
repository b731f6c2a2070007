package moving

import (
	"errors"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
)

// Stage is how far the move of one contract is.
type Stage string

// The stages, in their order. Until the contract is stopped, the service that is left charges it,
// and from then on the one that it is moved to, once the fence is taken away.
const (
	Found      Stage = "FOUND"      // listed
	Shadow     Stage = "SHADOW"     // read: what would be charged here is compared with what is charged there
	Chosen     Stage = "CHOSEN"     // by a wave
	Stopping   Stage = "STOPPING"   // is being stopped where it is
	Making     Stage = "MAKING"     // is stopped, nothing is under way; is being made where it goes
	Made       Stage = "MADE"       // is there behind a fence; its dates and one-time products are being taken over
	Cancelling Stage = "CANCELLING" // is being cancelled where it was
	Opening    Stage = "OPENING"    // is cancelled where it was; the fence is being taken away
	Moved      Stage = "MOVED"      // the end
	Returning  Stage = "RETURNING"  // is being given back to where it was
	Staying    Stage = "STAYING"    // cannot be moved, or has ended
)

// Stages lists them in order.
var Stages = []Stage{Found, Shadow, Chosen, Stopping, Making, Made, Cancelling, Opening, Moved, Returning, Staying}

// next lists the stages that may follow each.
var next = map[Stage][]Stage{
	Found:      {Shadow, Staying},
	Shadow:     {Chosen, Staying},
	Chosen:     {Stopping, Making, Shadow, Staying}, // those of a file were stopped before
	Stopping:   {Making, Returning},
	Making:     {Made, Returning},
	Made:       {Cancelling, Opening, Returning},
	Cancelling: {Opening, Returning},
	Opening:    {Moved},
	Returning:  {Shadow},
	Staying:    {Shadow},
}

// UnderWay reports whether the contract is between the two services: neither charges it until the
// move has come to its end or was taken back.
func (s Stage) UnderWay() bool {
	switch s {
	case Stopping, Making, Made, Cancelling, Opening, Returning:
		return true
	}
	return false
}

// Returnable reports whether the contract can still be given back to where it was.
func (s Stage) Returnable() bool { return s == Stopping || s == Making || s == Made }

// Fit says what the dry run found about a contract.
type Fit string

// The fits, from the best to the worst.
const (
	Goes    Fit = "GOES"
	Changes Fit = "CHANGES" // it goes with differences
	Stays   Fit = "STAYS"   // it cannot go
)

// Finding is something that is not carried over as it is.
type Finding struct {
	Fit   Fit    `json:"fit"`
	Code  string `json:"code"`            // stable name of the rule
	Field string `json:"field,omitempty"` // of the contract
	Text  string `json:"text"`            // what it is, and what to do
}

// Findings collects findings.
type Findings []Finding

// Add adds one.
func (f *Findings) Add(fit Fit, code, field, format string, args ...any) {
	*f = append(*f, Finding{Fit: fit, Code: code, Field: field, Text: fmt.Sprintf(format, args...)})
}

// Item is a contract in a move.
type Item struct {
	Move  ID
	There int64 // its number at the service that is left
	Stage Stage
	Fit   Fit // empty: not known yet

	Contract Contract // as it was read last; the zero value after it was forgotten
	Findings []Finding
	Plan     Order // the next order as this service would charge it
	Coming   Coming

	Round      int       // how often it was given back
	Here       int64     // its number at the service that it is moved to; 0: none yet
	Unanswered bool      // it is given back, and no answer said whether it was created
	DueAt      time.Time // when a worker goes on with it; zero: never
	Failures   int       // in a row
	Code       string    // of the last failure
	Reason     string
	Since      time.Time // when it entered its stage
	EndedAt    time.Time // when it was moved
}

// Order is what an order is expected to be.
type Order struct {
	Date   time.Time    `json:"date,omitzero"` // zero: none is to come
	Amount money.Amount `json:"amount,omitzero"`
	Lines  []Sold       `json:"lines,omitempty"`
}

// Coming is what is charged in the next ComingDays days, in minor units.
type Coming struct {
	Here        int64 // by this service, if the contract were here
	HereOrders  int
	There       int64 // by the other service, as it says
	ThereOrders int
}

// ComingDays is for how many days both services are compared.
const ComingDays = 30

// Enter moves the item to another stage.
func (i *Item) Enter(to Stage, now time.Time) error {
	for _, allowed := range next[i.Stage] {
		if allowed == to {
			i.Unanswered = i.Stage == Making && to == Returning
			i.Stage, i.Since, i.DueAt, i.Failures = to, now, now, 0
			if to == Moved || to == Staying {
				i.DueAt = time.Time{}
			}
			if to == Moved {
				i.EndedAt = now
			}
			return nil
		}
	}
	return fault.New(fault.Internal, "a contract that is %s cannot become %s", i.Stage, to)
}

// Key names the creation of the contract at the service that it is moved to: repeated under the
// same key, it is the same contract.
func (i Item) Key() string { return fmt.Sprintf("move-%d-%d-%d", i.Move, i.There, i.Round) }

// Judge judges the item by findings.
func (i *Item) Judge(found []Finding) {
	i.Findings, i.Fit = found, fitOf(found)
}

// Fail notes a failure and when it is tried again.
func (i *Item) Fail(err error, again time.Time) {
	i.Failures++
	i.DueAt = again
	i.Code, i.Reason = fault.KindOf(err).String(), "the service failed: its log says why"
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Kind != fault.Internal {
		i.Reason = f.Message
		if f.ErrorKey != "" {
			i.Code = f.ErrorKey
		}
	}
}

// Forget drops what was read of the customer, once the contract is moved.
func (i *Item) Forget() {
	i.Contract = Contract{ID: i.Contract.ID, Line: i.Contract.Line, Currency: i.Contract.Currency, ImportedID: i.Contract.ImportedID}
}
