package table

import (
	"fmt"
	"net/mail"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/sheet"
	"github.com/perennialhq/perennial/internal/domain/moving"
)

// Codes of findings.
const (
	rowUnreadable   = "rowUnreadable"
	contractTwice   = "contractTwice"
	contractDiffers = "contractDiffers"
	rowTwice        = "rowTwice"
	tooManyLines    = "tooManyLines"
	customerTwice   = "customerTwice"
	customerDiffers = "customerDiffers" // a number and an e-mail address that belong to two people
	valueMissing    = "valueMissing"
	valueInvalid    = "valueInvalid"
	valueLeftOut    = "valueLeftOut" // it cannot be read, and is not needed
	valueIsFormula  = "valueIsFormula"
	idShortened     = "idShortened"
	amountAmbiguous = "amountAmbiguous"
	amountRounded   = "amountRounded"
	dateAmbiguous   = "dateAmbiguous"
	skuUnknown      = "skuUnknown"
)

// maxMinor and maxQuantity keep what an order costs within the numbers there are.
const (
	maxMinor    = 10_000_000_000_000 // minor units of an amount
	maxQuantity = 100_000
	maxCount    = 100_000 // orders or cycles
)

// cells reads the values of a row.
type cells struct {
	*columns
	row

	findings []moving.Finding
}

// find records a finding about a field.
func (c *cells) find(fit moving.Fit, code, field, format string, args ...any) {
	place := fmt.Sprintf("line %d", c.line)
	if i, has := c.at[field]; has {
		place += fmt.Sprintf(", column %.60q", c.header[i])
	}
	text := place + ": " + fmt.Sprintf(format, args...)
	c.findings = append(c.findings, moving.Finding{Fit: fit, Code: code, Field: field, Text: text})
}

// readable reports whether the values of a row are known to belong to their columns.
func (c *cells) readable() bool {
	switch {
	case c.reason != "":
		c.find(moving.Stays, rowUnreadable, "", "the row cannot be read: %s", c.reason)
	case len(c.cells) > len(c.header) && !empty(c.cells[len(c.header):]):
		c.find(moving.Stays, rowUnreadable,
			"", "the row has %d values and the header %d: put texts with %q in quotation marks",
			len(c.cells), len(c.header), c.separator)
	}
	return len(c.findings) == 0
}

// text returns the value of a field.
func (c *cells) text(field string) string { return c.value(c.cells, field) }

// exact returns the value of a field that is no text. It records a formula, and returns nothing then.
func (c *cells) exact(field string) (text string, given bool) {
	text = strings.TrimPrefix(c.text(field), "'")
	if text == "" {
		return "", false
	}
	if strings.ContainsRune("=+-@\uff1d\uff0b\uff0d\uff20", []rune(text)[0]) && sheet.Cell(text) != text {
		c.find(moving.Stays, valueIsFormula, field, "%.60q is a formula: write its result in its place", text)
		return "", true
	}
	return text, true
}

// id returns the platform's number of an object; 0: the row has none.
func (c *cells) id(field, objectType string) int64 {
	text, given := c.exact(field)
	switch {
	case text == "" || !given:
		return 0
	case shortened(text):
		c.find(moving.Stays, idShortened, field,
			"%.60q is an ID that a spreadsheet program has rounded: export it again with the column formatted as text", text)
		return 0
	}
	n, err := gid.Parse(objectType, strings.TrimSuffix(text, ".0"))
	if err != nil {
		c.find(moving.Stays, valueInvalid, field,
			"%.60q is not an ID of the platform: write a number or gid://shopify/%s/<number>", text, objectType)
	}
	return n
}

// shortened reports whether a number is written with an exponent.
func shortened(text string) bool {
	mantissa, exponent, found := strings.Cut(strings.ToUpper(text), "E+")
	whole, decimals, _ := strings.Cut(strings.Replace(mantissa, ",", ".", 1), ".")
	return found && whole != "" && exponent != "" && digits(whole) && digits(decimals) && digits(exponent)
}

// count returns a whole number within limits; 0 where the row has none.
func (c *cells) count(field string, least, most int) (n int, given bool) {
	text, given := c.exact(field)
	if text == "" {
		return 0, given
	}
	whole, decimals, _ := strings.Cut(strings.Replace(text, ",", ".", 1), ".")
	n, err := strconv.Atoi(whole)
	if err != nil || !digits(whole) || strings.Trim(decimals, "0") != "" || len(decimals) > 2 || n < least || n > most {
		c.find(moving.Stays, valueInvalid, field, "%.60q is not a whole number from %d to %d: write one", text, least, most)
		return 0, true
	}
	return n, true
}

