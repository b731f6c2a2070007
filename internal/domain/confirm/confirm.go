// Package confirm lets a merchant see what a store's subscribers will be charged, and
// confirm it. A store that was connected for the first time is not charged before.
package confirm

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

const (
	// Ahead is how far a preview looks.
	Ahead = 7 * 24 * time.Hour
	// firstOrders is how many orders a preview names.
	firstOrders = 20
)

// Total is the sum of orders of one currency, before taxes.
type Total struct {
	Orders int
	Amount money.Amount
}

// Order is an order that will be charged.
type Order struct {
	Attempt  billing.AttemptID
	Contract contract.ID
	Cycle    int
	Date     time.Time
	Amount   money.Amount // as in Total
}

// Preview is what of a store is charged in the next days once it is confirmed.
type Preview struct {
	Awaits time.Time // since when charges wait for the confirmation; zero: they do not
	Until  time.Time
	// Overdue counts the orders whose date has passed. They are in Totals too, are charged
	// first, and are spread over the store's hours of catching up.
	Overdue int
	Totals  []Total // by currency
	First   []Order // the earliest
	// Syncing is whether the contracts are still being read for the first time, so that
	// there may be more orders.
	Syncing bool
}

// Orders counts all orders of the preview.
func (p Preview) Orders() int {
	n := 0
	for _, t := range p.Totals {
		n += t.Orders
	}
	return n
}

// ReadTx is one read-only transaction on one shop's data.
type ReadTx interface {
	Shop(ctx context.Context) (shop.Shop, error)
	// TotalsToCharge sums the orders that will be charged until an instant, by currency,
	// and counts those whose date is at or before now. Of several that a contract has
	// missed only the newest counts.
	TotalsToCharge(ctx context.Context, now, until time.Time) (totals []Total, overdue int, err error)
	// OrdersToCharge returns at most limit of them, earliest first.
	OrdersToCharge(ctx context.Context, now, until time.Time, limit int) ([]Order, error)
}

// Tx is one transaction on one shop's data.
type Tx interface {
	ReadTx
	PutShop(ctx context.Context, s shop.Shop) error
	Record(ctx context.Context, entries ...activity.Entry) error
	EnqueueCharges(ctx context.Context) error
}

// Store runs transactions.
type Store interface {
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
	View(ctx context.Context, of shop.ID, fn func(ReadTx) error) error
}

// Service shows and confirms what is charged.
type Service struct {
	Store Store
	Clock clock.Clock
}

// Preview returns what of a store will be charged in the next 7 days.
func (s *Service) Preview(ctx context.Context, of shop.ID) (Preview, error) {
	var p Preview
	err := s.Store.View(ctx, of, func(tx ReadTx) (err error) {
		now := s.Clock.Now()
		p, err = preview(ctx, tx, now, now.Add(Ahead))
		return err
	})
	return p, err
}

// preview reads what of a store will be charged until an instant.
func preview(ctx context.Context, tx ReadTx, now, until time.Time) (Preview, error) {
	store, err := tx.Shop(ctx)
	if err != nil {
		return Preview{}, err
	}
	p := Preview{Awaits: store.Guard.AwaitsSince, Until: until, Syncing: store.ReconciledAt.IsZero()}
	if p.Totals, p.Overdue, err = tx.TotalsToCharge(ctx, now, until); err != nil {
		return Preview{}, err
	}
	p.First, err = tx.OrdersToCharge(ctx, now, until, firstOrders)
	return p, err
}

// confirmed is the additional information of the entry.
type confirmed struct {
	Reason  string `json:"reason"`
	Orders  int    `json:"ordersInNext7Days"`
	Overdue int    `json:"overdueOrders"`
}

// Confirm has the orders of a store charged from now on, if the store still has the preview
// that was seen. A store that does not wait for it is not changed; the result is whether it
// did. It fails with FailedPrecondition (syncRuns) while the contracts are read for the first
// time, and with Conflict (previewChanged) when other orders would be charged.
func (s *Service) Confirm(ctx context.Context, of shop.ID, seen Fingerprint, by activity.Actor) (bool, error) {
	waited := false
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		now := s.Clock.Now()
		store, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		if waited = store.Guard.Confirm(now, by.By); !waited {
			return nil
		}
		until, valid := seen.until(now)
		p, err := preview(ctx, tx, now, until)
		switch {
		case err != nil:
			return err
		case p.Syncing:
			return fault.New(fault.FailedPrecondition, "the contracts of the store are still being read, so the list is not complete: confirm when it is").Entity("shop").Code(SyncRuns)
		case !valid || p.Fingerprint() != seen:
			return fault.New(fault.Conflict, "the orders have changed since they were shown: look at the new list, and confirm that").Entity("shop").Code(PreviewChanged)
		}
		if err := tx.PutShop(ctx, store); err != nil {
			return err
		}
		if err := tx.Record(ctx, activity.Entry{
			EntityID: int64(of), EntityType: activity.EntityShopInfo, Event: activity.Updated, Status: activity.Success, Actor: by, At: now,
			Info: activity.Details(confirmed{"the merchant has confirmed that orders are charged", p.Orders(), p.Overdue}),
		}); err != nil {
			return err
		}
		return tx.EnqueueCharges(ctx)
	})
	return waited && err == nil, err
}

// ConfirmUnseen is Confirm for a caller to which nothing was shown.
func (s *Service) ConfirmUnseen(ctx context.Context, of shop.ID, by activity.Actor) (bool, error) {
	p, err := s.Preview(ctx, of)
	if err != nil {
		return false, err
	}
	return s.Confirm(ctx, of, p.Fingerprint(), by)
}
