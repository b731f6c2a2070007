package intake

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/annotate"
	"github.com/perennialhq/perennial/internal/domain/billing/cases"
	"github.com/perennialhq/perennial/internal/domain/billing/publish"
	"github.com/perennialhq/perennial/internal/domain/billing/queue"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// awaitsAuthor reports whether a reading is deferred because an edit is in flight: an
// event arrived before the answer, and storing it now would record the change twice,
// without its author and then with. If the author does not record it in time, a later
// reading does.
func (w *changeSet) awaitsAuthor(old *contract.Contract, revision uint64, change contract.Change) bool {
	if w.waits == nil || old == nil || !change.Logged() {
		return false
	}
	until := old.InFlightUntil(revision, w.now)
	if until.IsZero() {
		return false
	}
	w.waits[old.ID] = until
	return true
}

// write applies fresh readings to the current rows.
func (s *Service) write(ctx context.Context, tx Tx, found reading, by *AuthoredChange, waits deferredContracts) error {
	now := s.Clock.Now()
	if waits != nil {
		maps.Copy(waits, found.later)
	}
	if err := tx.PutUnread(ctx, found.unread); err != nil || len(found.fresh) == 0 {
		return err
	}
	store, err := tx.Shop(ctx)
	if err != nil {
		return err
	}
	if store.TimeZone != found.zone && len(found.plans) > 0 {
		return fault.New(fault.Conflict, "%s has moved to another time zone since its contracts were read", store.Domain)
	}
	rows, err := tx.Contracts(ctx, contractIDs(found.fresh))
	if err != nil {
		return err
	}
	w := changeSet{now: now, by: by, waits: waits}
	for _, p := range found.fresh {
		delete(waits, contract.ID(p.ID)) // the transaction may have run before
		var old *contract.Contract
		if i := slices.IndexFunc(rows, func(c contract.Contract) bool { return c.ID == contract.ID(p.ID) }); i >= 0 {
			old = &rows[i]
			if old.Revision > p.Revision { // a later reading is stored
				w.recordAuthor(*old)
				continue
			}
		}
		if err := w.contract(old, p, store, found); err != nil {
			return err
		}
	}
	if err := tx.PutProgress(ctx, w.seen); err != nil {
		return err
	}
	if len(w.contracts) == 0 {
		return nil
	}
	if err := cases.Fence(ctx, tx, store, w.contracts, now); err != nil {
		return err
	}
	if err := tx.PutContracts(ctx, w.contracts); err != nil {
		return err
	}
	replanned := make([]*contract.Contract, len(w.replanned))
	for i, at := range w.replanned {
		replanned[i] = &w.contracts[at]
	}
	if err := queue.Replan(ctx, tx, store, replanned, now); err != nil {
		return err
	}
	for _, c := range replanned {
		if made := found.plans[c.ID]; made.whilePaused && c.Status != contract.Active { // drop overrides of the old interval
			c.Overrides = made.overrides
		}
	}
	limited := make([]*contract.Contract, len(w.limited))
	for i, at := range w.limited {
		limited[i] = &w.contracts[at]
	}
	if err := queue.Limit(ctx, tx, store, limited, now); err != nil {
		return err
	}
	if err := queue.Refill(ctx, tx, store, w.contracts, now); err != nil {
		return err
	}
	if err := publish.RequestNextDate(ctx, tx, w.outdated(found.fresh), now); err != nil {
		return err
	}
	if err := annotate.FirstOrders(ctx, tx, w.activated, now); err != nil {
		return err
	}
	if err := annotate.Customers(ctx, tx, w.subscribed, now); err != nil {
		return err
	}
	if err := tx.Record(ctx, w.entries...); err != nil {
		return err
	}
	if err := cases.RetryAfter(ctx, tx, store, dunning.NewPayment, w.newPayment, nil, now); err != nil {
		return err
	}
	if err := cases.RetryAfter(ctx, tx, store, dunning.NewAddress, w.newAddress, nil, now); err != nil {
		return err
	}
	return tx.Enqueue(ctx, billing.Task{Shop: store.ID})
}

