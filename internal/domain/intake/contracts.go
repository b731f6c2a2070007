package intake

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// read takes over contracts as the platform holds them now, plans what must be
// planned anew, and finishes the events that told of them.
func (s *Service) read(ctx context.Context, store shop.Shop, ids []contract.ID, events []string) error {
	for chunk := range slices.Chunk(ids, platform.MaxIDs) {
		numbers := make([]int64, len(chunk))
		for i, id := range chunk {
			numbers[i] = int64(id)
		}
		fresh, err := s.Platform.Contracts(ctx, store.At(), numbers)
		if err != nil {
			return fmt.Errorf("read %d contracts: %w", len(chunk), err)
		}
		if err := s.take(ctx, store, fresh); err != nil {
			return err
		}
	}
	if len(events) == 0 {
		return nil
	}
	return s.Store.Update(ctx, store.ID, func(tx Tx) error { return tx.FinishEvents(ctx, events, s.Clock.Now()) })
}

// take writes fresh readings. Contracts whose queue must be made anew need the
// platform's cycles, which are read between two transactions.
func (s *Service) take(ctx context.Context, store shop.Shop, fresh []platform.Contract) error {
	known, err := s.standing(ctx, store.ID, fresh)
	if err != nil {
		return err
	}
	plans := make(map[contract.ID]plan)
	now := s.Clock.Now()
	for _, p := range fresh {
		had := known[contract.ID(p.ID)]
		c, change, err := contract.Read(had.contract, p, store.Settings, now)
		if err != nil {
			s.Log.ErrorContext(ctx, "a contract cannot be read", "shop", store.Domain, "contract", p.ID, "error", err)
			return err
		}
		if change.Replans() && c.Status == contract.Active {
			made, err := s.plan(ctx, store, c, p.NextBillingDate, had, now)
			if err != nil {
				return err
			}
			plans[c.ID] = made
		}
	}
	return s.Store.Update(ctx, store.ID, func(tx Tx) error { return s.write(ctx, tx, fresh, plans) })
}

// had is what was known of a contract before a fresh reading.
type had struct {
	contract *contract.Contract
	reached  int // highest cycle that is past its waiting
}

// standing reads what is known of the contracts, without holding on to it.
func (s *Service) standing(ctx context.Context, of shop.ID, fresh []platform.Contract) (map[contract.ID]had, error) {
	known := make(map[contract.ID]had, len(fresh))
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		clear(known)
		ids := make([]contract.ID, len(fresh))
		for i, p := range fresh {
			ids[i] = contract.ID(p.ID)
		}
		attempts, err := tx.AttemptsOf(ctx, ids)
		if err != nil {
			return err
		}
		contracts, err := tx.Contracts(ctx, ids)
		if err != nil {
			return err
		}
		for i := range contracts {
			known[contracts[i].ID] = had{contract: &contracts[i]}
		}
		for _, a := range attempts {
			if h := known[a.Contract]; !a.Status.Upcoming() && a.Cycle > h.reached {
				h.reached = a.Cycle
				known[a.Contract] = h
			}
		}
		return nil
	})
	return known, err
}

// plan is where a contract's queue begins.
type plan struct {
	series contract.Series
	fits   bool
}

// How many cycles are looked through for the one to begin with.
const (
	cyclesAtOnce = 25
	cyclesAtMost = 1000
)

// plan chooses the cycle with which the queue begins. A new contract begins on
// the date that the platform shows; one that runs again or changed its interval
// begins with the next date that is not past.
func (s *Service) plan(ctx context.Context, store shop.Shop, c contract.Contract, shown time.Time, before had, now time.Time) (plan, error) {
	cal, err := store.Calendar()
	if err != nil {
		return plan{}, err
	}
	wanted, notBefore := shown, time.Time{}
	if before.contract != nil {
		notBefore = now
		if wanted.Before(now) {
			wanted = time.Time{}
		}
	}
	for from := before.reached + 1; from < before.reached+cyclesAtMost; from += cyclesAtOnce {
		cycles, err := s.Platform.Cycles(ctx, store.At(), int64(c.ID), from, from+cyclesAtOnce-1)
		if err != nil {
			return plan{}, fmt.Errorf("read cycles of contract %d: %w", c.ID, err)
		}
		open := slices.DeleteFunc(slices.Clone(cycles), func(y platform.Cycle) bool { return y.Expected.Before(notBefore) })
		if billing.Begin(&c, wanted, open, cal) {
			return plan{series: c.Series, fits: true}, nil
		}
		if len(cycles) < cyclesAtOnce {
			break
		}
	}
	return plan{}, nil
}

