package contract

import (
	"time"

	"github.com/perennialhq/perennial/internal/platform"
)

// Card identifies the card behind a payment method: the platform replaces a card without
// changing the method's id. The zero value is an unknown card.
type Card struct {
	Kind        string `json:"kind,omitempty"`
	Brand       string `json:"brand,omitempty"`
	LastDigits  string `json:"digits,omitempty"`
	ExpiryMonth int    `json:"month,omitempty"`
	ExpiryYear  int    `json:"year,omitempty"`
	// Since is when it was found to replace another card, or to be usable
	// again; zero: never.
	Since time.Time `json:"since,omitzero"`
}

func cardOf(m platform.PaymentMethod) Card {
	return Card{Kind: m.Kind, Brand: m.Brand, LastDigits: m.LastDigits, ExpiryMonth: m.ExpiryMonth, ExpiryYear: m.ExpiryYear}
}

// known reports whether the card is known.
func (c Card) known() bool { return c != Card{Since: c.Since} }

// following returns the card with the history of the one before it.
func (c Card) following(old Card, usableAgain bool, now time.Time) Card {
	was := old
	was.Since = time.Time{}
	switch {
	case !c.known():
		c = old
	case c == was || !was.known():
		c.Since = old.Since
	default:
		c.Since = now
	}
	if usableAgain {
		c.Since = now
	}
	return c
}

// Replaces reports whether the card replaced the other one and may be charged: one that
// has expired may not.
func (c Card) Replaces(old Card, now time.Time) bool {
	if c.Since.Equal(old.Since) {
		return false
	}
	return c.ExpiryYear == 0 || now.Before(c.Ends())
}

// Ends returns from when on the card is expired, which is when the month after its month of expiry
// begins in UTC; zero when that is not known.
func (c Card) Ends() time.Time {
	if c.ExpiryYear == 0 {
		return time.Time{}
	}
	return time.Date(c.ExpiryYear, time.Month(c.ExpiryMonth)+1, 1, 0, 0, 0, 0, time.UTC)
}
