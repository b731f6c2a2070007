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

// write applies fresh readings to the rows as they are now.
func (s *Service) write(ctx context.Context, tx Tx, found readout, by *AuthoredChange, waits waiting) error {
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
	rows, err := tx.Contracts(ctx, numbers(found.fresh))
	if err != nil {
		return err
	}
	w := writing{now: now, by: by, waits: waits}
	for _, p := range found.fresh {
		delete(waits, contract.ID(p.ID)) // the transaction may have run before
		var old *contract.Contract
		if i := slices.IndexFunc(rows, func(c contract.Contract) bool { return c.ID == contract.ID(p.ID) }); i >= 0 {
			old = &rows[i]
			if old.Revision > p.Revision { // a later reading was faster
				w.credit(*old)
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
		if made := found.plans[c.ID]; made.stood && c.Status != contract.Active { // not what was wished by the interval before
			c.Overrides = made.wishes
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
	if err := annotate.FirstOrders(ctx, tx, w.begun, now); err != nil {
		return err
	}
	if err := annotate.Customers(ctx, tx, w.subscribed, now); err != nil {
		return err
	}
	if err := tx.Record(ctx, w.entries...); err != nil {
		return err
	}
	if err := cases.RetryAfter(ctx, tx, store, dunning.NewPayment, w.repaid, nil, now); err != nil {
		return err
	}
	if err := cases.RetryAfter(ctx, tx, store, dunning.NewAddress, w.redirected, nil, now); err != nil {
		return err
	}
	return tx.Enqueue(ctx, billing.Task{Shop: store.ID})
}

// writing collects the changes of one transaction.
type writing struct {
	now        time.Time
	by         *AuthoredChange     // nil: the platform told us
	waits      waiting             // for their authors; nil: none does
	seen       []contract.Contract // of which nothing but the revision changed
	contracts  []contract.Contract
	replanned  []int               // indexes of contracts
	limited    []int               // the same, of those that end with another cycle than before
	begun      []contract.Contract // those that run for the first time
	subscribed []contract.Contract // of which the customer's tags may change, as they were and as they are
	repaid     []contract.ID       // with another payment method, or card, than before
	redirected []contract.ID       // with another address than before
	entries    []activity.Entry
}

// contract applies one fresh reading.
func (w *writing) contract(old *contract.Contract, p platform.Contract, store shop.Shop, found readout) error {
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
	if !change.Any() && moved == nil || w.passesOver(old, p.Revision, change) {
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
		if c.Status == contract.Active { // one that stands still keeps its calendar
			if made.stood {
				c.Overrides = made.wishes
			}
			c.Series, c.LaterSeries = made.series, made.turns
			for _, own := range made.own {
				c.OverrideFor(own.Cycle, own.Date, w.now)
			}
			c.AddPassedCycles(made.jumped - c.PassedCycles)
		} else if made.stood {
			c.Series, c.LaterSeries = made.series, nil
			c.AddPassedCycles(made.jumped - c.PassedCycles)
		}
		w.replanned = append(w.replanned, len(w.contracts))
		if c.Status == contract.Active && !made.fits {
			w.record(c, activity.SubscriptionContractUpdated, activity.Failure, note{Reason: "the platform has no open billing cycle for the contract: nothing can be charged"})
		}
	}
	c.UpdatedAt = w.now
	w.contracts = append(w.contracts, c)
	if old != nil && (old.PaymentMethod != c.PaymentMethod || c.Card.Replaces(old.Card, w.now)) {
		w.repaid = append(w.repaid, c.ID)
	}
	if w.by != nil && slices.ContainsFunc(w.by.Entries, func(e activity.Entry) bool { return e.Event == activity.ShippingAddressChange }) {
		w.redirected = append(w.redirected, c.ID)
	}
	if c.Status == contract.Active && (old == nil || old.ActivatedAt.IsZero()) {
		w.begun = append(w.begun, c)
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
		w.entries = append(append(w.entries, moved...), w.by.Entries...)
	case moved != nil: // the platform tells of what we have asked for
		w.entries = append(w.entries, moved...)
		change.Status = false
		w.tell(old, c, change)
	default:
		w.tell(old, c, change)
	}
	if change.Limits && !change.Replans() {
		w.limited = append(w.limited, len(w.contracts)-1)
	}
	if passed := plans[c.ID].passed; old != nil && old.Status != c.Status && c.Status == contract.Active && len(passed) > 0 && missedDates(*old, store, w.now) {
		w.entries = append(w.entries, activity.Entry{
			EntityID: int64(c.ID), EntityType: activity.EntitySubscriptionContractDetails, Event: activity.UpdateQueuedAttempts, Status: activity.Info, Actor: activity.System, At: w.now,
			Info: activity.Details(note{Reason: fmt.Sprintf("the contract did not run when cycles %v were due: they are not charged", passed), Passed: passed, Cycle: c.Series.Cycle}),
		})
	}
	return nil
}

// outdated returns the contracts whose queues were made anew, and whose next orders the
// platform shows on other days: on that of one that passed in a pause, say.
func (w *writing) outdated(fresh []platform.Contract) (ids []contract.ID) {
	for _, at := range w.replanned {
		c := w.contracts[at]
		if shown := fresh[slices.IndexFunc(fresh, func(p platform.Contract) bool { return p.ID == int64(c.ID) })].NextBillingDate; apart(shown, c.NextBillingDate) > aDay {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// missedDates reports whether a date of the contract's own calendar has passed while
// it stood still. The platform's cycles may have other dates.
func missedDates(c contract.Contract, of shop.Shop, now time.Time) bool {
	since := map[contract.Status]time.Time{contract.Paused: c.PausedAt, contract.Cancelled: c.CancelledAt}[c.Status]
	cal, err := of.Calendar()
	if err != nil || since.IsZero() || c.Series.Start.IsZero() { // nobody knows
		return true
	}
	return !c.DueOn(c.CycleFrom(since.Add(time.Millisecond), cal), cal).After(now)
}

// credit writes what an author's change owes a contract of which a later reading
// is known already.
func (w *writing) credit(c contract.Contract) {
	if w.by == nil {
		return
	}
	if w.by.Update != nil {
		w.by.Update(&c)
	}
	if m := w.by.StatusChange; m != nil && c.Moving != nil && c.Moving.At.Equal(m.At) {
		w.entries = append(w.entries, m.Entries(c, w.now)...)
		c.CompleteMove()
	}
	c.UpdatedAt = w.now
	w.contracts = append(w.contracts, c)
	w.entries = append(w.entries, w.by.Entries...)
}

func (w *writing) record(c contract.Contract, event activity.EventType, status activity.Status, details note) {
	w.entries = append(w.entries, activity.Entry{
		EntityID: int64(c.ID), EntityType: activity.EntitySubscriptionContractDetails, Event: event,
		Status: status, Actor: activity.Platform, At: w.now, Info: activity.Details(details),
	})
}

// tell writes the entries that a change owes.
func (w *writing) tell(old *contract.Contract, c contract.Contract, change contract.Change) {
	record := func(event activity.EventType, details note) { w.record(c, event, activity.Success, details) }
	if change.Created {
		record(activity.ContractCreated, note{To: string(c.Status)})
		return
	}
	if change.Status {
		record(contract.EventOf(c.Status), note{From: string(old.Status), To: string(c.Status)})
		if old.Ending != nil && c.Status == contract.Active {
			w.entries = append(w.entries, old.Ending.Entry(c.ID, contract.Cleared, activity.Platform, w.now))
		}
	}
	if change.Billing {
		record(activity.BillingIntervalChange, note{From: words(old.Billing), To: words(c.Billing)})
	}
	if change.Delivery {
		record(activity.DeliveryIntervalChange, note{From: words(old.Delivery), To: words(c.Delivery)})
	}
	if change.Payment {
		record(activity.PaymentMethodUpdated, note{Reason: repaid(*old, c)})
	}
	for _, l := range c.LostVariants(old.Lines) {
		record(activity.ProductDeletedSync, note{Reason: fmt.Sprintf("the store has no variant %d any more: %s", l.VariantID, l.Title)})
	}
	if change.Terms {
		record(activity.SubscriptionContractUpdated, note{})
	}
}

// repaid says what has changed about what a contract is paid with.
func repaid(old, c contract.Contract) string {
	switch {
	case c.PaymentMethod == "":
		return "the payment method is gone: nothing can be charged"
	case old.PaymentMethod != c.PaymentMethod:
		return "the contract has another payment method"
	case !c.PaymentUsable && old.PaymentUsable:
		return "the payment method was revoked: nothing can be charged with it"
	case c.PaymentUsable && !old.PaymentUsable:
		return "the payment method can be charged again"
	}
	return "the country of the payment method has changed"
}

func words(p contract.Policy) string { return fmt.Sprintf("%d %s", p.Count, p.Interval) }
