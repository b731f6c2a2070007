// Package money counts amounts in whole minor units of their currency. Decimal
// strings and floats exist only where amounts enter and leave.
package money

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"github.com/govalues/decimal"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// Currency is an ISO 4217 code in upper case.
type Currency string

// exponents lists the currencies of ISO 4217 whose minor unit is not a hundredth.
var exponents = map[Currency]int{
	"BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "ISK": 0, "JPY": 0, "KMF": 0, "KRW": 0,
	"PYG": 0, "RWF": 0, "UGX": 0, "UYI": 0, "VND": 0, "VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0,
	"BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3, "OMR": 3, "TND": 3,
}

// Exponent returns the number of decimals of the currency's minor unit.
func (c Currency) Exponent() int {
	if e, ok := exponents[c]; ok {
		return e
	}
	return 2
}

// WithExponent returns the currencies whose minor unit has so many decimals, which are
// not 2, in the order of their codes.
func WithExponent(n int) []Currency {
	var list []Currency
	for c, e := range exponents {
		if e == n {
			list = append(list, c)
		}
	}
	slices.Sort(list)
	return list
}

// Finest is a currency than which none has more decimals.
const Finest Currency = "KWD"

// Amount is a number of minor units of a currency.
type Amount struct {
	Minor    int64
	Currency Currency
}

// Parse reads a decimal string such as "10.0". More decimals than the currency
// has are rounded half to even.
func Parse(s string, c Currency) (Amount, error) {
	d, err := decimal.Parse(s)
	if err != nil {
		return Amount{}, fault.Because(fault.Invalid, err, "%q is not an amount of %s", s, c)
	}
	d = d.Round(c.Exponent())
	whole, frac, ok := d.Int64(c.Exponent())
	if !ok {
		return Amount{}, fault.New(fault.Invalid, "%q is out of range for an amount of %s", s, c)
	}
	scale := pow10(c.Exponent())
	if whole > (1<<62)/scale || whole < -(1<<62)/scale {
		return Amount{}, fault.New(fault.Invalid, "%q is out of range for an amount of %s", s, c)
	}
	return Amount{whole*scale + frac, c}, nil
}

// ParseExact is Parse for amounts that people give: more decimals than the
// currency has are Invalid.
func ParseExact(s string, c Currency) (Amount, error) {
	a, err := Parse(s, c)
	if err != nil {
		return Amount{}, err
	}
	if given, err := decimal.Parse(s); err != nil || given.Trim(0).Scale() > c.Exponent() {
		return Amount{}, fault.New(fault.Invalid, "%q has more decimals than the %d of %s", s, c.Exponent(), c)
	}
	return a, nil
}

// String returns the amount with the currency's decimals, such as "10.00".
func (a Amount) String() string {
	e := a.Currency.Exponent()
	if e == 0 {
		return fmt.Sprintf("%d", a.Minor)
	}
	sign, m, scale := "", a.Minor, pow10(e)
	if m < 0 {
		sign, m = "-", -m
	}
	return fmt.Sprintf("%s%d.%0*d", sign, m/scale, e, m%scale)
}

// Float returns the amount in main units, for the wire types that want a number.
func (a Amount) Float() float64 { return float64(a.Minor) / float64(pow10(a.Currency.Exponent())) }

// Milli returns the amount in thousandths of the main unit, in which amounts of
// different currencies compare by their face value.
func (a Amount) Milli() int64 { return a.Minor * pow10(3-a.Currency.Exponent()) }

// Times returns n times the amount.
func (a Amount) Times(n int64) Amount { return Amount{a.Minor * n, a.Currency} }

// Plus returns the sum of two amounts of one currency.
func (a Amount) Plus(b Amount) Amount { return Amount{a.Minor + b.Minor, a.Currency} }

// PercentOff returns the amount less a percentage from 0 to 100, which is read as it
// is written down. It is rounded as Share says.
func (a Amount) PercentOff(percent float64) Amount { return a.less(fraction(percent)) }

// HasPercent reports whether a percentage of the amount is a whole number of minor units, so that
// PercentOff rounds nothing.
func (a Amount) HasPercent(percent float64) bool {
	return new(big.Rat).Mul(fraction(percent), big.NewRat(a.Minor, 1)).IsInt()
}

// fraction returns a percentage, as it is written down, as a fraction of 1.
func fraction(percent float64) *big.Rat {
	off, ok := new(big.Rat).SetString(strconv.FormatFloat(percent, 'f', -1, 64))
	if !ok {
		return new(big.Rat)
	}
	return off.Quo(off, big.NewRat(100, 1))
}

// Share returns part/whole of the amount; whole is not 0. What that takes off is
// rounded to whole minor units, half up, so that half a cent is the buyer's: as the
// platform does with a percentage of a discount, wherever a price is computed.
func (a Amount) Share(part, whole int64) Amount {
	return a.less(new(big.Rat).Sub(big.NewRat(1, 1), big.NewRat(part, whole)))
}

// Ratio returns part/whole of the amount, rounded half away from zero; whole is positive.
func (a Amount) Ratio(part, whole int64) Amount {
	twice := new(big.Int).Mul(big.NewInt(a.Minor), big.NewInt(part))
	twice.Lsh(twice, 1)
	half := big.NewInt(whole)
	if twice.Sign() < 0 {
		half.Neg(half)
	}
	twice.Add(twice, half)
	return Amount{twice.Quo(twice, big.NewInt(2*whole)).Int64(), a.Currency}
}

// less takes a fraction off the amount.
func (a Amount) less(fraction *big.Rat) Amount {
	off := new(big.Rat).Mul(fraction, big.NewRat(a.Minor, 1))
	off.Add(off, big.NewRat(1, 2))
	whole := new(big.Int).Div(off.Num(), off.Denom()) // rounded down
	return Amount{a.Minor - whole.Int64(), a.Currency}
}

func pow10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}
