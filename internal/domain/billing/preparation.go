package billing

import (
	"reflect"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/swap"
)

// Preparation is how far an attempt's order has been prepared for its charge: swapped
// products, one-time products and its note. Most orders need none of it, and their preparation
// stays zero.
type Preparation struct {
	Stage    Stage     `json:"stage,omitempty"`
	Edited   bool      `json:"edited,omitempty"` // the platform's cycle may hold a change of ours
	Plan     *Plan     `json:"plan,omitempty"`   // of the step under way, committed before the platform is called
	Edits    int       `json:"edits,omitempty"`  // changes of the step that did not come to an end
	Failures int       `json:"failures,omitempty"`
	NoteLeft bool      `json:"noteLeft,omitempty"` // the order was made without its note, which follows
	Since    time.Time `json:"since,omitzero"`     // when the step failed first

	// Revision is the contract's at which the platform's cycle held no copy of an
	// older one. The edit of a cycle is such a copy: one that is found when the
	// contract has another revision may lack what changed between them.
	Revision uint64 `json:"revision,omitempty"`
	Contract string `json:"contract,omitempty"` // fingerprint of the contract's lines when the order was ready

	// Kept is the date that the platform shows of the cycle because it refused ours,
	// a date or a skip. It is older than ours. Zero: the platform accepted ours.
	Kept time.Time `json:"kept,omitzero"`

	Order  int   `json:"order,omitempty"`  // its place among the contract's orders when it was ready, from 1
	Box    int64 `json:"box,omitempty"`    // the discount of its box when it was ready, in minor units
	Lasted bool  `json:"lasted,omitempty"` // rules that last were applied with it before

	// Asked is whether the customer was asked to complete the box for which the order waits.
	Asked bool `json:"asked,omitempty"`

	// Declined are the rules that the customer has declined for the order.
	Declined []swap.ID `json:"declined,omitempty"`

	Swapped []swap.ID `json:"swapped,omitempty"` // rules of this order alone that are in the activity log, and have moved the orders after it
}

// None reports whether nothing is noted of a preparation.
func (p Preparation) None() bool { return reflect.ValueOf(p).IsZero() }

// At is the preparation at another step, without the records of earlier steps. Lasting changes
// that were made with the order are not made for it again.
func (p Preparation) At(s Stage, edited bool, revision uint64) Preparation {
	return Preparation{Stage: s, Edited: edited, Revision: revision, Kept: p.Kept, Lasted: p.hasLasted(), Asked: p.Asked, Declined: p.Declined, Swapped: p.Swapped}
}

// hasLasted reports whether lasting changes were made with the order.
func (p Preparation) hasLasted() bool {
	return p.Lasted || p.Stage == ContractDone || p.Stage == OrderPlanned || p.Stage == Ready
}

// Stage is a step of a preparation.
type Stage string

// The steps. Each change is planned, committed, made, and then noted, so that one
// whose answer was lost is recognised and not made again.
const (
	Fresh           Stage = ""
	ContractPlanned Stage = "CONTRACT_PLANNED"
	ContractDone    Stage = "CONTRACT_DONE"
	OrderPlanned    Stage = "ORDER_PLANNED"
	Ready           Stage = "READY"
)

// Plan is a change of a contract or of one order: what it had, and what it must have
// afterwards.
type Plan struct {
	Base    string   `json:"base"` // fingerprints
	Wanted  string   `json:"wanted"`
	Changes []Change `json:"changes,omitempty"` // that rules make
	Shift   int      `json:"shift,omitempty"`   // days by which later orders move
	Prices  []Price  `json:"prices,omitempty"`  // that begin with the order

	Box *BoxChange `json:"box,omitempty"` // of the discount of the order's box; nil: it stays
}

// Change is what one swap rule does.
type Change struct {
	Rule    swap.ID        `json:"rule"`
	Name    string         `json:"name,omitempty"`
	Silent  bool           `json:"silent,omitempty"` // the customer gets no e-mail about it
	Once    bool           `json:"once,omitempty"`   // the rule is done with the contract
	Removed []swap.Product `json:"removed"`
	Added   []swap.Product `json:"added"`
	Shift   int            `json:"shift,omitempty"` // days of the plan's that are the rule's
}

// SwapUse notes that a rule that acts once for a contract has acted.
type SwapUse struct {
	Rule     swap.ID
	Contract contract.ID
}

// Price is a price of a line that begins with an order.
type Price struct {
	Variant int64  `json:"variant"`
	From    string `json:"from"`
	To      string `json:"to"`
}
