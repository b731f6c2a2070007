package words

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/web/portal"
)

// Undo returns the form that takes back what was just done, as the query of the address says: a change
// of products, see [Reversal], or of an order that it names (of), which was skipped, or moved from a
// day (was), maybe with those after it (scope). It is nil when there is nothing to take back.
func Undo(v portal.Visit, s overview.Sheet, query url.Values) *portal.Form {
	if back, ok := ReversalIn(v, s.Contract.ID, query); ok && back.Done == query.Get("done") {
		return back.form(v, s)
	}
	id, err := strconv.ParseInt(query.Get("of"), 10, 64)
	if err != nil {
		return nil
	}
	at := slices.IndexFunc(s.Upcoming, func(o overview.Order) bool { return int64(o.ID) == id })
	switch {
	case at < 0:
		return nil
	case query.Has("was"):
		return moveBack(v, s, s.Upcoming[at], query)
	case s.Upcoming[at].Can.Allows(do.Unskip):
		return unskip(v, s.Upcoming[at])
	}
	return nil
}

// unskip is the form that takes a skip back, whatever else has changed meanwhile.
func unskip(v portal.Visit, o overview.Order) *portal.Form {
	f := v.View.Form(OrderPath(o.Attempt)+"/unskip", 0)
	f.Text = v.T("action.unskip")
	return &f
}

// moveBack is the form that moves an order back to the day that it had, while the store permits that
// day.
func moveBack(v portal.Visit, s overview.Sheet, o overview.Order, query url.Values) *portal.Form {
	day, err := time.ParseInLocation(time.DateOnly, query.Get("was"), v.Calendar.Zone)
	first, last := s.Settings.Dates(v.Now, v.Calendar)
	on := v.Calendar.At(day)
	if err != nil || !o.Can.Allows(do.Reschedule) || on.Before(first) || on.After(last) || v.Calendar.Days(v.Now, day) < 1 || on.Equal(o.BillingDate) {
		return nil
	}
	back := url.Values{"order": {strconv.FormatInt(int64(o.ID), 10)}, "to": {query.Get("was")}, "scope": {query.Get("scope")}}
	f := v.View.Form(Path(s.Contract.ID)+"/reschedule/undo?"+back.Encode(), 0)
	f.Text = v.T("action.moveBack", "day", v.Day(on))
	return &f
}

// Changes of the products of all orders, as ?done= names them.
const (
	Swapped = "swapped"
	Added   = "added"
	Removed = "removed"
)

// Reversal is what makes the products of a contract what they were before a change. Addresses carry it
// with a seal: without, a link could lead a reader to change products that they never chose.
type Reversal struct {
	Contract contract.ID
	Done     string // the change
	Line     string // that was swapped or added
	Variant  int64  // that was swapped or removed
	Quantity int    // that was removed
	Unit     int64  // what one of the variant cost in the next order, in minor units
}

// Values returns the parameters that an address carries the reversal in.
func (r Reversal) Values(v portal.Visit) url.Values {
	values := url.Values{
		"done": {r.Done}, "line": {r.Line}, variantParam: {strconv.FormatInt(r.Variant, 10)}, quantity: {strconv.Itoa(r.Quantity)},
		"unit": {strconv.FormatInt(r.Unit, 10)},
	}
	values.Set("seal", v.View.Seal(r.offer()))
	return values
}

func (r Reversal) offer() string { return fmt.Sprintf("%+v", r) }

// ReversalIn reads the reversal that an address carries; false when it has none for its reader and
// contract.
func ReversalIn(v portal.Visit, id contract.ID, values url.Values) (Reversal, bool) {
	number := func(name string) int64 {
		n, err := strconv.ParseInt(values.Get(name), 10, 64)
		if err != nil {
			return 0
		}
		return n
	}
	r := Reversal{id, values.Get("done"), values.Get("line"), number(variantParam), int(number(quantity)), number("unit")}
	return r, v.View.Sealed(r.offer(), values.Get("seal"))
}

// form is the form that asks for the reversal; nil when it is not possible now.
func (r Reversal) form(v portal.Visit, s overview.Sheet) *portal.Form {
	at := slices.IndexFunc(s.Contract.Lines, func(l contract.LineItem) bool { return LineName(l.ID) == r.Line })
	path, text := "", ""
	switch {
	case r.Done == Swapped && at >= 0 && s.Contract.Lines[at].VariantID != r.Variant && s.Can.Allows(do.Swap):
		path, text = "/swap/undo", "action.swapBack"
	case r.Done == Added && at >= 0 && len(s.Contract.Lines) > 1 && s.Can.Allows(do.RemoveProduct):
		path, text = "/add/undo", "action.removeAgain"
	case r.Done == Removed && s.Can.Allows(do.AddProduct):
		path, text = "/remove/undo", "action.addAgain"
	default:
		return nil
	}
	f := v.View.Form(Path(s.Contract.ID)+path+"?"+r.Values(v).Encode(), 0)
	f.Text = v.T(text)
	return &f
}
