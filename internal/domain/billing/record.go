package billing

import (
	"context"
	"slices"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
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
	Ahead   int                           // orders of the contract before this one
	Mails   map[notify.Kind]notify.Result // of the last e-mail of each kind about the attempt
	SMS     map[notify.Kind]notify.Result // of the SMS beside them
}

// RecordOf returns an attempt of a contract with its own of the one-time products, and with the
// orders ahead of it that are among the attempts.
func RecordOf(a Attempt, of contract.Contract, oneOffs []OneOff, attempts []Attempt) Record {
	r := Record{Attempt: a, Of: of}
	for _, o := range oneOffs {
		if o.Contract == a.Contract && o.Cycle == a.Cycle && !o.Done {
			r.OneOffs = append(r.OneOffs, o)
		}
	}
	r.CountAhead(attempts)
	return r
}

// CountAhead sets Ahead from attempts of contracts. Only open attempts count. An unpaid order comes
// first for as long as it may still be charged.
func (r *Record) CountAhead(attempts []Attempt) {
	r.Ahead = 0
	for _, a := range attempts {
		if a.Contract == r.Of.ID && slices.Contains(Open, a.Status) && a.Precedes(r.Attempt) {
			r.Ahead++
		}
	}
	if unpaid := r.Of.Dunning; unpaid != nil && !r.Of.EndsAfterDunning() && r.Status == Queued && unpaid.Cycle != r.Cycle {
		r.Ahead++
	}
}

// Cost returns what the attempt charged or, before that, what its order would cost today,
// before taxes. The cost of a skipped order stays what it was when it was skipped.
func (r Record) Cost() money.Amount {
	if r.Amount != (money.Amount{}) {
		return r.Amount
	}
	return r.Of.Cost(r.LinesOf(), r.Cycle, r.Ahead)
}

// LinesOf returns the lines that the attempt charged or skipped or, before that, those
// that it would charge today.
func (r Record) LinesOf() []contract.LineItem {
	if r.Settled() {
		return r.Attempt.Lines
	}
	lines := slices.Clip(r.Of.Lines)
	for _, o := range r.OneOffs {
		lines = append(lines, o.Line())
	}
	return lines
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
