// Package words says what contracts and orders are, in the language of who reads the portal.
package words

import (
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/web/portal"
)

// Name returns what a contract is called: by its products.
func Name(v portal.Visit, c contract.Contract) string {
	switch n := len(c.Lines); n {
	case 0:
		return v.T("subscription.name.none")
	case 1:
		return c.Lines[0].Title
	case 2:
		return v.Words.List([]string{c.Lines[0].Title, c.Lines[1].Title})
	default:
		return v.T("subscription.name.more", "product", c.Lines[0].Title, "n", n-1)
	}
}

// statuses are the chips of statuses: the key of their text, and their tone.
var statuses = map[contract.Status]struct {
	text string
	tone portal.Tone
}{
	contract.Active: {"status.active", portal.Good}, contract.Paused: {"status.paused", portal.Hold}, contract.Failed: {"status.failed", portal.Bad},
	contract.Cancelled: {"status.cancelled", portal.Neutral}, contract.Expired: {"status.expired", portal.Neutral},
}

// Status returns the status of a contract. An unpaid order and an end that is near come before that
// it runs.
func Status(v portal.Visit, s overview.Sheet) portal.Chip {
	c := s.Contract
	switch {
	case s.Unpaid != nil && !c.Terminated():
		return portal.Chip{Tone: portal.Bad, Text: v.T("status.declined")}
	case c.Ending != nil && !c.Terminated():
		return portal.Chip{Tone: portal.Hold, Text: v.T("status.ending")}
	case c.Status == contract.Active && c.Prepaid():
		return portal.Chip{Tone: portal.Good, Text: v.T("status.prepaid")}
	}
	is := statuses[c.Status]
	return portal.Chip{Tone: is.tone, Text: v.T(is.text)}
}

// intervals are the keys of how often something comes.
var intervals = map[cadence.Interval]string{cadence.Day: "every.day", cadence.Week: "every.week", cadence.Month: "every.month", cadence.Year: "every.year"}

// Every returns how often something comes: "every 2 weeks".
func Every(v portal.Visit, p contract.Policy) string { return v.T(intervals[p.Interval], "n", p.Count) }

// InDays returns how far away a day is: "in 5 days".
func InDays(v portal.Visit, t time.Time) string {
	today, day := v.Local(v.Now), v.Local(t)
	midnight := func(t time.Time) time.Time {
		return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	}
	n := int(midnight(day).Sub(midnight(today)) / (24 * time.Hour))
	switch {
	case n < 0:
		return v.T("when.past")
	case n == 0:
		return v.T("when.today")
	}
	return v.T("when.days", "n", n)
}

// Payment returns what a contract is charged to: "Visa ending in 4242".
func Payment(v portal.Visit, c contract.Contract) string {
	switch {
	case c.PaymentMethod == "":
		return v.T("payment.none")
	case !c.PaymentUsable:
		return v.T("payment.revoked")
	default:
		return Instrument(v, c.Card)
	}
}

// Chargeable reports whether a contract has a payment method that can be charged.
func Chargeable(c contract.Contract) bool { return c.PaymentMethod != "" && c.PaymentUsable }

// Instrument returns what is behind a payment method: "Visa ending in 4242".
func Instrument(v portal.Visit, card contract.Card) string {
	switch {
	case card.LastDigits != "":
		brand := card.Brand
		if brand == "" {
			brand = v.T("payment.card")
		}
		return v.T("payment.ending", "brand", Brand(brand), "digits", card.LastDigits)
	case card.Kind != "" && kinds[card.Kind] != "":
		return v.T(kinds[card.Kind])
	}
	return v.T("payment.saved")
}

// Question returns a question about a contract, with where it leads back to. Its form is sent to path.
func Question(v portal.Visit, c contract.Contract, path string) portal.Question {
	return portal.Question{Back: &portal.Crumb{Name: Name(v, c), Path: Path(c.ID)}, Path: path, Version: c.Fingerprint(), Email: c.Customer.Email}
}

// Expires says when a card with a month of expiry expires.
func Expires(v portal.Visit, month, year int) string {
	return v.T("payment.expires", "month", time.Date(year, time.Month(month), 1, 0, 0, 0, 0, time.UTC).Format("01/2006"))
}

// Amount returns an amount as the reader's language writes it.
func Amount(v portal.Visit, a money.Amount) string { return v.Words.Money(a) }

// Cost returns what an order costs, before taxes.
func Cost(v portal.Visit, o billing.Record) string { return Amount(v, o.Cost()) }
