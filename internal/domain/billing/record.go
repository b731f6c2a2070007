package billing

import (
	"context"
	"slices"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/order"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Book reads attempts without a transaction.
type Book interface {
	// Attempt returns one attempt of the line, or NotFound.
	Attempt(ctx context.Context, of shop.ID, line shop.Line, id AttemptID) (Record, error)
	// AttemptsWhere returns a page of the attempts of a contract, or of all
	// contracts of a customer, in the question's order unless the page has one,
	// and how many there are. A contract that the line does not have is
	// NotFound, and so is one that is not the question's customer's.
	AttemptsWhere(ctx context.Context, of shop.ID, q Question, p page.Request) ([]Record, int, error)
}

// Question selects attempts. At least one of Contract and Customer is set. With
// both, the contract must be the customer's.
type Question struct {
	Line     shop.Line
	Contract contract.ID
	Customer int64
	Upcoming bool // QUEUED ones, soonest first; otherwise those that are past, newest first
}

// Record is an attempt and the contract that it belongs to.
type Record struct {
	Attempt
	Of contract.Contract

	OneOffs []OneOff                      // of the order, until it has been prepared
	Rules   order.Rules                   // of the store, for the contract
	Before  []order.Place                 // orders of the contract before this one, in the order in which they are made
	Mails   map[notify.Kind]notify.Result // of the last e-mail of each kind about the attempt
	SMS     map[notify.Kind]notify.Result // of the SMS beside them
}

// Inputs are the data beside a contract on which its upcoming orders depend.
type Inputs struct {
	OneOffs []OneOff // of upcoming orders
	Rules   order.Rules
}

// For returns the one-time products of a cycle's order.
func (in Inputs) For(cycle int) []OneOff {
	return slices.DeleteFunc(slices.Clone(in.OneOffs), func(o OneOff) bool { return o.Cycle != cycle || o.Done })
}

// RecordOf returns an attempt of a contract with its own of the inputs, and with the orders before it
// that are among the attempts.
func RecordOf(a Attempt, of contract.Contract, in Inputs, attempts []Attempt) Record {
	r := Record{Attempt: a, Of: of, OneOffs: in.For(a.Cycle), Rules: in.Rules}
	r.SetBefore(attempts)
	return r
}

// SetBefore sets Before from attempts of contracts. Only open attempts count. An unpaid order comes
// first for as long as it may still be charged.
func (r *Record) SetBefore(attempts []Attempt) {
	r.Before = unpaidFirst(r.Of, r.Attempt)
	for _, a := range inOrder(r.Of.ID, attempts) {
		if a.Precedes(r.Attempt) {
			r.Before = append(r.Before, placeOf(a))
		}
	}
}

// placeOf returns an attempt's order for a walk, without what only it holds.
func placeOf(a Attempt) order.Place {
	return order.Place{Cycle: a.Cycle, Date: a.BillingDate, Lasted: a.Prep.hasLasted(), Declined: a.Prep.Declined}
}

// unpaidFirst returns the place of the unpaid order of a contract that is made before one.
func unpaidFirst(c contract.Contract, before Attempt) []order.Place {
	if unpaid := c.Dunning; unpaid != nil && !c.EndsAfterDunning() && before.Status == Queued && unpaid.Cycle != before.Cycle {
		return []order.Place{{Cycle: unpaid.Cycle, Lasted: true}}
	}
	return nil
}

// inOrder returns a contract's open attempts in the order in which their orders are made.
func inOrder(c contract.ID, attempts []Attempt) []Attempt {
	var open []Attempt
	for _, a := range attempts {
		if a.Contract == c && slices.Contains(Open, a.Status) {
			open = append(open, a)
		}
	}
	slices.SortFunc(open, func(a, b Attempt) int {
		if a.Precedes(b) {
			return -1
		}
		return 1
	})
	return open
}

// With returns the order as it would be if its contract were another.
func (r Record) With(c contract.Contract) Record {
	r.Of = c
	return r
}

// Ahead is the number of the contract's orders before this one.
func (r Record) Ahead() int { return len(r.Before) }

// CountsOrders reports whether the order depends on those before it.
func (r Record) CountsOrders() bool { return r.Of.CountsOrders() || !r.Rules.None() }

// Place returns the order for a walk through the orders of its contract.
func (r Record) Place() order.Place {
	at := placeOf(r.Attempt)
	if r.Settled() {
		at.Lines = r.Attempt.Lines
	}
	for _, o := range r.OneOffs {
		at.Once = append(at.Once, o.Line())
	}
	return at
}

// Order returns what the order holds and costs: as it was sent or prepared or, before that, as it
// would be today.
func (r Record) Order() order.Order {
	all := order.Walk(r.Of, r.Rules, append(slices.Clip(r.Before), r.Place()))
	return all[len(all)-1]
}

// Incomplete returns the first rule that the contract's box breaks, for which its order waits; nil:
// none.
func (r Record) Incomplete() error { return r.Rules.Incomplete(r.Of) }

// Cost returns what the attempt charged or, before that, what its order would cost today,
// before taxes. The cost of a skipped order stays what it was when it was skipped.
func (r Record) Cost() money.Amount {
	if r.Amount != (money.Amount{}) {
		return r.Amount
	}
	return r.Order().Bill.Total
}

// LinesOf returns the lines that the attempt charged or skipped or, before that, those
// that it would charge today, at the prices of the order.
func (r Record) LinesOf() []contract.LineItem {
	if r.Settled() {
		return r.Attempt.Lines
	}
	return r.Order().Lines
}

// Replaced returns the line of the contract in whose place swap rules put a line of the order to come;
// false when they put it in no other's.
func (r Record) Replaced(l contract.LineItem) (contract.LineItem, bool) {
	at := r.Of.LineByID(l.ID)
	if at < 0 || r.Status != Queued {
		return contract.LineItem{}, false
	}
	return r.Of.Lines[at], r.Of.Lines[at].VariantID != l.VariantID
}

// Settled reports whether the attempt's own lines count: they were sent, or the order was
// prepared with them for the contract as it is now.
func (r Record) Settled() bool {
	switch {
	case len(r.Attempt.Lines) == 0:
		return false
	case r.Status != Queued && r.Status != Failure:
		return true
	}
	return r.Prep.Stage == Ready && r.Prep.Contract == FingerprintOf(r.Of.Lines)
}