// decimal returns a number with a decimal point, and the unit beside it. A number such as 1,250 has either
// three decimals or a group of three digits. The sign of its column settles it unless the number would then have
// more decimals than are usual: 12,50 in another row does not say whether 1,250 is more than a thousand.
func (c *cells) decimal(field string, usual int) (number, unit string, given bool) {
	text, given := c.exact(field)
	if text == "" {
		return "", "", given
	}
	number, unit = apart(text)
	withPoint, asPoint := point.plain(number)
	withComma, asComma := comma.plain(number)
	sign, chosen := c.sign(field)
	switch {
	case !asPoint && !asComma:
		c.find(moving.Stays, valueInvalid, field, "%.60q is not a number: write one such as 1234.50", text)
		return "", "", true
	case !asComma, withPoint == withComma, asPoint && sign == point && (chosen || decimals(withPoint) <= usual):
		return withPoint, unit, true
	case !asPoint, sign == comma && (chosen || decimals(withComma) <= usual):
		return withComma, unit, true
	}
	c.find(moving.Stays, amountAmbiguous, field,
		"%.60q may be %s or %s: write it without a sign between thousands, or choose whether decimals follow a comma or a point",
		text, withPoint, withComma)
	return "", "", true
}

// amount returns an amount of a currency.
func (c *cells) amount(field string, currency money.Currency) (a money.Amount, given bool) {
	number, unit, given := c.decimal(field, currency.Exponent())
	if number == "" {
		return money.Amount{Currency: currency}, given
	}
	a, err := money.Parse(number, currency)
	text := c.text(field)
	switch {
	case !strings.EqualFold(unit, string(currency)) && !abbreviates(unit):
		c.find(moving.Stays, valueInvalid, field,
			"%.60q is not an amount of %s: write a number such as 1234.50", text, currency)
	case err != nil || a.Minor > maxMinor:
		c.find(moving.Stays, valueInvalid, field, "%.60q is too large for an amount of %s: correct it", text, currency)
	case a.Minor < 0:
		c.find(moving.Stays, valueInvalid, field, "%.60q is negative: write 0 or more", text)
	default:
		if _, err := money.ParseExact(number, currency); err != nil {
			c.find(moving.Changes, amountRounded, field,
				"%.60q has more decimals than %s and becomes %s: correct it if that is wrong", text, currency, a)
		}
		return a, true
	}
	return money.Amount{Currency: currency}, true
}

// moment returns a date in the zone that it names, or that of the options; zero: the row has none.
func (c *cells) moment(field string) (at time.Time, given bool) {
	text, given := c.exact(field)
	if text == "" {
		return time.Time{}, given
	}
	at, unsure, ok := parseTime(text, c.order(field), c.Zone)
	switch {
	case !ok:
		c.find(moving.Stays, valueInvalid, field, "%.60q is not a date: write one such as 2026-12-31", text)
		return time.Time{}, true
	case unsure:
		first, _, _ := parseTime(text, dayFirst, c.Zone)
		second, _, _ := parseTime(text, monthFirst, c.Zone)
		c.find(moving.Stays, dateAmbiguous, field,
			"%.60q may be %s or %s, and no row of the column says it: write it in one of these forms, or choose "+
				"whether the day or the month comes first", text, first.Format(time.DateOnly), second.Format(time.DateOnly))
		return time.Time{}, true
	}
	return at, true
}

// instant is moment as the service stores it.
func (c *cells) instant(field string) (at time.Time, given bool) {
	at, given = c.moment(field)
	return at.UTC().Truncate(time.Millisecond), given
}

// customer returns who a row is about. It records a finding when the row does not say it.
func (c *cells) customer() (id int64, email string) {
	id, email = c.id("customerId", "Customer"), c.text("email")
	if a, err := mail.ParseAddress(email); email != "" && (err != nil || a.Address != email) {
		fit, code := moving.Stays, valueInvalid
		if id != 0 {
			fit, code = moving.Changes, valueLeftOut
		}
		c.find(fit, code, "email", "%.60q is not an e-mail address: correct it", email)
		email = ""
	} else if id == 0 && email == "" && c.text("customerId") == "" {
		c.find(moving.Stays, valueMissing, "customerId", "the customer is missing: write the number or the e-mail address")
	}
	return id, email
}

// contradictions records that the customer's number has other e-mail addresses in the file, or the address other
// numbers.
func (c *cells) contradictions(who Person) {
	if who.ID == 0 || who.Email == "" {
		return
	}
	if list := c.doubts[customerKey(who.ID)]; len(list) > 0 {
		c.find(moving.Stays, customerDiffers, "email",
			"customer %d has different e-mail addresses in lines %s: correct what is wrong, or leave the addresses empty",
			who.ID, lines(list))
	}
	if list := c.doubts[emailKey(who.Email)]; len(list) > 0 {
		c.find(moving.Stays, customerDiffers, "customerId",
			"the address %.60q belongs to different customers in lines %s: correct what is wrong, or leave the numbers empty",
			who.Email, lines(list))
	}
}
