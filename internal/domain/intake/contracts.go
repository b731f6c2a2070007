package intake

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// take writes fresh readings. An author, if there is one, made all the changes.
// Contracts that wait for theirs are noted in waits; nil: none does.
func (s *Service) take(ctx context.Context, store shop.Shop, fresh []platform.Contract, by *Authored, waits waiting) error {
	var known map[contract.ID]*contract.Contract
	err := s.Store.Update(ctx, store.ID, func(tx Tx) (err error) {
		known, err = standing(ctx, tx, numbers(fresh))
		return err
	})
	if err != nil {
		return err
	}
	found, err := s.weigh(ctx, store, fresh, known, by)
	if err != nil || !found.matter {
		return err
	}
	return s.Store.Update(ctx, store.ID, func(tx Tx) error { return s.write(ctx, tx, found, by, waits) })
}

// standing reads contracts as they are kept.
func standing(ctx context.Context, tx Tx, ids []contract.ID) (map[contract.ID]*contract.Contract, error) {
	rows, err := tx.Contracts(ctx, ids)
	known := make(map[contract.ID]*contract.Contract, len(rows))
	for i := range rows {
		known[rows[i].ID] = &rows[i]
	}
	return known, err
}

// readout is fresh readings of contracts, and where their queues begin that must be
// made anew.
type readout struct {
	fresh  []platform.Contract
	plans  map[contract.ID]plan
	unread []contract.Unread // of which nothing is taken over
	matter bool              // there is something to write
}

// weigh compares fresh readings with what was known of the contracts. Most of them
// change nothing that matters here: the platform counts a revision for our own
// changes too. Contracts whose queue must be made anew need the platform's cycles,
// which are read here, in no transaction. One that is refused for good is left out
// and noted, unless an author waits for it.
func (s *Service) weigh(ctx context.Context, store shop.Shop, fresh []platform.Contract, known map[contract.ID]*contract.Contract, by *Authored) (readout, error) {
	found := readout{fresh: fresh, matter: by != nil}
	now := s.Clock.Now()
	leaveOut := func(id contract.ID, why error) {
		s.Log.ErrorContext(ctx, "a contract cannot be read", "shop", store.Domain, "contract", id, "error", why)
		found.unread, found.matter = append(found.unread, contract.Unread{ID: id, Reason: why.Error(), Since: now, SeenAt: now}), true
		found.fresh = slices.DeleteFunc(slices.Clone(found.fresh), func(p platform.Contract) bool { return contract.ID(p.ID) == id })
	}
	var replanned []contract.Contract
	var bought []platform.Contract
	shown, rerun := make(map[contract.ID]time.Time), make(map[contract.ID]bool)
	for _, p := range fresh {
		c, change, err := contract.Read(known[contract.ID(p.ID)], p, store.Settings, now)
		if err != nil && by != nil {
			return readout{}, err
		}
		if err != nil {
			leaveOut(contract.ID(p.ID), err)
			continue
		}
		found.matter = found.matter || change.Any()
		if change.Created && by == nil && c.OriginOrderID != 0 {
			bought = append(bought, p)
		}
		if change.Replans() && c.Status == contract.Active {
			replanned = append(replanned, c)
			shown[c.ID], rerun[c.ID] = p.NextBillingDate, !change.Billing
		}
	}
	past, err := s.past(ctx, store.ID, replanned, now)
	if err != nil {
		return readout{}, err
	}
	begun, err := s.beginnings(ctx, store, bought)
	if err != nil {
		return readout{}, err
	}
	offered, err := s.options(ctx, store.ID, slices.DeleteFunc(slices.Clone(replanned), func(c contract.Contract) bool {
		return rerun[c.ID] || known[c.ID] == nil || len(c.Billing.Anchors) == 0
	}))
	if err != nil {
		return readout{}, err
	}
	found.plans = make(map[contract.ID]plan, len(replanned))
	for id, b := range begun {
		found.plans[contract.ID(id)] = plan{beginning: b}
	}
	for _, c := range replanned {
		was := past[c.ID].of(known[c.ID])
		if !rerun[c.ID] {
			was.ran, was.anew, was.cutoff = contract.Contract{}, true, offered[c.ID].Cutoff
		}
		begins := found.plans[c.ID].beginning
		if was.trial = begins.trial; begins.lifelong || c.Lifelong {
			found.plans[c.ID] = plan{beginning: begins, fits: true}
			continue
		}
		made, err := s.plan(ctx, store, c, shown[c.ID], was, now)
		if refused(err) && by == nil {
			leaveOut(c.ID, err)
			continue
		}
		if err != nil {
			return readout{}, err
		}
		made.beginning = begins
		found.plans[c.ID] = made
	}
	return found, nil
}

