package prepare

import (
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/order"
	"github.com/perennialhq/perennial/internal/domain/swap"
)

// Needs are why an order must be prepared before its charge. The zero value means that it
// need not be.
type Needs struct {
	Prices  bool // prices of its lines change with the orders
	Note    bool // it has a note of its own
	OneOffs int  // one-time products of the order
	Rules   bool // swap rules of the store concern it
	Box     bool // it is a box, whose price changes
	Undo    bool // the platform's order holds a change that is no longer wanted
}

// Any reports whether the order has to be prepared.
func (n Needs) Any() bool { return n != Needs{} }

// outdated reports whether a ready order must be prepared again: the platform holds a copy of
// an older contract for it, or it now has another place among the contract's orders, by which
// prices go. An order that was sent stays as it is.
func outdated(a billing.Attempt, c contract.Contract, r order.Rules) bool {
	waits := a.Status == billing.Failure || a.FirstSentAt.IsZero() && (a.Status == billing.Queued || a.Status == billing.Requesting)
	return waits && a.Prep.Stage == billing.Ready && (a.Prep.Edited && c.Revision > a.Prep.Revision || pricesOutdated(a, c) || boxOutdated(a, c, r))
}

// boxOutdated reports whether the order was prepared when its box had another price.
func boxOutdated(a billing.Attempt, c contract.Contract, r order.Rules) bool {
	boxed, _ := r.Boxed(c, a.Lines, 0)
	return order.BoxDiscount(boxed.Discounts) != a.Prep.Box
}

// pricesOutdated reports whether the order was prepared at another place among the orders of
// a contract whose prices change with them, or for prices that the contract no longer has.
func pricesOutdated(a billing.Attempt, c contract.Contract) bool {
	return c.Priced && (a.Prep.Order != c.NextOrder() || a.Prep.Contract != "" && a.Prep.Contract != billing.FingerprintOf(c.Lines))
}

// Renew starts the preparation of a ready order again. Lasting swap rules have been applied
// already; prices that change with the orders may have changed since.
func Renew(a *billing.Attempt, c contract.Contract) {
	outdated := pricesOutdated(*a, c)
	a.ResetPreparation()
	if !outdated {
		a.Prep.Stage = billing.ContractDone
	}
}

// maxEdits is how many changes of an order may end unconfirmed before the order is charged
// as it is.
const maxEdits = 8

// OrderFor returns what must be prepared for the attempt's order, and whether anything is.
func OrderFor(a billing.Attempt, c contract.Contract, in billing.Inputs) (Order, bool) {
	e := Order{Attempt: a, Of: c, OneOffs: in.For(a.Cycle), rules: in.Rules}
	if a.Prep.Lasted {
		e.rules.Lasting = nil
	}
	e.rules.Lasting, e.rules.Single = swap.Without(e.rules.Lasting, a.Prep.Declined), swap.Without(e.rules.Single, a.Prep.Declined)
	switch a.Prep.Stage {
	case billing.Ready:
		return e, outdated(a, c, e.rules)
	case billing.Fresh:
		return e, c.Priced || a.Note != "" || a.Prep.Edited || len(e.OneOffs) > 0 || e.concerned() || e.boxChanges()
	}
	return e, true
}

// Order is an attempt whose order is prepared.
type Order struct {
	billing.Attempt
	Of        contract.Contract
	OneOffs   []billing.OneOff      // of this order
	rules     order.Rules           // of the contract; without those that last if they have acted already
	edited    []int                 // cycles of the contract that may hold an edit of ours
	announced contract.InFlightEdit // the change that this step makes to the contract; zero: none
}

// Needs returns why the order is prepared.
func (e Order) Needs() Needs {
	n := Needs{
		Prices: e.Of.Priced, Note: e.Note != "", OneOffs: len(e.OneOffs),
		Rules: e.concerned(), Box: e.boxChanges(),
	}
	n.Undo = !n.Any()
	return n
}

// swapOrder returns the order as swap rules see it.
func (e Order) swapOrder(lines []swap.LineItem) swap.Order {
	return e.rules.Sees(e.Of, lines, order.Place{Cycle: e.Cycle, Date: e.BillingDate}, 0)
}

// note returns the note of the order: the contract's, and below it the order's own.
func (e Order) note() string {
	return billing.JoinNotes(e.Of.Note, e.Note)
}

// concerned reports whether a rule concerns the order of the contract's lines, or a price begins with
// it that a rule has put off.
func (e Order) concerned() bool {
	return e.lasts() || swap.Concern(e.rules.Single, e.swapOrder(swap.Lines(e.Of.Lines)))
}

// lasts reports whether rules change the contract, or the price of one of its lines, with the order.
func (e Order) lasts() bool {
	o := e.swapOrder(swap.Lines(e.Of.Lines))
	_, raised := o.Raised(o.Lines)
	return !e.Prep.Lasted && (len(raised) > 0 || swap.Concern(e.rules.Lasting, o))
}

// boxChanges reports whether the contract lacks the discount that makes its box cost what its bundle
// says, or has another one.
func (e Order) boxChanges() bool {
	boxed, _ := e.rules.Boxed(e.Of, e.Of.PricedAt(e.Of.Lines, e.Cycle, 0), 0)
	return len(order.BoxEdits(e.Of.Discounts, boxed)) > 0
}

// changesOf returns what rules do, for the plan and the activity log.
func changesOf(applied []swap.Rule) []billing.Change {
	changes := make([]billing.Change, len(applied))
	for i, r := range applied {
		changes[i] = billing.Change{Rule: r.ID, Name: r.Name, Silent: r.NoEmail, Once: !r.EveryOrder && !r.OneOrderOnly(), Removed: r.Sources, Added: r.Destinations}
		if r.ShiftDays != nil {
			changes[i].Shift = *r.ShiftDays
		}
	}
	return changes
}
