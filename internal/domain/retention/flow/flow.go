// Package flow is what a store asks and offers when a customer cancels: the reasons, the
// offers for each of them, and who is left without an offer for comparison. Which offer a
// customer gets is decided in package session.
package flow

import (
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
)

// Mode is what a customer sees before the confirmation.
type Mode string

// The modes. Each leads to a confirmation that cancels.
const (
	Immediate    Mode = "IMMEDIATE"    // nothing
	Instructions Mode = "INSTRUCTIONS" // a text of the store, and how to contact it
	Retention    Mode = "RETENTION"    // the question why, and at most one offer
)

// Modes lists the modes, in the order in which they are offered.
var Modes = []Mode{Retention, Instructions, Immediate}

// Kind is what an offer does to the contract.
type Kind string

// The kinds of offer.
const (
	Skip        Kind = "SKIP"
	Pause       Kind = "PAUSE"
	Discount    Kind = "DISCOUNT"
	Swap        Kind = "SWAP"
	Frequency   Kind = "FREQUENCY"
	Quantity    Kind = "QUANTITY"
	Reschedule  Kind = "RESCHEDULE"
	Sample      Kind = "SAMPLE"       // a one-time product in the next order, free of charge
	Support     Kind = "SUPPORT"      // how to contact the store; changes nothing
	PaymentLink Kind = "PAYMENT_LINK" // the platform's e-mail with a link to change the payment method
)

// Kinds lists the kinds of offer, in the order in which they are offered for choice.
var Kinds = []Kind{Skip, Pause, Discount, Swap, Frequency, Quantity, Reschedule, Sample, Support, PaymentLink}

// Direction says which other frequencies an offer has.
type Direction string

// The directions.
const (
	Rarer Direction = "RARER"
	Other Direction = "OTHER" // rarer and more often
)

// Directions lists the directions.
var Directions = []Direction{Rarer, Other}

// Offer is something a customer can have instead of a cancellation. Only the fields of its
// Kind count.
type Offer struct {
	Kind Kind `json:"kind"`

	Orders    int          `json:"orders,omitempty"`   // Skip: how many; Discount: for how many
	Months    int          `json:"months,omitempty"`   // Pause: how long
	Percent   int          `json:"percent,omitempty"`  // Discount: 1 to 100; 0: Amount counts
	Amount    money.Amount `json:"amount,omitzero"`    // Discount: off each order, in the store's currency
	Variants  []int64      `json:"variants,omitempty"` // Swap: one of them, the customer's choice; Sample: the one
	Direction Direction    `json:"direction,omitempty"`
	Days      int          `json:"days,omitempty"` // Reschedule: how many days later
}

// Reason is an answer to the question why.
type Reason struct {
	Key        string            `json:"key"`              // identifies it in reports, for good
	Label      map[string]string `json:"label"`            // as customers read it, by language; English is required
	Comment    bool              `json:"comment"`          // the customer must say more
	PlanGroups []int64           `json:"groups,omitempty"` // only for contracts of these; empty: for all
	Offers     []Offer           `json:"offers"`           // the first one that is possible is made
}

// LabelIn returns the reason as it is read in a language: the language's, its base
// language's, or the English one.
func (r Reason) LabelIn(language string) string {
	for _, tag := range []string{language, base(language), English} {
		if text := r.Label[tag]; text != "" {
			return text
		}
	}
	return r.Key
}

// English is the language that every reason has.
const English = "en"

// base returns the language of a tag, without script and region.
func base(tag string) string {
	for i, c := range tag {
		if c == '-' || c == '_' {
			return tag[:i]
		}
	}
	return tag
}

// Flow is one version of a store's flow. Versions never change.
type Flow struct {
	Version      int // counts up from 1; 0: the flow of a store that has published none
	Mode         Mode
	Instructions string // plain text; lines are kept
	Support      string // an e-mail address or an https address; empty: no offer of support
	HoldBack     int    // percent of the customers that get no offer, so that its effect can be measured
	Budget       int64  // what accepted discounts may cost in 30 days, in minor units of Currency; 0: no discount is offered
	Currency     money.Currency
	Reasons      []Reason // in the order in which customers see them
	PublishedAt  time.Time
	PublishedBy  string
}

// Reason returns the reason with a key; false: the flow has none.
func (f Flow) Reason(key string) (Reason, bool) {
	for _, r := range f.Reasons {
		if r.Key == key {
			return r, true
		}
	}
	return Reason{}, false
}

// Paragraphs returns the lines of the instructions that have something.
func (f Flow) Paragraphs() []string {
	var list []string
	for line := range strings.Lines(f.Instructions) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// ReasonsFor returns the reasons that a contract of plan groups is asked about.
func (f Flow) ReasonsFor(groups []int64) []Reason {
	var list []Reason
	for _, r := range f.Reasons {
		if len(r.PlanGroups) == 0 || shares(r.PlanGroups, groups) {
			list = append(list, r)
		}
	}
	return list
}

func shares(a, b []int64) bool {
	for _, x := range a {
		for _, y := range b {
			if x == y {
				return true
			}
		}
	}
	return false
}