// refused reports whether a failure is the platform's definite no to what was asked of
// one contract.
func refused(err error) bool {
	_, no := errors.AsType[*platform.Refusal](err)
	return no || errors.Is(err, platform.ErrNotFound)
}

// had is what was known of a contract before a fresh reading.
type had struct {
	before  bool              // it was known at all
	reached int               // highest cycle that was or is being charged, or was given up
	last    time.Time         // latest date of those; zero when there are none
	skipped map[int]bool      // cycles to come that people skip
	next    time.Time         // of the earliest order that waits; zero when there is none
	waits   int               // the cycle of that order
	trial   *contract.Trial   // with which it begins
	ran     contract.Contract // its calendar before it stood still; none when its interval has changed
	from    int               // the cycle with which its queue began
	jumped  int               // cycles before that one which were never an order
	anew    bool              // its interval, or the days on which it falls, have changed
	cutoff  int               // of the option that it is on now, in days
}

// of adds what the contract's own row says.
func (h had) of(c *contract.Contract) had {
	if c != nil {
		h.before, h.from, h.jumped = true, c.Series.Cycle, c.PassedCycles
		h.ran = contract.Contract{Series: c.Series, Turns: c.Turns}
	}
	return h
}

// resumes returns the date of the first order at or after an instant that nobody
// skips, by the series of before; zero when there is none. The platform's word on
// the next date may be older than what people have skipped.
func (h had) resumes(p contract.Policy, cal cadence.Calendar, notBefore time.Time) time.Time {
	if h.ran.Series.Start.IsZero() {
		return time.Time{}
	}
	h.ran.Billing = p
	cycle := h.ran.CycleFrom(notBefore, cal)
	for h.skipped[cycle] {
		cycle++
	}
	return h.ran.DueOn(cycle, cal)
}

// past returns what has become of the cycles of contracts.
func (s *Service) past(ctx context.Context, of shop.ID, contracts []contract.Contract, now time.Time) (map[contract.ID]had, error) {
	if len(contracts) == 0 {
		return nil, nil
	}
	past := make(map[contract.ID]had, len(contracts))
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		clear(past)
		ids := make([]contract.ID, len(contracts))
		for i, c := range contracts {
			ids[i] = c.ID
		}
		attempts, err := tx.AttemptsOf(ctx, ids)
		for _, a := range attempts {
			h := past[a.Contract]
			switch {
			case a.Status.Upcoming():
				if h.next.IsZero() || a.BillingDate.Before(h.next) {
					h.next, h.waits = a.BillingDate, a.Cycle
				}
			case a.SkipsAhead(now):
				if h.skipped == nil {
					h.skipped = make(map[int]bool)
				}
				h.skipped[a.Cycle] = true
			default:
				h.reached = max(h.reached, a.Cycle)
				if a.BillingDate.After(h.last) {
					h.last = a.BillingDate
				}
			}
			past[a.Contract] = h
		}
		return err
	})
	return past, err
}

func numbers(fresh []platform.Contract) []contract.ID {
	ids := make([]contract.ID, len(fresh))
	for i, p := range fresh {
		ids[i] = contract.ID(p.ID)
	}
	return ids
}

