package contract

// Redact erases the customer's personal data. The customer's id and what was ordered
// remain. A contract that has ended also loses the notes of its orders and the card; one
// that may be charged keeps what its orders carry, which the platform has as well.
func (c *Contract) Redact() {
	c.Customer = Customer{ID: c.Customer.ID}
	c.CancellationFeedback, c.CancellationNote = "", ""
	if c.Pause != nil {
		p := *c.Pause
		p.Reason, p.Feedback = "", ""
		c.Pause = &p
	}
	if c.Moving != nil {
		m := *c.Moving
		m.Feedback, m.Note = "", ""
		c.Moving = &m
	}
	if c.Status == Cancelled || c.Status == Expired {
		c.Note, c.Attributes, c.Overrides = "", nil, nil
		c.Card = Card{Since: c.Card.Since}
	}
}
