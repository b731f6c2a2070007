package theme

import (
	"fmt"
	"strings"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/liquid"
)

// formats are what the platform suggests to a store for the amounts of its currency. Of
// other currencies an amount is followed by the code.
var formats = map[money.Currency]string{
	"USD": "${{amount}}", "CAD": "${{amount}}", "AUD": "${{amount}}", "NZD": "${{amount}}", "GBP": "£{{amount}}",
	"EUR": "€{{amount_with_comma_separator}}", "JPY": "¥{{amount_no_decimals}}", "KRW": "₩{{amount_no_decimals}}",
}

// scale returns how many of the units in which Liquid counts make one main unit: hundredths
// also where the currency has none.
func scale(c money.Currency) int64 {
	if c.Exponent() == 3 {
		return 1000
	}
	return 100
}

// subunits returns an amount as Liquid has it.
func subunits(a money.Amount) int64 { return a.Milli() / (1000 / scale(a.Currency)) }

// moneyFilter is the filter money.
func moneyFilter(c *liquid.Context, in any, _ []any, _ map[string]any) (any, error) {
	n, ok := in.(int64)
	if !ok {
		return nil, fmt.Errorf("%q is not an amount", liquid.Text(in))
	}
	return format(n, money.Currency(liquid.Text(property(c, "shop", "currency")))), nil
}

// Format writes an amount as the store's theme does.
func Format(a money.Amount) string { return format(subunits(a), a.Currency) }

func format(n int64, c money.Currency) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	unit := scale(c)
	whole, decimals := n/unit, fmt.Sprintf("%0*d", len(fmt.Sprint(unit))-1, n%unit)
	switch f, known := formats[c]; {
	case !known && c.Exponent() == 0:
		return sign + grouped(whole, ",") + " " + string(c)
	case !known:
		return sign + grouped(whole, ",") + "." + decimals + " " + string(c)
	default:
		return sign + strings.NewReplacer(
			"{{amount}}", grouped(whole, ",")+"."+decimals,
			"{{amount_with_comma_separator}}", grouped(whole, ".")+","+decimals,
			"{{amount_no_decimals}}", grouped(whole, ","),
		).Replace(f)
	}
}

// grouped writes a number with a separator between thousands.
func grouped(n int64, separator string) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + separator + s[i:]
	}
	return s
}
