// Package upcoming shows the orders that are queued, by the day on which they are charged. It
// changes none: that is billing's.
package upcoming

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// PageSize is how many orders of a day are read at once.
const PageSize = 50

// Sum is the orders of a quarter of an hour and a currency. The amount is what they are expected to
// cost, with delivery and before taxes, as in the forecast of the figures.
type Sum struct {
	At     time.Time // when the quarter begins
	Orders int
	Amount money.Amount
}

// Order is an order that is queued.
type Order struct {
	Attempt  billing.AttemptID
	Contract contract.ID
	Line     shop.Line
	Cycle    int
	Date     time.Time
	Moved    bool // a person chose the date
	Next     bool // no order of the contract comes before it
	Customer string
	Email    string
	Amount   money.Amount // as in Sum
}

// Day is the orders of a day of the store.
type Day struct {
	Date    time.Time // when it begins
	Orders  int
	Amounts []money.Amount // by currency
}

// ReadTx is one read-only transaction on one shop's data.
type ReadTx interface {
	// QueueSums sums the orders that are charged from one instant to before another, in order.
	// Both begin a quarter of an hour, as days do.
	QueueSums(ctx context.Context, from, to time.Time) ([]Sum, error)
	// QueueOrders returns at most limit of them, earliest first, after the first ones. Those of
	// an instant are in the order of their contracts.
	QueueOrders(ctx context.Context, from, to time.Time, offset, limit int) ([]Order, error)
	// QueueOrder returns an order that is queued, or NotFound.
	QueueOrder(ctx context.Context, id billing.AttemptID) (Order, error)
}

// Store runs read-only transactions.
type Store interface {
	View(ctx context.Context, of shop.ID, fn func(ReadTx) error) error
}

// Service shows what is queued.
type Service struct{ Store Store }

// Days returns the days of a span that have orders, in order.
func (s *Service) Days(ctx context.Context, of shop.ID, from, to time.Time, zone *time.Location) ([]Day, error) {
	var sums []Sum
	err := s.Store.View(ctx, of, func(tx ReadTx) (err error) {
		sums, err = tx.QueueSums(ctx, from, to)
		return err
	})
	return byDay(sums, zone), err
}

// byDay adds up sums that are in the order of their instants.
func byDay(sums []Sum, zone *time.Location) []Day {
	slices.SortStableFunc(sums, func(a, b Sum) int { return a.At.Compare(b.At) })
	var days []Day
	for _, sum := range sums {
		date := StartOfDay(sum.At, zone)
		if len(days) == 0 || !days[len(days)-1].Date.Equal(date) {
			days = append(days, Day{Date: date})
		}
		last := &days[len(days)-1]
		last.Orders += sum.Orders
		last.Amounts = Add(last.Amounts, sum.Amount)
	}
	return days
}

// Add adds an amount to those of its currency. The currencies are in the order of their codes.
func Add(to []money.Amount, a money.Amount) []money.Amount {
	at, there := slices.BinarySearchFunc(to, a, func(x, y money.Amount) int { return cmp.Compare(x.Currency, y.Currency) })
	if there {
		to[at] = to[at].Plus(a)
		return to
	}
	return slices.Insert(to, at, a)
}

// StartOfDay returns when the day of an instant begins in a zone.
func StartOfDay(t time.Time, zone *time.Location) time.Time {
	year, month, day := t.In(zone).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, zone)
}

// Orders returns what is charged from one instant to before another, and a page, from 0, of
// its orders.
func (s *Service) Orders(ctx context.Context, of shop.ID, from, to time.Time, page int) (day Day, list []Order, err error) {
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		sums, err := tx.QueueSums(ctx, from, to)
		if err != nil {
			return err
		}
		day = Day{Date: from}
		for _, sum := range sums {
			day.Orders += sum.Orders
			day.Amounts = Add(day.Amounts, sum.Amount)
		}
		list, err = tx.QueueOrders(ctx, from, to, page*PageSize, PageSize)
		return err
	})
	return day, list, err
}

// Order returns an order that is queued, or NotFound.
func (s *Service) Order(ctx context.Context, of shop.ID, id billing.AttemptID) (o Order, err error) {
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		o, err = tx.QueueOrder(ctx, id)
		return err
	})
	return o, err
}

// NotFound is the failure of an order that is not queued.
func NotFound() error {
	return fault.New(fault.NotFound, "the order is not queued: it was charged, skipped or taken back").Entity(billing.AttemptEntity).Code("orderNotQueued")
}
