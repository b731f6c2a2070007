package analytics

import (
	"fmt"
	"strings"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/analytics"
)

// minus is the sign of negative numbers on pages.
const minus = "−"

// grouped puts a comma between the thousands of a number, and a minus sign before it.
func grouped(text string) string {
	sign, whole := "", text
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		sign, whole = minus, rest
	}
	whole, fraction, has := strings.Cut(whole, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if has {
		whole += "." + fraction
	}
	return sign + whole
}

// count returns a whole number.
func count(n int64) cell { return cell{Text: grouped(fmt.Sprint(n)), Raw: fmt.Sprint(n)} }

// amount returns an amount without its currency, which is in the head of the table.
func amount(minor int64, c money.Currency) cell {
	text := money.Amount{Minor: minor, Currency: c}.String()
	return cell{Text: grouped(text), Raw: text}
}

// signed is amount or count with a plus sign before what is added.
func signed(c cell) cell {
	if strings.Trim(c.Raw, "-0.,") != "" && !strings.HasPrefix(c.Raw, "-") {
		c.Text = "+" + c.Text
	}
	return c
}

// share returns part of whole in percent, with one decimal, rounded half up; a dash for none
// of nothing.
func share(part, whole int64) cell {
	if whole == 0 {
		return cell{Text: "–"}
	}
	text := tenths(perMille(part, whole))
	return cell{Text: text + " %", Raw: text}
}

// perMille returns part of whole in thousandths, rounded half up; whole is positive.
func perMille(part, whole int64) int64 { return (part*2000 + whole) / (2 * whole) }

func tenths(n int64) string { return fmt.Sprintf("%d.%d", n/10, n%10) }

// monthName returns a month as Mar 2026.
func monthName(m analytics.Month) string { return m.First().Date().Format("Jan 2006") }

// dayName returns a day as 3 Mar 2026.
func dayName(d analytics.Day) string { return d.Date().Format("2 Jan 2006") }

// trend says how a value changed: "rose 43 %", "fell 2.0 %", "grew from 0" or "is unchanged".
func trend(from, to int64) string {
	switch {
	case to == from:
		return "is unchanged"
	case from <= 0:
		return "grew from 0"
	case to > from:
		return fmt.Sprintf("rose %s %%", whole(to-from, from))
	}
	return fmt.Sprintf("fell %s %%", whole(from-to, from))
}

// whole returns part of whole in percent: with a decimal below 10.
func whole(part, of int64) string {
	n := perMille(part, of)
	if n < 100 {
		return tenths(n)
	}
	return grouped(fmt.Sprint((n + 5) / 10))
}