// write applies fresh readings to the rows as they are now.
func (s *Service) write(ctx context.Context, tx Tx, fresh []platform.Contract, plans map[contract.ID]plan) error {
	now := s.Clock.Now()
	store, err := tx.Shop(ctx)
	if err != nil {
		return err
	}
	cal, err := store.Calendar()
	if err != nil {
		return err
	}
	ids := make([]contract.ID, len(fresh))
	for i, p := range fresh {
		ids[i] = contract.ID(p.ID)
	}
	queued, err := tx.AttemptsOf(ctx, ids, billing.Queued)
	if err != nil {
		return err
	}
	rows, err := tx.Contracts(ctx, ids)
	if err != nil {
		return err
	}
	w := writing{now: now, cal: cal, queued: make(map[contract.ID][]billing.Attempt)}
	for _, a := range queued {
		w.queued[a.Contract] = append(w.queued[a.Contract], a)
	}
	for _, p := range fresh {
		var old *contract.Contract
		if i := slices.IndexFunc(rows, func(c contract.Contract) bool { return c.ID == contract.ID(p.ID) }); i >= 0 {
			old = &rows[i]
			if old.Revision > p.Revision {
				continue // a later reading was faster
			}
		}
		if err := w.contract(old, p, store, plans); err != nil {
			return err
		}
	}
	if err := tx.DeleteAttempts(ctx, w.dropped); err != nil {
		return err
	}
	if err := tx.PutContracts(ctx, w.contracts); err != nil {
		return err
	}
	if err := billing.Refill(ctx, tx, store, w.contracts, now); err != nil {
		return err
	}
	if err := tx.Record(ctx, w.entries...); err != nil {
		return err
	}
	if len(w.contracts) == 0 {
		return nil
	}
	return tx.Enqueue(ctx, billing.Work{Shop: store.ID})
}

// writing collects the changes of one transaction.
type writing struct {
	now       time.Time
	cal       cadence.Calendar
	queued    map[contract.ID][]billing.Attempt
	contracts []contract.Contract
	dropped   []billing.AttemptID
	entries   []activity.Entry
}

// contract applies one fresh reading.
func (w *writing) contract(old *contract.Contract, p platform.Contract, store shop.Shop, plans map[contract.ID]plan) error {
	c, change, err := contract.Read(old, p, store.Settings, w.now)
	if err != nil || !change.Any() {
		return err
	}
	if change.Replans() {
		made, planned := plans[c.ID]
		if c.Status == contract.Active && !planned {
			return fault.New(fault.Conflict, "contract %d changed while it was read", c.ID)
		}
		for _, a := range w.queued[c.ID] {
			w.dropped = append(w.dropped, a.ID)
		}
		c.Series = made.series
		if c.Status == contract.Active && !made.fits {
			w.record(c, activity.SubscriptionContractUpdated, activity.Failure, note{Reason: "the platform has no open billing cycle for the contract: nothing can be charged"})
		}
	}
	c.UpdatedAt = w.now
	w.contracts = append(w.contracts, c)
	w.tell(old, c, change)
	return nil
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
		moved := note{From: string(old.Status), To: string(c.Status)}
		switch c.Status {
		case contract.Active:
			record(activity.ContractActivated, moved)
		case contract.Paused:
			record(activity.ContractPaused, moved)
		case contract.Cancelled:
			record(activity.ContractCancelled, moved)
		default:
			record(activity.SubscriptionContractUpdated, moved)
		}
	}
	if change.Billing {
		record(activity.BillingIntervalChange, note{From: words(old.Billing), To: words(c.Billing)})
	}
	if change.Delivery {
		record(activity.DeliveryIntervalChange, note{From: words(old.Delivery), To: words(c.Delivery)})
	}
	if change.Terms {
		record(activity.SubscriptionContractUpdated, note{})
	}
}

func words(p contract.Policy) string { return fmt.Sprintf("%d %s", p.Count, p.Interval) }
