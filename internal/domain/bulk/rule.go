package bulk

import (
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// facts are what an action on a contract depends on.
type facts struct {
	shop     shop.Shop
	contract contract.Contract
	attempts []billing.Attempt // of the contract, QUEUED or SKIPPED
	inputs   billing.Inputs    // of the contract's orders
	sold     *platform.Variant // that the action brings to it; nil: none, or not read
}

// Intent is what an action means for one contract. It is fixed before anything is done, so that
// doing it twice is doing it once: the second time, too, it is this order that is skipped, and
// this day that it is moved to.
type Intent struct {
	Attempt  billing.AttemptID `json:"attempt,omitempty"`
	Date     time.Time         `json:"date,omitzero"`
	Discount string            `json:"discount,omitempty"` // graph id
}

// Effect is what an action does to a contract: its status and its next order, before and after.
type Effect struct {
	Contract contract.ID
	Customer string
	Was, Is  State
	From     time.Time // when the first order is due that has an announced price; zero: the next order has it
	Link     bool      // an e-mail is sent
}

// State is what an effect shows of a contract.
type State struct {
	Status contract.Status
	EndsAt time.Time    // when it is cancelled; zero: now, or not
	Date   time.Time    // of the next order; zero: none
	Amount money.Amount // of it, before taxes; no currency: not known in advance
	Min    int
	Max    int
}

// next returns the contract's next order with what it would cost; false: it has none.
func (f facts) next() (billing.Record, bool) {
	queued := f.queued()
	first, ok := billing.Earliest(queued)
	if !ok {
		return billing.Record{}, false
	}
	return billing.RecordOf(first, f.contract, f.inputs, queued), true
}

func (f facts) queued() []billing.Attempt { return billing.OnlyQueued(f.attempts) }

// state returns what an effect shows of the facts.
func (f facts) state() State {
	s := State{Status: f.contract.Status, Min: f.contract.MinCycles, Max: f.contract.MaxCycles}
	if f.contract.Ending != nil {
		s.EndsAt = f.contract.Ending.At
	}
	if r, ok := f.next(); ok {
		s.Date, s.Amount = r.BillingDate, r.Cost()
	}
	return s
}

// assess says what an action does to a contract, or why it is not possible, by the rules of the
// services that carry it out. What only the platform knows (whether a code is valid, whether it
// accepts a charge so early) is found out when it is done.
func assess(f facts, a Action, by activity.Actor, now time.Time) (Effect, Intent, error) {
	e := Effect{Contract: f.contract.ID, Customer: f.contract.Customer.Name, Was: f.state()}
	e.Is = e.Was
	var in Intent
	var err error
	switch a.Kind {
	case Pause, Resume, Cancel:
		err = f.assessStatus(&e, a, by, now)
	case SkipNext, MoveNext, AddOneOff, RemoveOneOff:
		in, err = f.assessOrder(&e, a, by, now)
	case SetQuantity, SetPrice, SwapVariant:
		err = f.assessLine(&e, a, now)
	case ApplyCode:
		e.Is.Amount = money.Amount{}
		err = contractedit.CheckCode(f.contract, strings.TrimSpace(a.Code))
	case RemoveCode:
		in, err = f.assessRemoval(&e, a)
	case SetCycles:
		var after contract.Contract
		after, err = contractedit.LimitsAfter(f.contract, a.cycles())
		if e.Is.Min, e.Is.Max = after.MinCycles, after.MaxCycles; err == nil && e.Is == e.Was {
			err = unchanged(f.contract, "has these limits")
		}
	case SendLink, SendNews:
		if e.Link = true; f.contract.Customer.Email == "" {
			err = fault.New(fault.FailedPrecondition, "the customer of contract %d has no e-mail address", f.contract.ID).Entity(entity).Code("emailMissing")
		}
	}
	return e, in, err
}

// unchanged refuses an action that would change nothing.
func unchanged(c contract.Contract, what string) error {
	return fault.New(fault.FailedPrecondition, "subscription contract %d %s already", c.ID, what).Entity(amend.Entity).Code("unchanged")
}

func (f facts) assessStatus(e *Effect, a Action, by activity.Actor, now time.Time) error {
	after, err := lifecycle.Preview(f.shop, f.contract, f.attempts, by, a.status(), now)
	switch {
	case err != nil:
		return err
	case after.Moving != nil:
		e.Is.Status, e.Is.EndsAt = after.Moving.To, time.Time{}
	case after.Ending != nil:
		e.Is.EndsAt = after.Ending.At
	default:
		e.Is.EndsAt = time.Time{}
	}
	if a.Kind != Resume { // no order comes before it is resumed, which plans its dates again
		e.Is.Date, e.Is.Amount = time.Time{}, money.Amount{}
	}
	return nil
}

func (f facts) assessOrder(e *Effect, a Action, by activity.Actor, now time.Time) (Intent, error) {
	r, ok := f.next()
	if !ok {
		return Intent{}, command.NoUpcomingOrder(f.contract)
	}
	in := Intent{Attempt: r.ID}
	switch a.Kind {
	case SkipNext:
		after, err := command.PreviewSkip(f.shop, r, by, now)
		if err != nil {
			return in, err
		}
		f.replace(after.Attempt)
		s := f.state()
		e.Is.Date, e.Is.Amount = s.Date, s.Amount
	case MoveNext:
		to, err := f.target(a, r.BillingDate)
		if err != nil {
			return in, err
		}
		after, err := command.PreviewMove(f.shop, r, to, by, now)
		if err != nil {
			return in, err
		}
		if after.BillingDate.Equal(r.BillingDate) {
			return in, unchanged(f.contract, "has its next order on that day")
		}
		in.Date, e.Is.Date = to, after.BillingDate
	case AddOneOff:
		if e.Is.Amount = (money.Amount{}); f.sold == nil {
			break
		}
		if f.sold.Price.Currency != f.contract.Currency {
			return in, terms.CurrencyMismatch(*f.sold, f.contract)
		}
		r.OneOffs = slices.DeleteFunc(slices.Clone(r.OneOffs), func(o billing.OneOff) bool { return o.Variant.ID == a.Variant })
		r.OneOffs = append(r.OneOffs, billing.OneOff{Contract: f.contract.ID, Cycle: r.Cycle, Variant: *f.sold, Quantity: a.Quantity})
		e.Is.Amount = r.Cost()
	case RemoveOneOff:
		kept := slices.DeleteFunc(slices.Clone(r.OneOffs), func(o billing.OneOff) bool { return o.Variant.ID == a.Variant })
		if len(kept) == len(r.OneOffs) {
			return in, fault.New(fault.NotFound, "the next order of contract %d has no one-time product with variant %d", f.contract.ID, a.Variant).Entity(entity).Code("oneOffNotFound")
		}
		r.OneOffs = kept
		e.Is.Amount = r.Cost()
	}
	return in, nil
}

// replace puts an attempt in the place of the same one.
func (f *facts) replace(a billing.Attempt) {
	f.attempts = slices.Clone(f.attempts)
	for i := range f.attempts {
		if f.attempts[i].ID == a.ID {
			f.attempts[i] = a
		}
	}
}

// target returns the day on which a moved order falls.
func (f facts) target(a Action, from time.Time) (time.Time, error) {
	if !a.Date.IsZero() {
		return a.Date, nil
	}
	cal, err := f.shop.Calendar()
	if err != nil {
		return time.Time{}, err
	}
	return cal.At(from.In(cal.Zone).AddDate(0, 0, a.Days)), nil
}

func (f facts) assessLine(e *Effect, a Action, now time.Time) error {
	at, err := contractedit.FindLine(f.contract, a.line())
	if err != nil {
		return err
	}
	c := &f.contract
	c.Lines = slices.Clone(c.Lines)
	was := c.Lines[at]
	switch a.Kind {
	case SetQuantity:
		c.Lines[at].Quantity = a.Quantity
	case SetPrice:
		if a.Price.Currency != c.Currency {
			return fault.New(fault.FailedPrecondition, "contract %d is in %s and the price is in %s", c.ID, c.Currency, a.Price.Currency).Entity(amend.Entity).Code("currencyMismatch")
		}
		if a.Announced && a.Price.Minor > was.Price.Minor {
			cal, err := f.shop.Calendar()
			if err != nil {
				return err
			}
			if _, e.From, err = contractedit.AnnouncedFrom(*c, f.attempts, was.ID, now, cal); err != nil || !e.From.IsZero() {
				return err
			}
		}
		c.Lines[at].Price = a.Price
	case SwapVariant:
		if f.sold != nil && f.sold.Price.Currency != c.Currency {
			return terms.CurrencyMismatch(*f.sold, *c)
		}
		c.Lines[at].VariantID = a.NewVariant
	}
	if c.Lines[at] == was {
		return unchanged(*c, "is so")
	}
	switch r, ok := f.next(); {
	case a.Kind == SwapVariant || a.Kind == SetPrice && c.Priced: // the plan sets the price, or its steps do
		e.Is.Amount = money.Amount{}
	case ok:
		e.Is.Amount = r.Cost()
	}
	return nil
}

func (f facts) assessRemoval(e *Effect, a Action) (Intent, error) {
	if err := amend.CheckEditable(f.contract); err != nil {
		return Intent{}, err
	}
	code := strings.TrimSpace(a.Code)
	at := slices.IndexFunc(f.contract.Discounts, func(d contract.Discount) bool { return strings.EqualFold(d.Code, code) })
	if at < 0 {
		return Intent{}, contractedit.DiscountNotFound(f.contract.ID, code)
	}
	in := Intent{Discount: f.contract.Discounts[at].ID}
	f.contract.Discounts = slices.Delete(slices.Clone(f.contract.Discounts), at, at+1)
	e.Is.Amount = f.state().Amount
	return in, nil
}
