package contract

import (
	"time"

	"github.com/perennialhq/perennial/internal/platform"
)

// Card is what tells the card behind a payment method from another one: the platform
// puts a new card into the old one's place. The zero value is one that is not known.
type Card struct {
	Kind        string `json:"kind,omitempty"`
	Brand       string `json:"brand,omitempty"`
	LastDigits  string `json:"digits,omitempty"`
	ExpiryMonth int    `json:"month,omitempty"`
	ExpiryYear  int    `json:"year,omitempty"`
	// Since is when it was found in the place of another one, or found to be usable
	// again; zero: neither has happened.
	Since time.Time `json:"since,omitzero"`
}

func cardOf(m platform.PaymentMethod) Card {
	return Card{Kind: m.Kind, Brand: m.Brand, LastDigits: m.LastDigits, ExpiryMonth: m.ExpiryMonth, ExpiryYear: m.ExpiryYear}
}

// known reports whether anything is known of the card.
func (c Card) known() bool { return c != Card{Since: c.Since} }

// after returns the card as it follows upon the one before it.
func (c Card) after(old Card, usableAgain bool, now time.Time) Card {
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

// Replaces reports whether the card came into the other one's place and may be
// charged: one that has expired is no remedy.
func (c Card) Replaces(old Card, now time.Time) bool {
	if c.Since.Equal(old.Since) {
		return false
	}
	return c.ExpiryYear == 0 || now.Before(time.Date(c.ExpiryYear, time.Month(c.ExpiryMonth)+1, 1, 0, 0, 0, 0, time.UTC))
}