// plan is where a contract's queue begins.
type plan struct {
	beginning
	series contract.Series
	turns  []contract.Series
	fits   bool
	today  time.Time // of its first order: the instant later today at which it was asked for; zero: it has that of the calendar
	passed []int     // cycles before it that were neither charged nor skipped, since the last that was
	jumped int       // all cycles before it that were never an order
}

// How many cycles are looked through for the one to begin with.
const (
	cyclesAtOnce = 25
	cyclesAtMost = 1000
)

// plan chooses the cycle with which the queue begins. A new contract begins on
// the date that the platform shows; one that changed its interval with the order that
// waits, and one that runs again with the next date that is not past. The date of an
// order that has been charged, or is being charged, is spoken for, and what people
// skip stays skipped.
func (s *Service) plan(ctx context.Context, store shop.Shop, c contract.Contract, shown time.Time, was had, now time.Time) (plan, error) {
	cal, err := store.Calendar()
	if err != nil {
		return plan{}, err
	}
	wanted, notBefore, number := shown, time.Time{}, 0
	if was.trial != nil {
		wanted = was.trial.ChargeAt
	}
	if was.before {
		notBefore = now
		if wanted.Before(now) {
			wanted = time.Time{}
		}
		taken := was.last.Add(c.Billing.Approx() / 2)
		switch {
		case was.next.After(now):
			wanted, number = was.next, was.waits
		case !was.last.IsZero() && taken.After(notBefore):
			notBefore = taken
			if !wanted.IsZero() && wanted.Before(taken) {
				wanted = cadence.Series{Policy: c.Billing, Calendar: cal, Start: was.last}.Nth(1)
			}
		}
		if on := was.resumes(c.Billing, cal, notBefore); !on.IsZero() {
			wanted = on
		}
		if was.anew && len(c.Billing.Anchors) > 0 {
			if wanted.Before(notBefore) {
				wanted = notBefore
			}
			wanted = fixedDay(c.Billing, was.cutoff, wanted, now, cal)
		}
	}
	var passed []int
	jumped := was.jumped
	for from := was.reached + 1; from < was.reached+cyclesAtMost; from += cyclesAtOnce {
		cycles, err := s.Platform.Cycles(ctx, store.At(), int64(c.ID), from, from+cyclesAtOnce-1)
		if err != nil {
			return plan{}, fmt.Errorf("read cycles of contract %d: %w", c.ID, err)
		}
		jumped -= len(missed(cycles, was.from, was.skipped)) // they are counted anew
		open := slices.DeleteFunc(slices.Clone(cycles), func(y platform.Cycle) bool {
			return was.skipped[y.Index] || wanted.IsZero() && y.Expected.Before(notBefore)
		})
		if billing.Begin(&c, wanted, number, open, cal) {
			var today time.Time
			if at := billing.OrderAt(wanted, now, cal); c.OriginOrderID == 0 && at.After(now) && !at.Equal(c.Series.Start) {
				today = at
			}
			c.Series.Moved = was.before && slices.ContainsFunc(open, func(y platform.Cycle) bool {
				return y.Edited && !y.Billed || y.Index == c.Series.Cycle && apart(y.Expected, c.Series.Start) > aDay
			}) || was.trial != nil
			passed = append(passed, missed(cycles, c.Series.Cycle, was.skipped)...)
			return plan{
				series: c.Series, turns: contract.TurnsAfter(was.ran.Turns, c.Series), fits: true, today: today, passed: passed, jumped: max(0, jumped) + len(passed),
			}, nil
		}
		passed = append(passed, missed(cycles, math.MaxInt, was.skipped)...)
		if len(cycles) < cyclesAtOnce {
			break
		}
	}
	return plan{jumped: was.jumped}, nil
}

// missed returns the cycles before one that were not charged and that nobody
// skips.
func missed(cycles []platform.Cycle, before int, skipped map[int]bool) []int {
	var list []int
	for _, y := range cycles {
		if y.Index < before && !y.Billed && !y.Skipped && !skipped[y.Index] {
			list = append(list, y.Index)
		}
	}
	return list
}

