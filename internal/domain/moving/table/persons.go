package table

import (
	"iter"
	"slices"
	"strings"

	"golang.org/x/text/language"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/moving"
)

// Person names a customer: by the platform's number, by the e-mail address, or by both.
type Person struct {
	ID    int64
	Email string
}

// PointsRow is what a file says of a customer's points.
type PointsRow struct {
	Line     int // of the file, from 1
	Customer Person
	Balance  loyalty.Points
	Lifetime loyalty.Points
	Note     string
	Findings []moving.Finding
	Raw      []string // cells of the line; nil when they cannot be read
}

// Points reads points. Errors are those of Contracts.
func Points(f *File, s *Scan, o Options) iter.Seq2[PointsRow, error] {
	return persons(f, s, o, func(c *cells, who Person) PointsRow {
		r := PointsRow{Line: c.line, Customer: who, Raw: c.cells}
		if who != (Person{}) {
			r.Balance, r.Lifetime = c.points()
			r.Note = c.text("note")
		}
		r.Findings = c.findings
		return r
	})
}

// points returns the balance, and what was ever earned.
func (c *cells) points() (balance, lifetime loyalty.Points) {
	balance, given := c.hundredths("balance")
	if !given {
		c.find(moving.Stays, valueMissing, "balance", "the balance is missing: write it, with 0 for none")
	}
	if lifetime, given = c.hundredths("lifetimePoints"); !given {
		return balance, balance
	}
	if lifetime < balance {
		c.find(moving.Changes, valueInvalid,
			"lifetimePoints", "the customer has %s points and earned %s: the balance counts as earned", balance, lifetime)
		lifetime = balance
	}
	return balance, lifetime
}

// hundredths returns a number of points. They have two decimals, like most amounts.
func (c *cells) hundredths(field string) (loyalty.Points, bool) {
	number, unit, given := c.decimal(field, pointDecimals)
	if number == "" {
		return 0, given
	}
	n, err := money.ParseExact(number, "USD")
	known := err == nil && slices.Contains(pointUnits, strings.ToLower(unit))
	if p := loyalty.Points(n.Minor); known && p >= 0 && p <= loyalty.MaxPoints {
		return p, true
	}
	c.find(moving.Stays, valueInvalid, field,
		"%.60q is not a number of points from 0 to %s with at most two decimals: correct it", c.text(field), loyalty.MaxPoints)
	return 0, true
}

// pointDecimals is how many decimals points have.
const pointDecimals = 2

var pointUnits = []string{"", "points", "pts", "pts."}

// Consent says whether a customer agreed to e-mails.
type Consent string

// The answers.
const (
	NotSaid Consent = ""
	Agreed  Consent = "AGREED"
	Refused Consent = "REFUSED"
)

// CustomerRow is what a file says of a customer.
type CustomerRow struct {
	Line         int // of the file, from 1
	Customer     Person
	FirstName    string
	LastName     string
	Phone        string
	Birthday     cadence.Date // zero: not known
	Language     string       // tag, such as pt-BR
	EmailConsent Consent
	Findings     []moving.Finding
	Raw          []string // cells of the line; nil when they cannot be read
}

// Customers reads customers. Errors are those of Contracts.
func Customers(f *File, s *Scan, o Options) iter.Seq2[CustomerRow, error] {
	return persons(f, s, o, func(c *cells, who Person) CustomerRow {
		r := CustomerRow{Line: c.line, Customer: who, Raw: c.cells}
		if who != (Person{}) {
			r.FirstName, r.LastName, r.Phone = c.text("firstName"), c.text("lastName"), c.text("phone")
			if at, _ := c.moment("birthday"); !at.IsZero() {
				r.Birthday.Year, r.Birthday.Month, r.Birthday.Day = at.Date()
			}
			r.Language, r.EmailConsent = c.language(), c.consent()
		}
		r.Findings = c.findings
		return r
	})
}

func (c *cells) language() string {
	text := c.text("language")
	if text == "" {
		return ""
	}
	tag, err := language.Parse(text)
	if err != nil {
		c.find(moving.Changes, valueLeftOut,
			"language", "%.60q is not the tag of a language: write one such as de or pt-BR", text)
		return ""
	}
	return tag.String()
}

// consentWords are the words for the answers.
var consentWords = map[string]Consent{
	"": NotSaid, "unknown": NotSaid, "notset": NotSaid, "pending": NotSaid,
	"yes": Agreed, "y": Agreed, "true": Agreed, "1": Agreed,
	"ja": Agreed, "oui": Agreed, "si": Agreed, "sí": Agreed, "sim": Agreed,
	"subscribed": Agreed, "agreed": Agreed, "optin": Agreed, "optedin": Agreed,
	"no": Refused, "n": Refused, "false": Refused, "0": Refused, "nein": Refused, "non": Refused, "não": Refused,
	"unsubscribed": Refused, "notsubscribed": Refused, "refused": Refused, "optout": Refused, "optedout": Refused,
}

func (c *cells) consent() Consent {
	text := c.text("emailConsent")
	is, known := consentWords[spell(text)]
	if !known {
		c.find(moving.Changes, valueLeftOut,
			"emailConsent", "%.60q is neither yes nor no: write one, or the customer counts as not asked", text)
	}
	return is
}

// persons reads a file with a customer in each row.
func persons[R any](f *File, s *Scan, o Options, read func(*cells, Person) R) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		var none R
		shared := s.with(o)
		for r, err := range f.all() {
			if err != nil {
				yield(none, err)
				return
			}
			c := &cells{columns: shared, row: r}
			var who Person
			if c.readable() {
				who.ID, who.Email = c.customer()
				c.once(who)
				c.contradictions(who)
			}
			if !yield(read(c, who), nil) {
				return
			}
		}
	}
}

// once records a finding when the file has more than one row of a customer.
func (c *cells) once(who Person) {
	if list := c.doubts[who.key()]; who != (Person{}) && len(list) > 0 {
		c.find(moving.Stays, customerTwice, "customerId", "the customer has rows in lines %s: keep one of them", lines(list))
	}
}
