package prove

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform/simulator"
)

// The invariants of moves.
const (
	M1 Invariant = "M1"
	M2 Invariant = "M2"
	M3 Invariant = "M3"
	M4 Invariant = "M4"
	M5 Invariant = "M5"
	M6 Invariant = "M6"
)

// movingInvariants says how each is checked, in their order.
var movingInvariants = []Check{
	{M1, "at every order that the platform makes, of whichever app: it is the next one that the oracle owes the subscription, and not earlier than that"},
	{M2, "at every order: its amount is that which the oracle computes from what the buyer and the merchant of the first contract agreed on - prices by cycle, discounts, and for how many orders - and from the number of the order among all of the subscription"},
	{M3, "at every order and in the end: each one that is owed was made, at most as late as failures last; one that fell due while contracts of its store were between the services, at most as late as a move of one takes"},
	{M4, "in the end: each subscription has one contract, which is charged; all others have ended; what a contract was imported as is the same customer's"},
	{M5, "in the end, both ways: every order of an app has one successful attempt at that app's service, and every successful attempt an order"},
	{M6, "at every charge that the platform accepts: the contract is not behind the fence that it was created with"},
	{I12, "the first world is run twice and must leave the same trace"},
}

// longestMove is how long a contract may be between the services.
const longestMove = 36 * time.Hour

// require counts a check and fails the pair when it does not hold.
func (r *pair) require(is Invariant, holds bool, format string, args ...any) bool {
	r.checks[is]++
	if !holds {
		v := violation{Is: is, Step: r.steps, At: r.now, What: fmt.Sprintf(format, args...)}
		r.violations = append(r.violations, v)
		if r.err == nil {
			r.err = v
		}
	}
	return holds
}

// charged checks what the platform has charged.
func (r *pair) charged(c simulator.Charge) {
	r.note("charge", c.State, c.App, fmt.Sprint(c.Contract), fmt.Sprint(c.Cycle))
	if c.State == "PENDING" {
		r.open(c)
	}
	if c.Order == nil {
		return
	}
	s := r.subscriberOf(c.Contract)
	if s == nil {
		r.require(M1, false, "contract %d, which no buyer made, is charged", c.Contract)
		return
	}
	n := len(s.orders)
	s.orders = append(s.orders, *c.Order)
	r.due++
	if !r.require(M1, n < len(s.due), "%s has order %d by the %s service, and %d are owed in all:%s", s.name(), n+1, c.App, len(s.due), s.history()) {
		r.doubled++
		return
	}
	if !r.require(M1, !c.Order.At.Before(s.due[n].Add(-r.sides[0].ahead())), "%s has order %d at %s by the %s service, and it is due %s:%s", s.name(), n+1, c.Order.At, c.App, s.due[n], s.history()) {
		r.doubled++
	}
	want := money.Amount{Minor: s.sale.Cost(n + 2), Currency: s.shop.plan.Currency}.String() // the checkout's is the first
	r.require(M2, c.Order.Amount == want, "order %d of %s by the %s service is over %s and not %s, by %+v:%s", n+1, s.name(), c.App, c.Order.Amount, want, s.plan.Terms, s.history())
	r.inTime(s, n, c.Order.At)
}

// open checks that a contract is not charged behind the fence that it was created with. One that is
// put behind a fence to leave has its own number there; a charge that was begun before may still come.
func (r *pair) open(c simulator.Charge) {
	is, err := r.sim.Contract(c.Contract)
	if err != nil {
		r.err = err
		return
	}
	fenced := slices.ContainsFunc(is.Attributes, func(a simulator.AttributeSpec) bool {
		return a.Key == contract.FenceAttribute && a.Value != fmt.Sprint(c.Contract)
	})
	r.require(M6, !fenced, "contract %d is charged by the %s service behind its fence", c.Contract, c.App)
}

// inTime checks that what was due was not made later than something explains.
func (r *pair) inTime(s *subscriber, n int, made time.Time) {
	due := s.due[n]
	by := made.Sub(due)
	allowed := longestDelay + s.shift
	if r.plan.Rates[ClockJump] > 0 {
		allowed += farthestJump // what a clock that was ahead has put off waits for as long
	}
	moved := r.betweenServices(s, due, made)
	if moved {
		allowed += longestMove
	}
	for _, w := range r.sides {
		for _, h := range w.halts {
			if h.from.Before(made) && h.to.Add(day).After(due) {
				allowed += h.to.Sub(h.from) + day
			}
		}
	}
	if !r.require(M3, by <= allowed, "order %d of %s, due %s, is late by %s%s", n+1, s.name(), due, by, s.history()) {
		r.missed++
	}
	if moved && by-s.shift > time.Hour {
		r.late++
		s.shift = max(s.shift, by)
	}
	r.latest = max(r.latest, by)
}