// write applies fresh readings to the rows as they are now.
func (s *Service) write(ctx context.Context, tx Tx, found readout, by *Authored, waits waiting) error {
	now := s.Clock.Now()
	if err := tx.PutUnread(ctx, found.unread); err != nil || len(found.fresh) == 0 {
		return err
	}
	store, err := tx.Shop(ctx)
	if err != nil {
		return err
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
		if err := w.contract(old, p, store, found.plans); err != nil {
			return err
		}
	}
	if err := tx.PutProgress(ctx, w.seen); err != nil {
		return err
	}
	if len(w.contracts) == 0 {
		return nil
	}
	if err := billing.MarkPriced(ctx, tx, w.contracts); err != nil {
		return err
	}
	if err := billing.Fence(ctx, tx, store, w.contracts, now); err != nil {
		return err
	}
	if err := tx.PutContracts(ctx, w.contracts); err != nil {
		return err
	}
	replanned := make([]*contract.Contract, len(w.replanned))
	for i, at := range w.replanned {
		replanned[i] = &w.contracts[at]
	}
	if err := billing.Replan(ctx, tx, store, replanned, now); err != nil {
		return err
	}
	limited := make([]*contract.Contract, len(w.limited))
	for i, at := range w.limited {
		limited[i] = &w.contracts[at]
	}
	if err := billing.Limit(ctx, tx, store, limited, now); err != nil {
		return err
	}
	if err := billing.Refill(ctx, tx, store, w.contracts, now); err != nil {
		return err
	}
	if err := billing.MarkBegun(ctx, tx, w.begun, now); err != nil {
		return err
	}
	if err := billing.MarkCustomers(ctx, tx, w.subscribed, now); err != nil {
		return err
	}
	if err := tx.Record(ctx, w.entries...); err != nil {
		return err
	}
	if err := billing.RetryAfter(ctx, tx, store, dunning.NewPayment, w.repaid, nil, now); err != nil {
		return err
	}
	if err := billing.RetryAfter(ctx, tx, store, dunning.NewAddress, w.redirected, nil, now); err != nil {
		return err
	}
	return tx.Enqueue(ctx, billing.Work{Shop: store.ID})
}

// aDay is how far the date of an order may lie from the platform's before it must
// be told.
const aDay = 24 * time.Hour

func apart(a, b time.Time) time.Duration { return a.Sub(b).Abs() }

// writing collects the changes of one transaction.
type writing struct {
	now        time.Time
	by         *Authored           // nil: the platform told us
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
func (w *writing) contract(old *contract.Contract, p platform.Contract, store shop.Shop, plans map[contract.ID]plan) error {
	c, change, err := contract.Read(old, p, store.Settings, w.now)
	if err != nil {
		return err
	}
	if w.by != nil {
		change.Terms = true
		if w.by.Also != nil {
			w.by.Also(&c)
		}
	}
	var moved []activity.Entry
	if old != nil && old.Moving != nil && old.Moving.To == c.Status {
		moved = old.Moving.Entries(*old, w.now)
		c.Arrive()
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
			c.Series, c.Turns = made.series, made.turns
			if !made.today.IsZero() {
				c.WishFor(made.series.Cycle, made.today)
			}
			if c.Ending != nil && c.Ending.Why == contract.EndOfMinimum { // it ends after as many orders as before
				ending := *c.Ending
				ending.Cycle += made.jumped - c.PassedCycles
				c.Ending = &ending
			}
			c.PassedCycles = made.jumped
		} else if err := toFixedDays(&c, change, store); err != nil {
			return err
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
	if old == nil || old.Status != c.Status || !billing.SamePlans(old.Lines, c.Lines) {
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
	if w.by.Also != nil {
		w.by.Also(&c)
	}
	if m := w.by.Moved; m != nil && c.Moving != nil && c.Moving.At.Equal(m.At) {
		w.entries = append(w.entries, m.Entries(c, w.now)...)
		c.Arrive()
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
