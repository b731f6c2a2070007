package analytics

import (
	"cmp"
	"slices"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/dunning"
)

// Book adds changes to the tables of figures. It is given the rows that the changes
// concern as they are, and returns them as they must be written. Changes come in the order
// of their days.
type Book struct {
	days        map[Dimension]*entry[DayFigures] // the last row of each
	subscribers *entry[SubscriberFigures]        // the last row
	customers   map[int64]*entry[Subscriber]
	holdings    map[Holding]*entry[Holding] // by the key with no contracts
	payers      map[payer]bool              // that have, or had, an ACTIVE contract in the currency

	closed       []DayFigures // rows of days that are over
	closedOthers []SubscriberFigures

	churn    map[Month]*ChurnMonth
	cohorts  map[CohortMonth]*CohortMonth       // by key
	failures map[FailureFigures]*FailureFigures // by key
	cycles   map[CycleFigures]*CycleFigures     // by key
	queue    map[QueueFigures]*QueueFigures     // by key

	ahead map[dayKey]*DayFigures // of a rebuild: orders whose days are added later
}

// payer is a customer in a currency.
type payer struct {
	customer int64
	in       money.Currency
}

type dayKey struct {
	day Day
	of  Dimension
}

// entry is a row that may have been changed.
type entry[T any] struct {
	row     T
	changed bool
}

// NewBook returns a book that continues the rows of last, which may be empty.
func NewBook(last Tables) *Book {
	b := &Book{
		days: make(map[Dimension]*entry[DayFigures]), subscribers: &entry[SubscriberFigures]{}, customers: make(map[int64]*entry[Subscriber]),
		holdings: make(map[Holding]*entry[Holding]), payers: make(map[payer]bool), churn: make(map[Month]*ChurnMonth), cohorts: make(map[CohortMonth]*CohortMonth),
		failures: make(map[FailureFigures]*FailureFigures), cycles: make(map[CycleFigures]*CycleFigures),
		queue: make(map[QueueFigures]*QueueFigures),
	}
	for _, d := range last.Days {
		b.days[d.Dimension] = &entry[DayFigures]{row: d}
	}
	for _, d := range last.SubscriberDays {
		b.subscribers.row = d
	}
	for _, c := range last.Subscribers {
		b.customers[c.Customer] = &entry[Subscriber]{row: c}
	}
	for _, h := range last.Holdings {
		b.holdings[Holding{Customer: h.Customer, Dimension: h.Dimension}] = &entry[Holding]{row: h}
		b.payers[payer{h.Customer, h.Currency}] = true
	}
	return b
}

// day returns the row of a dimension on a day, for a change. A new one begins where the last
// one ended.
func (b *Book) day(on Day, of Dimension) *DayFigures {
	e, has := b.days[of]
	if !has {
		e = &entry[DayFigures]{row: DayFigures{Day: on, Dimension: of}}
		b.days[of] = e
	}
	if r := e.row; r.Day != on {
		if e.changed {
			b.closed = append(b.closed, r)
		}
		e.row = DayFigures{
			Day: on, Dimension: of, MRR: r.MRR, Contracts: r.Contracts, Subscribers: r.Subscribers, Trials: r.Trials, Lifelong: r.Lifelong,
		}
	}
	if e.row.Moved == nil {
		e.row.Moved = make(Flow)
	}
	e.changed = true
	return &e.row
}

// orderDay returns where orders of a day are added.
func (b *Book) orderDay(on Day, of Dimension) *DayFigures {
	if b.ahead == nil {
		return b.day(on, of)
	}
	return added(b.ahead, dayKey{on, of}, DayFigures{Day: on, Dimension: of})
}

// subscriberDay is day for the subscribers of the store.
func (b *Book) subscriberDay(on Day) *SubscriberFigures {
	e := b.subscribers
	if r := e.row; r.Day != on {
		if e.changed {
			b.closedOthers = append(b.closedOthers, r)
		}
		e.row = SubscriberFigures{Day: on, Subscribers: r.Subscribers}
	}
	e.changed = true
	return &e.row
}

func added[K comparable, V any](rows map[K]*V, key K, zero V) *V {
	if rows[key] == nil {
		rows[key] = &zero
	}
	return rows[key]
}

func (b *Book) churnMonth(m Month) *ChurnMonth { return added(b.churn, m, ChurnMonth{Month: m}) }

func (b *Book) cohortMonth(cohort, m Month, c money.Currency) *CohortMonth {
	key := CohortMonth{Cohort: cohort, Month: m, Currency: c}
	return added(b.cohorts, key, key)
}

func (b *Book) failure(on Day, c money.Currency, class dunning.Class, try int64) *FailureFigures {
	key := FailureFigures{Day: on, Currency: c, Class: class, Try: try}
	return added(b.failures, key, key)
}

func (b *Book) cycle(on Day, cycle int64) *CycleFigures {
	key := CycleFigures{Day: on, Cycle: cycle}
	return added(b.cycles, key, key)
}

// Tables returns what has to be written, sorted by key.
func (b *Book) Tables() Tables {
	t := Tables{
		Days: b.closed, SubscriberDays: b.closedOthers,
		Churn:    sorted(b.churn, func(a, b ChurnMonth) int { return cmp.Compare(a.Month, b.Month) }),
		Cohorts:  sorted(b.cohorts, compareCohorts),
		Failures: sorted(b.failures, CompareFailures),
		Cycles: sorted(b.cycles, func(a, b CycleFigures) int {
			return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Cycle, b.Cycle))
		}),
	}
	t.Queue = slices.DeleteFunc(sorted(b.queue, CompareQueue), func(q QueueFigures) bool { return q.Orders == 0 && q.Amount == 0 })
	t.Days = append(t.Days, changed(b.days, compareDays)...)
	if b.subscribers.changed {
		t.SubscriberDays = append(t.SubscriberDays, b.subscribers.row)
	}
	t.Subscribers = changed(b.customers, func(a, b Subscriber) int { return cmp.Compare(a.Customer, b.Customer) })
	t.Holdings = changed(b.holdings, compareHoldings)
	return t
}

// changed returns the rows that were changed, sorted.
func changed[K comparable, V any](rows map[K]*entry[V], compare func(a, b V) int) []V {
	picked := make(map[K]*V)
	for k, e := range rows {
		if e.changed {
			picked[k] = &e.row
		}
	}
	return sorted(picked, compare)
}

func compareDays(a, b DayFigures) int {
	return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Currency, b.Currency), cmp.Compare(a.Group, b.Group))
}

func compareCohorts(a, b CohortMonth) int {
	return cmp.Or(cmp.Compare(a.Cohort, b.Cohort), cmp.Compare(a.Month, b.Month), cmp.Compare(a.Currency, b.Currency))
}

// CompareFailures orders figures by day, currency, class and try.
func CompareFailures(a, b FailureFigures) int {
	return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Currency, b.Currency), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Try, b.Try))
}

func compareHoldings(a, b Holding) int {
	return cmp.Or(cmp.Compare(a.Customer, b.Customer), cmp.Compare(a.Currency, b.Currency), cmp.Compare(a.Group, b.Group))
}
