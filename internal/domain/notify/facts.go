package notify

import (
	"encoding/json"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/dunning"
)

// Facts are what a message reports beside the state of its contract. Its words are written when
// it is sent, from the facts and from what holds then.
type Facts struct {
	Change  *Change   `json:"change,omitempty"`  // that is confirmed
	Decline *Decline  `json:"decline,omitempty"` // of a charge
	Link    *Link     `json:"link,omitempty"`    // that signs in
	Digest  *Digest   `json:"digest,omitempty"`  // of declined charges
	Points  *Points   `json:"points,omitempty"`  // of a loyalty member
	News    *News     `json:"news,omitempty"`    // of a merchant
	Date    time.Time `json:"date,omitzero"`     // of the order that is announced, or from which on a card is expired
}

// empty reports whether there are none: such a message has its words already.
func (f Facts) empty() bool { return f == Facts{} }

// Change is a change of a contract or an order, as its entry in the activity log describes it.
type Change struct {
	Event      activity.EventType `json:"event"`
	At         time.Time          `json:"at"`
	Cycle      int                `json:"cycle,omitempty"` // of the order; 0: the contract itself
	From       string             `json:"from,omitempty"`  // what was before; a date is RFC 3339
	To         string             `json:"to,omitempty"`
	Title      string             `json:"title,omitempty"` // of the product
	Line       string             `json:"lineId,omitempty"`
	Variant    int64              `json:"variantId,omitempty"`
	OldVariant int64              `json:"oldVariantId,omitempty"`
	Price      string             `json:"price,omitempty"`
	OldPrice   string             `json:"oldPrice,omitempty"`
	AppliesAt  time.Time          `json:"appliesAt,omitzero"` // when the first order is due that has it; of a Price that is zero, the next order has it
	Rule       int64              `json:"ruleId,omitempty"`   // the swap rule that makes it
	Silent     bool               `json:"silent,omitempty"`   // the swap rule sends no e-mail
	Removed    []Product          `json:"removed,omitempty"`
	Added      []Product          `json:"added,omitempty"`
}

// Product is a variant that a swap rule took away or brought.
type Product struct {
	Variant int64  `json:"id"`
	Title   string `json:"displayName"`
}

// changeOf reads the change that an entry reports. Details that have another shape are left out.
func changeOf(e activity.Entry) Change {
	var c Change
	if json.Unmarshal([]byte(e.Info), &c) != nil {
		c = Change{}
	}
	c.Event, c.At = e.Event, e.At
	return c
}

// Decline is why an order was not paid, and what follows.
type Decline struct {
	Class   dunning.Class  `json:"class"`
	RetryAt time.Time      `json:"retryAt,omitzero"`  // zero: only when the customer acts
	EndAt   time.Time      `json:"endAt,omitzero"`    // when Action is taken; zero: not announced
	Action  dunning.Action `json:"action,omitempty"`  // in the end
	Confirm string         `json:"confirm,omitempty"` // where the customer confirms the payment; empty: nowhere
}

// Digest is the period of an e-mail that sums up declined charges.
type Digest struct {
	Since time.Time `json:"since"`
}

// Points is what a message to a loyalty member is about.
type Points struct {
	Since  time.Time `json:"since,omitzero"`   // of PointsEarned: from when on the points were earned
	Until  time.Time `json:"until,omitzero"`   // of PointsEarned: before when; of PointsExpiring: the last expiry that it names
	Entry  int64     `json:"entry,omitempty"`  // of Birthday: the transaction that gave the points
	Tier   int64     `json:"tier,omitempty"`   // of TierReached
	Reward int64     `json:"reward,omitempty"` // of RewardIssued
}

// Link is a link that signs in.
type Link struct {
	URL     string    `json:"url"`
	Expires time.Time `json:"expires"`
}
