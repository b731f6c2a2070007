package amend

import (
	"slices"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

// Change is what a command does to a contract. The zero value changes nothing.
type Change struct {
	Edit         platform.Edit
	Update       func(*contract.Contract) // changes fields that only Perennial stores
	Entries      []Note
	StatusChange *contract.Move // the status change that this is; it brings its own entries
	InFlight     *InFlight      // the edit as it is recorded on the contract; nil: it is not
	Exclusive    bool           // no other writer may change fields that only Perennial stores
}

// Note is an entry that is written when the change has been made.
type Note struct {
	Event   activity.EventType
	Details any
}

func (c Change) empty() bool { return len(c.Entries) == 0 && c.Edit.Empty() && c.Update == nil }

// cancelPending makes a change that edits or removes a line also cancel that line's
// pending change.
func (c Change) cancelPending(is contract.Contract) Change {
	if is.Pending == nil {
		return c
	}
	for _, l := range c.Edit.Lines {
		if l.Line != is.Pending.Line || !l.Remove && l.Variant == nil {
			continue
		}
		also := c.Update
		c.Update = func(is *contract.Contract) {
			if also != nil {
				also(is)
			}
			DropPending(is)
		}
	}
	return c
}

// Priced makes a change that sets prices by cycle also mark the contract as Priced.
func (c Change) Priced() Change {
	if !slices.ContainsFunc(c.Edit.Lines, func(l platform.LineEdit) bool { return l.Pricing != nil && len(l.Pricing.Cycles) > 0 }) {
		return c
	}
	also := c.Update
	c.Update = func(is *contract.Contract) {
		if also != nil {
			also(is)
		}
		is.Priced = true
	}
	return c
}

// DropPending removes the pending change.
func DropPending(c *contract.Contract) {
	c.Pending = nil
	c.ResetAmendAt()
}
