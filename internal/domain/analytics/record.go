package analytics

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
)

// Changes is what a transaction wrote: each contract and each attempt once, as it is now, where
// orders were queued or ceased to be, and the entries.
type Changes struct {
	Contracts []contract.Contract
	Attempts  []billing.Attempt
	Queue     []QueueChange
	Entries   []activity.Entry
}

// Ledger is where the figures of a store are.
type Ledger struct {
	Zone       *time.Location
	LastDay    Day   // of a change
	LastNumber int64 // of a version
}

// day returns the day of a change. It is never before that of an earlier change, so that
// neither a clock nor a new time zone of the store alters days that are over.
func (l *Ledger) day(at time.Time) Day {
	l.LastDay = max(l.LastDay, DayOf(at, l.Zone), 1)
	return l.LastDay
}

// Keys says which rows of the tables a change concerns.
type Keys struct {
	Dimensions []Dimension
	Customers  []int64
}

// Tx is one transaction on one shop's data.
type Tx interface {
	HistoryTx
	TablesTx
}

// HistoryTx is what happened to contracts and orders.
type HistoryTx interface {
	QueueTx
	// ContractVersions returns the current versions of contracts. Those without are left out.
	ContractVersions(ctx context.Context, contracts []int64) (map[int64]Version, error)
	// CohortsOf returns the cohorts of subscribers. Those without are left out.
	CohortsOf(ctx context.Context, customers []int64) (map[int64]Month, error)
	// OrderOutcomes returns the outcomes of attempts. Those without are left out.
	OrderOutcomes(ctx context.Context, attempts []int64) (map[int64]Outcome, error)
	// PlanGroupsOf returns the plan groups of selling plans. Those without are left out.
	PlanGroupsOf(ctx context.Context, sellingPlans []int64) (map[int64]int64, error)
	// AddVersions inserts versions and ends those that they follow.
	AddVersions(ctx context.Context, versions []Version) error
	PutOutcomes(ctx context.Context, outcomes []Outcome) error
}

// TablesTx is the sums.
type TablesTx interface {
	// LockLedger returns where the store's figures are. Other changes of them wait until
	// the transaction ends.
	LockLedger(ctx context.Context) (Ledger, error)
	PutLedger(ctx context.Context, l Ledger) error
	// LastFigures returns the newest rows of days, and the rows of customers, in the order
	// of NewBook.
	LastFigures(ctx context.Context, of Keys) (Tables, error)
	// PutFigures writes rows as Tables describes.
	PutFigures(ctx context.Context, t Tables) error
}

// Record brings the figures up to date with what a transaction wrote, in that transaction.
func Record(ctx context.Context, tx Tx, c Changes) error {
	orders := slices.DeleteFunc(slices.Clone(c.Attempts), func(a billing.Attempt) bool { return a.Version <= 1 && resultOf(a) == "" && !a.HadCase() })
	if len(c.Contracts) == 0 && len(orders) == 0 && len(c.Queue) == 0 {
		return nil
	}
	ids := make([]int64, 0, len(c.Contracts)+len(orders)+len(c.Queue))
	for _, of := range c.Contracts {
		ids = append(ids, int64(of.ID))
	}
	for _, a := range orders {
		ids = append(ids, int64(a.Contract))
	}
	for _, q := range c.Queue {
		ids = append(ids, q.contract())
	}
	slices.Sort(ids)
	w := writing{Changes: c}
	if len(c.Queue) > 0 { // before the versions are read: a contract may be another transaction's
		if err := w.lock(ctx, tx); err != nil {
			return err
		}
	}
	var err error
	if w.current, err = tx.ContractVersions(ctx, slices.Compact(ids)); err != nil {
		return err
	}
	if w.versions, err = next(ctx, tx, w.current, c); err != nil {
		return err
	}
	w.orders, err = pending(ctx, tx, orders)
	if err != nil || len(w.versions) == 0 && len(w.orders) == 0 && len(c.Queue) == 0 {
		return err
	}
	return w.write(ctx, tx)
}

// writing is what follows from a transaction's changes.
type writing struct {
	Changes
	ledger   *Ledger // nil: it is not locked yet
	current  map[int64]Version
	versions []change
	orders   []order
}

func (w *writing) lock(ctx context.Context, tx TablesTx) error {
	if w.ledger != nil {
		return nil
	}
	l, err := tx.LockLedger(ctx)
	w.ledger = &l
	return err
}

// change is a contract that has another state than its current version.
type change struct {
	of     contract.Contract
	state  State
	reason Reason
}

// next returns the contracts whose state is not that of their current version.
func next(ctx context.Context, tx Tx, current map[int64]Version, c Changes) ([]change, error) {
	var plans []int64
	for _, of := range c.Contracts {
		plans = append(plans, planOf(of))
	}
	slices.Sort(plans)
	groups, err := tx.PlanGroupsOf(ctx, slices.DeleteFunc(slices.Compact(plans), func(id int64) bool { return id == 0 }))
	if err != nil {
		return nil, err
	}
	var list []change
	for _, of := range c.Contracts {
		was, has := current[int64(of.ID)]
		group, known := groups[planOf(of)]
		if !known && planOf(of) != 0 {
			group = was.Group // the option was removed: what was sold on it stays where it is
		}
		if state := StateOf(of, group); !has || state != was.State {
			list = append(list, change{of, state, c.reasonOf(of)})
		}
	}
	return list, nil
}

