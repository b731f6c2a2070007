// Package command carries out what people want of upcoming orders: skip, move, edit, charge
// now, and one-time products. What the platform must know of it is published later.
package command

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/queue"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Service carries out commands.
type Service struct{ *billing.Env }

// target is the attempt that a person wants to change: one by its id, or the next order of a
// contract.
type target struct {
	by      activity.Actor // a subscriber finds only their own contracts
	line    shop.Line
	attempt billing.AttemptID
	next    contract.ID // the contract whose next order is meant, if attempt is 0
	permit  Permit
}

// Permit says whether an actor may change an order, as it is in the transaction that changes it.
// It is asked before the command's own rules, and also where the order is only read for them.
type Permit interface {
	// Order returns why the order may not be changed, or nil.
	Order(ctx context.Context, tx billing.ReadTx, of shop.Shop, r billing.Record) error
}

// check asks the target's permit, if it has one.
func (t target) check(ctx context.Context, tx billing.ReadTx, r draft) error {
	if t.permit == nil {
		return nil
	}
	return t.permit.Order(ctx, tx, r.shop, r.Record)
}

// draft is the record that a command changes.
type draft struct {
	billing.Record
	shop     shop.Shop
	restarts contract.Series // the contract's new series; zero: it keeps its own
	opens    opening         // of the attempt's cycle, if the command has asked for it
}

// change runs a command on one attempt in one transaction: it reads and locks the attempt,
// calls do, writes the attempt with its entries and the contract's progress, and enqueues the
// task that follows.
func (s *Service) change(ctx context.Context, of shop.ID, t target, do func(*draft, time.Time) ([]activity.Entry, error)) (billing.Record, error) {
	var r draft
	err := s.Store.Update(ctx, of, func(tx billing.Tx) error {
		now := s.Clock.Now()
		var err error
		if r, err = find(ctx, tx, t); err != nil {
			return err
		}
		if err := r.ReadOrder(ctx, tx, r.shop); err != nil {
			return err
		}
		before := r.Attempt
		entries, err := do(&r, now)
		if err != nil {
			return err
		}
		if len(entries) > 0 {
			if r.Status != before.Status || !r.BillingDate.Equal(before.BillingDate) || r.restarts != (contract.Series{}) {
				r.Of.QueueUpdatedAt = now
			}
			if err := r.put(ctx, tx, entries, now); err != nil {
				return err
			}
			if !r.DueAt.Equal(before.DueAt) || !r.PublishAt.Equal(before.PublishAt) {
				if err := tx.Enqueue(ctx, billing.Task{Shop: of}); err != nil {
					return err
				}
			}
		}
		return r.complete(ctx, tx)
	})
	return r.Record, err
}

// put writes the attempt, the progress of its contract and the entries.
func (r *draft) put(ctx context.Context, tx billing.Tx, entries []activity.Entry, now time.Time) error {
	r.UpdatedAt = now
	changed := []billing.Attempt{r.Attempt}
	if err := tx.PutAttempts(ctx, changed); err != nil {
		return err
	}
	r.Attempt = changed[0]
	if r.restarts != (contract.Series{}) {
		if err := r.restart(ctx, tx, now); err != nil {
			return err
		}
	}
	contracts := []contract.Contract{r.Of}
	if err := queue.Refill(ctx, tx, r.shop, contracts, now); err != nil {
		return err
	}
	r.Of = contracts[0]
	return tx.Record(ctx, entries...)
}

// complete reads the rest of the record: what its order depends on, and the status of
// e-mails.
func (r *draft) complete(ctx context.Context, tx billing.Tx) error {
	status, err := tx.MailsByKey(ctx, r.MessageKeys())
	if err != nil {
		return err
	}
	r.Mailed(status)
	return r.ReadOrder(ctx, tx, r.shop)
}

// find reads the attempt and its contract and, in a Tx, locks both.
func find(ctx context.Context, tx billing.ReadTx, t target) (draft, error) {
	if t.attempt == 0 {
		return findNext(ctx, tx, t)
	}
	r, err := billing.Find(ctx, tx, t.line, t.attempt, t.by)
	if err != nil {
		return draft{}, err
	}
	of, err := tx.Shop(ctx)
	if err != nil {
		return draft{}, err
	}
	d := draft{Record: r, shop: of}
	return d, t.check(ctx, tx, d)
}

// findNext does the same with the next queued attempt of a contract. It returns NotFound for
// a contract of another line, or one that is hidden from the actor.
func findNext(ctx context.Context, tx billing.ReadTx, t target) (draft, error) {
	queued, err := tx.AttemptsOf(ctx, []contract.ID{t.next}, billing.Queued)
	if err != nil {
		return draft{}, err
	}
	contracts, err := tx.Contracts(ctx, []contract.ID{t.next})
	if err != nil {
		return draft{}, err
	}
	if len(contracts) == 0 || contracts[0].Line != t.line || contracts[0].HiddenFrom(t.by) {
		return draft{}, fault.New(fault.NotFound, "contract %d does not exist", t.next).Entity("subscriptionContract").Code("contractNotFound")
	}
	first, ok := billing.Earliest(queued)
	if !ok {
		return draft{}, NoUpcomingOrder(contracts[0])
	}
	of, err := tx.Shop(ctx)
	if err != nil {
		return draft{}, err
	}
	d := draft{Record: billing.Record{Attempt: first, Of: contracts[0]}, shop: of}
	return d, t.check(ctx, tx, d)
}

// NoUpcomingOrder is the failure of a command on the next order of a contract that has none.
func NoUpcomingOrder(c contract.Contract) error {
	return fault.New(fault.FailedPrecondition, "contract %d is %s and has no upcoming order", c.ID, c.Status).Entity(billing.AttemptEntity).Code("noUpcomingOrder")
}
