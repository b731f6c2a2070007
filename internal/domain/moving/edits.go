package moving

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

// Edit is how an order to come differs from what the contract's frequency makes of it.
type Edit struct {
	Cycle   int       // counted from the next order as 1
	Date    time.Time // of the frequency, as the orders before it have it
	Skip    bool
	MoveTo  time.Time // zero: it stays on its date
	Restart bool      // later orders are counted from MoveTo
	Note    string
	OneOffs []OneOff
}

// Edits returns the orders to come that differ from what the frequency makes of them, by cycle.
// An order that the other service does not list, though it lists later ones, is skipped.
func (c Contract) Edits(cal cadence.Calendar) []Edit {
	if c.Next.IsZero() || len(c.Upcoming) == 0 {
		return nil
	}
	s := c.Stored(cal)
	half := c.Billing.Approx() / 2
	var list []Edit
	rest := c.Upcoming
	for cycle := 1; len(rest) > 0 && !s.PastLastCycle(cycle) && cycle <= mostEdits; cycle++ {
		e := Edit{Cycle: cycle, Date: s.DueOn(cycle, cal)}
		next := rest[0]
		if next.Date.Sub(e.Date) >= half {
			e.Skip = true
			list = append(list, e)
			continue
		}
		rest = rest[1:]
		if at := slices.IndexFunc(s.LaterSeries, func(l contract.Series) bool { return l.Cycle == cycle }); at >= 0 {
			before := s
			before.LaterSeries = s.LaterSeries[:at]
			e.Date, e.Restart = before.DueOn(cycle, cal), true
		}
		e.Note, e.OneOffs = next.Note, next.OneOffs
		if cal.Day(next.Date) != cal.Day(e.Date) {
			e.MoveTo = next.Date
		}
		if !e.MoveTo.IsZero() || e.Note != "" || len(e.OneOffs) > 0 {
			list = append(list, e)
		}
	}
	return list
}

// Charges returns what both services charge of the contract until an instant: the other one by the
// amounts that it names, and where it names none by those of this service.
func (c Contract) Charges(until time.Time, cal cadence.Calendar) Coming {
	var sum Coming
	if c.Status != contract.Active || c.Next.IsZero() {
		return sum
	}
	s := c.Stored(cal)
	ahead := 0
	for _, u := range c.Upcoming {
		if !u.Date.Before(until) {
			break
		}
		amount := u.Amount.Minor
		if u.Amount.Currency == "" {
			amount = c.Amount(ahead, cal).Minor
		}
		sum.There, sum.ThereOrders, ahead = sum.There+amount, sum.ThereOrders+1, ahead+1
	}
	edits := c.Edits(cal)
	ahead = 0
	for cycle := 1; cycle <= mostEdits && !s.PastLastCycle(cycle); cycle++ {
		date := s.DueOn(cycle, cal)
		at := slices.IndexFunc(edits, func(e Edit) bool { return e.Cycle == cycle })
		if at >= 0 && edits[at].Skip {
			continue
		}
		if at >= 0 && !edits[at].MoveTo.IsZero() {
			date = edits[at].MoveTo
		}
		if !date.Before(until) {
			break
		}
		amount := s.Cost(s.Lines, cycle, ahead)
		if at >= 0 {
			for _, o := range edits[at].OneOffs {
				if o.Price.Currency == amount.Currency {
					amount = amount.Plus(o.Price.Times(int64(o.Quantity)))
				}
			}
		}
		sum.Here, sum.HereOrders, ahead = sum.Here+amount.Minor, sum.HereOrders+1, ahead+1
	}
	return sum
}

// mostEdits is how many orders ahead are compared: services list the next ones only.
const mostEdits = 60