// contract applies one fresh reading.
func (w *changeSet) contract(old *contract.Contract, p platform.Contract, store shop.Shop, found reading) error {
	plans := found.plans
	c, change, err := contract.Read(old, p, store.Settings, w.now)
	if err != nil {
		return err
	}
	if prices := found.prices[c.ID]; len(prices) > 0 {
		c.SetPlanPricing(prices)
		change.Cost = true
	}
	if w.by != nil {
		change.Terms = true
		if w.by.Update != nil {
			w.by.Update(&c)
		}
	}
	var moved []activity.Entry
	if old != nil && old.Moving != nil && old.Moving.To == c.Status {
		moved = old.Moving.Entries(*old, w.now)
		c.CompleteMove()
	}
	if !change.Any() && moved == nil || w.awaitsAuthor(old, p.Revision, change) {
		return nil
	}
	if moved == nil && change == (contract.Change{Revision: true}) {
		w.seen = append(w.seen, c)
		return nil
	}
	if change.Created && w.by == nil {
		c.Trial, c.Lifelong = plans[c.ID].trial, plans[c.ID].lifelong
	}
	if change.Replans() {
		made, planned := plans[c.ID]
		if c.Status == contract.Active && !planned {
			return fault.New(fault.Conflict, "contract %d changed while it was read", c.ID)
		}
		if c.Status == contract.Active { // a contract that does not run keeps its calendar
			if made.whilePaused {
				c.Overrides = made.overrides
			}
			c.Series, c.LaterSeries = made.series, made.laterSeries
			for _, own := range made.ownDates {
				c.OverrideFor(own.Cycle, own.Date, w.now)
			}
			c.AddPassedCycles(made.passedCycles - c.PassedCycles)
		} else if made.whilePaused {
			c.Series, c.LaterSeries = made.series, nil
			c.AddPassedCycles(made.passedCycles - c.PassedCycles)
		}
		w.replanned = append(w.replanned, len(w.contracts))
		if c.Status == contract.Active && !made.open {
			w.record(c, activity.SubscriptionContractUpdated, activity.Failure, entryDetails{Reason: "the platform has no open billing cycle for the contract: nothing can be charged"})
		}
	}
	c.UpdatedAt = w.now
	w.contracts = append(w.contracts, c)
	if old != nil && (old.PaymentMethod != c.PaymentMethod || c.Card.Replaces(old.Card, w.now)) {
		w.newPayment = append(w.newPayment, c.ID)
	}
	if w.by != nil && slices.ContainsFunc(w.by.Entries, func(e activity.Entry) bool { return e.Event == activity.ShippingAddressChange }) {
		w.newAddress = append(w.newAddress, c.ID)
	}
	if c.Status == contract.Active && (old == nil || old.ActivatedAt.IsZero()) {
		w.activated = append(w.activated, c)
	}
	if old == nil || old.Status != c.Status || !annotate.SamePlans(old.Lines, c.Lines) {
		if old != nil && old.Status == contract.Active {
			w.subscribed = append(w.subscribed, *old)
		}
		if c.Status == contract.Active {
			w.subscribed = append(w.subscribed, c)
		}
	}
	switch {
	case w.by != nil:
		w.entries = append(append(w.entries, moved...), w.authored(old != nil)...)
	case moved != nil: // the platform reports a change that we requested
		w.entries = append(w.entries, moved...)
		change.Status = false
		w.recordChange(old, c, change)
	default:
		w.recordChange(old, c, change)
	}
	if change.Limits && !change.Replans() {
		w.limited = append(w.limited, len(w.contracts)-1)
	}
	if passed := plans[c.ID].passed; old != nil && old.Status != c.Status && c.Status == contract.Active && len(passed) > 0 && missedDates(*old, store, w.now) {
		w.entries = append(w.entries, activity.Entry{
			EntityID: int64(c.ID), EntityType: activity.EntitySubscriptionContractDetails, Event: activity.UpdateQueuedAttempts, Status: activity.Info, Actor: activity.System, At: w.now,
			Info: activity.Details(entryDetails{Reason: fmt.Sprintf("the contract did not run when cycles %v were due: they are not charged", passed), Passed: passed, Cycle: c.Series.Cycle}),
		})
	}
	return nil
}

// outdated returns the contracts with a rebuilt queue whose next order the platform
// shows on another day, for example one that passed in a pause.
func (w *changeSet) outdated(fresh []platform.Contract) (ids []contract.ID) {
	for _, at := range w.replanned {
		c := w.contracts[at]
		if shown := fresh[slices.IndexFunc(fresh, func(p platform.Contract) bool { return p.ID == int64(c.ID) })].NextBillingDate; distance(shown, c.NextBillingDate) > dateTolerance {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// missedDates reports whether a date of the contract's calendar passed while it did not
// run. The platform's cycles may have other dates.
func missedDates(c contract.Contract, of shop.Shop, now time.Time) bool {
	since := map[contract.Status]time.Time{contract.Paused: c.PausedAt, contract.Cancelled: c.CancelledAt}[c.Status]
	cal, err := of.Calendar()
	if err != nil || since.IsZero() || c.Series.Start.IsZero() { // not known
		return true
	}
	return !c.DueOn(c.CycleFrom(since.Add(time.Millisecond), cal), cal).After(now)
}
