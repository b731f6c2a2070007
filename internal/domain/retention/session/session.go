// Package session is a customer's way through the flow of cancelling: the question why, at
// most one offer, the confirmation, and what came of it. Contracts are changed by the
// services that change them for the API; a session ends in the commit of that change.
package session

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/retention"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
)

// entity is the entity that errors of this package name.
const entity = "cancelSession"

// ID identifies a session within a shop.
type ID int64

// Step is where a session is.
type Step string

// The steps.
const (
	Reading    Step = "INSTRUCTIONS"
	Asking     Step = "REASON"
	Offering   Step = "OFFER"
	Confirming Step = "CONFIRM"
	Accepting  Step = "ACCEPTING"  // the offer is being carried out
	Cancelling Step = "CANCELLING" // the contract is being cancelled
	Ended      Step = "ENDED"
)

// next lists the moves of a session. A customer may cancel, or keep the contract, at every
// step; what is being carried out and turns out to be refused goes back.
var next = map[Step][]Step{
	Reading:    {Confirming, Cancelling, Ended},
	Asking:     {Asking, Offering, Confirming, Cancelling, Ended},
	Offering:   {Asking, Accepting, Confirming, Cancelling, Ended},
	Confirming: {Asking, Cancelling, Ended},
	Accepting:  {Accepting, Offering, Cancelling, Ended},
	Cancelling: {Cancelling, Confirming, Ended},
}

// Outcome is how a session ended.
type Outcome string

// The outcomes.
const (
	Accepted  Outcome = "ACCEPTED"
	Kept      Outcome = "KEPT"      // the customer said so
	Abandoned Outcome = "ABANDONED" // the customer went away, and the contract goes on
	Scheduled Outcome = "CANCEL_SCHEDULED"
	Cancelled Outcome = "CANCELLED"
)

// Outcomes lists the outcomes.
var Outcomes = []Outcome{Accepted, Kept, Abandoned, Scheduled, Cancelled}

// Arm is the side of the comparison on which a customer is.
type Arm string

// The arms. A customer is in the comparison once for each version of the flow, with the
// first session that had an offer to make.
const (
	None     Arm = ""
	Treated  Arm = "TREATED"   // the offer was made
	HeldBack Arm = "HELD_BACK" // it was not, for comparison
)

// MaxComment is how many characters a customer can write.
const MaxComment = 500

// timeout is how long a session waits for its customer.
const timeout = 24 * time.Hour

// Move is one step that was taken, as it is reported.
type Move struct {
	Step   Step      `json:"step"`
	At     time.Time `json:"at"`
	Choice string    `json:"choice,omitempty"`
}

// maxMoves is how many steps of a session are kept.
const maxMoves = 40

// Session is one customer's way through a flow.
type Session struct {
	ID       ID
	Contract contract.ID
	Customer int64
	Flow     int // the version
	Step     Step
	Outcome  Outcome // empty until it ends
	Action   string  // the retention action that it ended with
	Reason   string  // key; empty: not said
	Comment  string
	Offer    *Proposal // that was made, or held back; nil: none
	Arm      Arm
	Moves    []Move

	PlanGroup int64 // of the contract, when the session began; 0: none of the store's
	Orders    int   // that the contract had completed then

	StartedAt  time.Time
	OfferedAt  time.Time // when the offer was shown; zero: none was
	AcceptedAt time.Time // when the customer accepted it; zero: never
	DueAt      time.Time // when it ends without its customer; zero: it has ended
	EndedAt    time.Time
	LostAt     time.Time // when the contract ended for good; zero: it has not
	Version    int64
}

