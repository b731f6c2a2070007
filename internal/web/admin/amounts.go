package admin

import (
	"encoding/json"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/web"
)

// amountIn reads an amount in a currency.
func amountIn(currency money.Currency, param, value string) (*money.Amount, error) {
	a, err := money.ParseExact(value, currency)
	if err != nil {
		return nil, fault.Because(fault.Invalid, err, "'%s' is no amount of %s: give a number with at most %d decimals", value, currency, currency.Exponent()).Field(param)
	}
	return &a, nil
}

// exactNumber is a number of a JSON body with all its digits.
type exactNumber string

// Schema describes the number.
func (exactNumber) Schema(r huma.Registry) *huma.Schema { return web.Decimal("").Schema(r) }

// UnmarshalJSON reads a number and nothing else; null is not read.
func (n *exactNumber) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return &json.UnmarshalTypeError{Value: "string", Type: reflect.TypeFor[float64]()}
	}
	var number json.Number
	err := json.Unmarshal(text, &number)
	*n = exactNumber(number)
	return err
}

// amount reads an amount in a currency. It loses no digit.
func (n exactNumber) amount(path string, in money.Currency) (money.Amount, error) {
	a, err := money.Parse(string(n), in)
	if err != nil {
		return a, fault.Because(fault.Invalid, err, "%s is not an amount of %s", n, in).Code("bodyField").Field(path)
	}
	is, err := strconv.ParseFloat(string(n), 64)
	if err != nil || is != a.Float() {
		return a, fault.New(fault.Invalid, "%s has more decimals than %s: write %d at most", n, in, in.Exponent()).Code("bodyField").Field(path)
	}
	return a, nil
}
