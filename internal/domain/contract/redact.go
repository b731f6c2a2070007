package contract

import (
	"slices"

	"github.com/perennialhq/perennial/internal/domain/activity"
)

// Redact erases the customer's personal data. The customer's id and what was ordered
// remain. A contract that has ended also loses its note, its attributes and the card; one
// that may be charged keeps what its orders carry, which the platform has as well.
func (c *Contract) Redact() {
	c.Customer = Customer{ID: c.Customer.ID}
	c.CancellationFeedback, c.CancellationNote = "", ""
	c.Pause = c.Pause.redacted()
	if c.Moving != nil {
		m := *c.Moving
		m.Feedback, m.Note, m.Pause = "", "", m.Pause.redacted()
		if m.Actor.Source == activity.CustomerPortal {
			m.Actor.ClientIP = ""
		}
		c.Moving = &m
	}
	if c.Status == Cancelled || c.Status == Expired {
		c.Note, c.Attributes, c.Overrides = "", nil, nil
		c.Card = Card{Since: c.Card.Since}
		return
	}
	c.Overrides = slices.Clone(c.Overrides)
	for i := range c.Overrides {
		c.Overrides[i].Note = ""
	}
}

// redacted returns a pause without what the customer said of it.
func (p *Pause) redacted() *Pause {
	if p == nil {
		return nil
	}
	silent := *p
	silent.Reason, silent.Feedback = "", ""
	return &silent
}