// betweenServices reports whether contracts of a store may have been between the services.
func (r *pair) betweenServices(s *subscriber, from, to time.Time) bool {
	return slices.ContainsFunc(r.legs[s.plan.Shop].spans, func(p span) bool { return p.from.Before(to) && p.to.After(from.Add(-time.Hour)) })
}

// subscriberOf returns whose contract it is; nil: no buyer's.
func (r *pair) subscriberOf(id int64) *subscriber {
	if s := r.byContract[id]; s != nil {
		return s
	}
	is, err := r.sim.Contract(id)
	if err != nil {
		return nil
	}
	s := r.subscribers[is.Customer.Email]
	r.byContract[id] = s
	return s
}

func (s *subscriber) name() string { return s.plan.Spec.Customer.Email }

// history is what was due and what was charged.
func (s *subscriber) history() (text string) {
	for n := range max(len(s.orders), min(len(s.due), len(s.orders)+2)) {
		text += "\n\t"
		if n < len(s.due) {
			text += "due " + s.due[n].Format(time.RFC3339)
		}
		if n < len(s.orders) {
			o := s.orders[n]
			text += fmt.Sprintf(" made %s by the %s service as contract %d, cycle %d", o.At.Format(time.RFC3339), o.App, o.Contract, o.Cycle)
		}
	}
	return text
}

// finish checks everything, after the calm.
func (r *pair) finish() {
	for _, email := range sorted(r.subscribers) {
		s := r.subscribers[email]
		for n := len(s.orders); n < len(s.due) && s.due[n].Before(r.now); n++ {
			r.inTime(s, n, r.now)
		}
	}
	r.whereContractsAre()
	for i, w := range r.sides {
		r.booksAgree(clients[i], w)
	}
}

// whereContractsAre checks that each subscription has one contract, which is charged, also where the platform
// carried out a creation long after its caller gave up.
func (r *pair) whereContractsAre() {
	charged := map[string][]int64{}
	for _, id := range sorted(r.contracts()) {
		is, err := r.sim.Contract(id)
		if err != nil {
			r.err = err
			return
		}
		fenced := slices.ContainsFunc(is.Attributes, func(a simulator.AttributeSpec) bool { return a.Key == contract.FenceAttribute })
		switch {
		case terminated(is.Status):
		case is.Status == "ACTIVE" && !fenced:
			charged[is.Customer.Email] = append(charged[is.Customer.Email], id)
		default:
			r.require(M4, false, "contract %d of %s is %s, behind a fence: %t, and no move is under way", id, is.Customer.Email, is.Status, fenced)
		}
	}
	for _, email := range sorted(r.subscribers) {
		s := r.subscribers[email]
		over := s.plan.Spec.Billing.MaxCycles > 0 && len(s.orders) == len(s.due)
		r.require(M4, len(charged[email]) == 1 || over && len(charged[email]) == 0, "%s has the contracts %v that are charged%s", email, charged[email], s.history())
	}
}

// importedOf adds the contracts of a database with what they were at the other service.
func importedOf(books *sql.DB, to map[int64]string) error {
	rows, err := books.QueryContext(context.Background(), "SELECT id, imported_id FROM contracts")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var imported string
		if err := rows.Scan(&id, &imported); err != nil {
			return err
		}
		to[id] = imported
	}
	return rows.Err()
}

// contracts returns the contracts of both services with what they were at the other one.
func (r *pair) contracts() map[int64]string {
	all := map[int64]string{}
	for _, w := range r.sides {
		if err := importedOf(w.books, all); err != nil {
			r.err = err
			return nil
		}
	}
	for _, id := range sorted(all) {
		imported := all[id]
		var from int64
		_, _ = fmt.Sscan(imported, &from)
		if from == 0 {
			continue
		}
		r.require(M4, r.subscriberOf(from) == r.subscriberOf(id), "contract %d says that it was contract %s, which is another customer's", id, imported)
	}
	return all
}

// booksAgree compares the orders of an app with the attempts of its service.
func (r *pair) booksAgree(client string, w *world) {
	attempts, err := w.attempts()
	if err != nil {
		r.err = err
		return
	}
	paid := map[int64]attempt{}
	for _, a := range attempts {
		if a.status == "SUCCESS" {
			paid[a.order] = a
		}
	}
	for _, email := range sorted(r.subscribers) {
		for _, o := range r.subscribers[email].orders {
			if o.App == client {
				a, known := paid[o.ID]
				r.require(M5, known && a.contract == o.Contract && a.amount.String() == o.Amount, "order %s of contract %d over %s is not known to the %s service", o.Name, o.Contract, o.Amount, w.name)
				delete(paid, o.ID)
			}
		}
	}
	for _, id := range sorted(paid) {
		r.require(M5, false, "attempt %d of the %s service says that it made order %d", paid[id].id, w.name, id)
	}
}
