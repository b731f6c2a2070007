package words

import (
	"net/http"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/web/portal"
)

// Fields of forms whose values change what an order costs.
const (
	doField    = "do"
	countValue = "count"
	totalField = "total"
)

// Counts reports whether a form asks only what an order would cost.
func Counts(r *http.Request) bool { return r.PostForm.Get(doField) == countValue }

// CountedOf says what the order of a day costs now and then.
func CountedOf(v portal.Visit, day string, now, then money.Amount) *portal.Counted {
	return &portal.Counted{
		Total: then.Minor,
		Steps: []portal.Step{
			{Name: v.T("steps.now"), Day: day, Amount: Amount(v, now)},
			{Name: v.T("steps.changed"), Day: day, Amount: Amount(v, then), Kind: "now"},
		},
	}
}

// CheckTotal refuses a form whose reader has not seen what the order will cost.
func CheckTotal(r *http.Request, then money.Amount) error {
	if r.PostForm.Get(totalField) != strconv.FormatInt(then.Minor, 10) {
		return fault.New(fault.Invalid, "total must be %d, what the order costs with the change", then.Minor).Code("totalNotShown")
	}
	return nil
}
