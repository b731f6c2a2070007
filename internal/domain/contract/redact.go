package contract

// Redact erases who the customer is, and what they said. What is left is the number by
// which the platform knows them and what was ordered. A contract that is over, or that
// ended for now, keeps nothing of what people wrote on its orders, nor of the card; one
// that may be charged keeps what its orders carry, which is at the platform as well.
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