// Proposal is an offer as it was made to one customer: what accepting it does, and when.
type Proposal struct {
	flow.Offer
	Choices []Choice     `json:"choices,omitempty"` // the customer takes one; empty: there is nothing to choose
	Skips   []Skipped    `json:"skips,omitempty"`   // orders that are not made
	Until   time.Time    `json:"until,omitzero"`    // when a pause ends
	Order   int64        `json:"order,omitempty"`   // the attempt that is moved, or gets the sample
	Next    time.Time    `json:"next,omitzero"`     // the next order afterwards; zero: not known
	Pays    money.Amount `json:"pays,omitzero"`     // for it, before taxes; no currency: not known
	Was     money.Amount `json:"was,omitzero"`      // for the next order as it is
	Costs   money.Amount `json:"costs,omitzero"`    // what a discount comes to, over its orders
	Contact string       `json:"contact,omitempty"` // of support
	Chosen  string       `json:"chosen,omitempty"`  // key of the choice that was taken
}

// Choice is one of the things that an offer can be.
type Choice struct {
	Key      string       `json:"key"`
	Title    string       `json:"title"`
	Image    string       `json:"image,omitempty"`
	Line     string       `json:"line,omitempty"` // graph id of the line that changes
	Variant  int64        `json:"variant,omitempty"`
	Quantity int          `json:"quantity,omitempty"`
	Plan     int64        `json:"plan,omitempty"`  // the selling plan
	Pays     money.Amount `json:"pays,omitzero"`   // for the next order, before taxes
	Every    string       `json:"every,omitempty"` // frequency, such as "2 MONTH"
}

// Skipped is an order that is not made.
type Skipped struct {
	Attempt billing.AttemptID `json:"attempt"`
	Date    time.Time         `json:"date"`
	Amount  money.Amount      `json:"amount"`
}

// choice returns the choice with a key. Without choices every key fits.
func (p Proposal) choice(key string) (Choice, bool) {
	if len(p.Choices) == 0 {
		return Choice{}, true
	}
	at := slices.IndexFunc(p.Choices, func(c Choice) bool { return c.Key == key })
	if at < 0 {
		return Choice{}, false
	}
	return p.Choices[at], true
}

// Open reports whether the session waits for something.
func (s Session) Open() bool { return s.Step != Ended }

// Saved reports whether the contract went on when the session ended.
func (o Outcome) Saved() bool { return o == Accepted || o == Kept || o == Abandoned }

// move takes the session to another step.
func (s *Session) move(to Step, choice string, now time.Time) error {
	if !slices.Contains(next[s.Step], to) {
		return s.wrongStep()
	}
	s.Moves = append(slices.Clone(s.Moves), Move{s.Step, now, choice})
	if len(s.Moves) > maxMoves {
		s.Moves = s.Moves[len(s.Moves)-maxMoves:]
	}
	s.Step = to
	return nil
}

// wrongStep refuses what the session's step does not have.
func (s Session) wrongStep() error {
	if s.Step == Ended {
		return fault.New(fault.FailedPrecondition, "the session ended at %s with %s: start another one", s.EndedAt.UTC().Format(time.RFC3339), s.Outcome).Entity(entity).Code("cancelSessionEnded")
	}
	return fault.New(fault.FailedPrecondition, "the session is at the step %s", s.Step).Entity(entity).Code("cancelSessionStep")
}

// end ends the session.
func (s *Session) end(o Outcome, action, choice string, now time.Time) error {
	if err := s.move(Ended, choice, now); err != nil {
		return err
	}
	s.Outcome, s.Action, s.EndedAt, s.DueAt = o, action, now, time.Time{}
	if o == Cancelled {
		s.LostAt = now
	}
	return nil
}

// actions are the retention actions of accepted offers.
var actions = map[flow.Kind]string{
	flow.Skip: retention.Skipped, flow.Pause: retention.Paused, flow.Discount: retention.DiscountApplied, flow.Swap: retention.ProductSwapped,
	flow.Frequency: retention.FrequencyChanged, flow.Quantity: retention.QuantityChanged, flow.Reschedule: retention.Rescheduled,
	flow.Sample: retention.Kept, flow.Support: retention.ContactedSupport, flow.PaymentLink: retention.Kept,
}

// NotFound is the failure to find a session, also one of another customer.
func NotFound(id ID) error {
	return fault.New(fault.NotFound, "cancel session %d does not exist", id).Entity(entity).Code("cancelSessionNotFound")
}