// planOf returns the selling plan of a contract's first line that has one; 0: none.
func planOf(c contract.Contract) int64 {
	for _, l := range c.Lines {
		if l.SellingPlanID != 0 {
			return l.SellingPlanID
		}
	}
	return 0
}

// reasonOf returns why a contract changed, as far as the rest of the transaction says it.
func (c Changes) reasonOf(of contract.Contract) Reason {
	for _, a := range c.Attempts {
		ended := a.Dunning.Action == dunning.Pause && of.Status == contract.Paused || a.Dunning.Action == dunning.Cancel && of.Status == contract.Cancelled
		if a.Contract == of.ID && a.Dunning.State == dunning.Lost && ended {
			return ByDunning
		}
	}
	for _, e := range c.Entries {
		if e.Event == activity.SplitContract && e.EntityID == int64(of.ID) && e.EntityType == activity.EntitySubscriptionContractDetails && e.Status == activity.Success {
			return BySplit
		}
	}
	return ""
}

// order is an attempt whose outcome may change, and the outcome before.
type order struct {
	of  billing.Attempt
	was Outcome
}

// pending returns the attempts whose outcome changes.
func pending(ctx context.Context, tx Tx, attempts []billing.Attempt) ([]order, error) {
	if len(attempts) == 0 {
		return nil, nil
	}
	ids := make([]int64, len(attempts))
	for i, a := range attempts {
		ids[i] = int64(a.ID)
	}
	known, err := tx.OrderOutcomes(ctx, ids)
	if err != nil {
		return nil, err
	}
	var list []order
	for _, a := range attempts {
		if was := known[int64(a.ID)]; was.Next(a, 1) != was {
			list = append(list, order{a, was})
		}
	}
	return list, nil
}

// write adds versions and outcomes, with what they make of the tables.
func (w *writing) write(ctx context.Context, tx Tx) error {
	if err := w.lock(ctx, tx); err != nil {
		return err
	}
	before, ledger, current, orders := *w.ledger, w.ledger, w.current, w.orders
	versions, keys := numbered(ledger, current, w.versions)
	latest := maps.Clone(current)
	if latest == nil {
		latest = make(map[int64]Version)
	}
	for _, v := range versions {
		latest[v.Contract] = v
	}
	outcomes := make([]Outcome, len(orders))
	begun := make([]bool, len(orders)) // now
	var payers []int64                 // of these
	for i, o := range orders {
		v, has := latest[int64(o.of.Contract)]
		if !has {
			continue
		}
		if o.was.Attempt == 0 {
			o.was = Outcome{Attempt: int64(o.of.ID), Contract: int64(o.of.Contract), Cycle: int64(min(o.of.Cycle, LastCycle)), Dimension: v.Dimension}
			orders[i].was = o.was
			begun[i], payers = true, append(payers, v.Customer)
		}
		outcomes[i] = o.was.Next(o.of, ledger.day(o.of.UpdatedAt))
		keys.Dimensions = append(keys.Dimensions, o.was.Dimension)
	}
	cohorts, err := tx.CohortsOf(ctx, payers)
	if err != nil {
		return err
	}
	last, err := tx.LastFigures(ctx, keys)
	if err != nil {
		return err
	}
	book := NewBook(last)
	for _, v := range versions {
		if was, has := current[v.Contract]; has {
			book.Change(&was, v)
		} else {
			book.Change(nil, v)
		}
	}
	for i, o := range orders {
		if begun[i] {
			customer := latest[outcomes[i].Contract].Customer
			outcomes[i].Cohort = cohorts[customer]
			if c, changed := book.customers[customer]; changed {
				outcomes[i].Cohort = c.row.Cohort
			}
		}
		book.Order(o.was, outcomes[i])
	}
	if err := book.queueOf(ctx, tx, w.Queue, current, latest); err != nil {
		return err
	}
	outcomes = slices.DeleteFunc(outcomes, func(o Outcome) bool { return o.Attempt == 0 })
	if err := tx.AddVersions(ctx, versions); err != nil {
		return err
	}
	if err := tx.PutOutcomes(ctx, outcomes); err != nil {
		return err
	}
	if err := tx.PutFigures(ctx, book.Tables()); err != nil {
		return err
	}
	if *ledger == before {
		return nil
	}
	return tx.PutLedger(ctx, *ledger)
}

// numbered returns the versions of changes, and what they concern.
func numbered(ledger *Ledger, current map[int64]Version, changes []change) ([]Version, Keys) {
	versions := make([]Version, len(changes))
	var keys Keys
	for i, c := range changes {
		ledger.LastNumber++
		was, has := current[int64(c.of.ID)]
		v := Version{
			Number: ledger.LastNumber, Contract: int64(c.of.ID), Day: ledger.day(c.of.UpdatedAt), ValidFrom: c.of.UpdatedAt, State: c.state, Reason: c.reason,
			Counted: was.Counted || c.state.MRR != 0, Cohort: was.Cohort,
		}
		if v.ValidFrom.Before(was.ValidFrom) {
			v.ValidFrom = was.ValidFrom
		}
		if has {
			keys.Dimensions = append(keys.Dimensions, was.Dimension)
			keys.Customers = append(keys.Customers, was.Customer)
		} else {
			v.Reason = firstReason(c.of, v.Day, ledger.Zone)
			if v.Reason != Existed {
				v.Cohort = DayOf(c.of.CreatedAt, ledger.Zone).Month()
			}
		}
		keys.Dimensions = append(keys.Dimensions, c.state.Dimension)
		keys.Customers = append(keys.Customers, c.state.Customer)
		versions[i] = v
	}
	return versions, keys
}
