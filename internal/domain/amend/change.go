package amend

import (
	"slices"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

// Change is what a command makes of a contract as it is. The zero change leaves
// it alone.
type Change struct {
	Edit         platform.Edit
	Update       func(*contract.Contract) // of what only the service keeps
	Entries      []Note
	StatusChange *contract.Move // the change of status that this is; it has its own entries
	InFlight     *InFlight      // how it was announced; nil: not at all
	Exclusive    bool           // nobody may change meanwhile what only the service keeps
}

// Note is an entry to be written when the change has been made.
type Note struct {
	Event   activity.EventType
	Details any
}

func (c Change) empty() bool { return len(c.Entries) == 0 }

// cancelPending makes a change end what waits for the contract's next order when it decides
// on the same line otherwise.
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

// Priced makes a change note that prices of the contract change with its orders.
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

// DropPending forgets the change that waits.
func DropPending(c *contract.Contract) {
	c.Pending = nil
	c.Rewake()
}
