package analytics

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Filter chooses rows of days. The zero Filter chooses all.
type Filter struct {
	Currency money.Currency // empty: all
	Group    *int64         // nil: all plan groups
}

// ReadTx is one snapshot of a shop's figures.
type ReadTx interface {
	DaysTx
	SubscribersTx
	OrdersTx
}

// DaysTx reads what is kept by day, currency and plan group.
type DaysTx interface {
	// Zone returns the shop's time zone.
	Zone(ctx context.Context) (*time.Location, error)
	// MetricDays returns the rows of the days from one to another, in order.
	MetricDays(ctx context.Context, from, to Day, f Filter) ([]DayFigures, error)
	// MetricsBefore returns the last row before a day of each dimension.
	MetricsBefore(ctx context.Context, day Day, f Filter) ([]DayFigures, error)
	// FirstDay returns the first day that has figures; 0: none has.
	FirstDay(ctx context.Context) (Day, error)
	// PlanGroupNames returns the store's plan groups, by name.
	PlanGroupNames(ctx context.Context) ([]PlanGroup, error)
}

// SubscribersTx reads what is kept of subscribers.
type SubscribersTx interface {
	// SubscriberDays returns the rows of the days from one to another, in order, and before
	// them the last one that is earlier.
	SubscriberDays(ctx context.Context, from, to Day) ([]SubscriberFigures, error)
	ChurnMonths(ctx context.Context, from, to Month) ([]ChurnMonth, error)
	// Churned counts the subscribers at the start of a day who have no contract now.
	Churned(ctx context.Context, since Day) (voluntary, byFailedPayment int64, err error)
	// CohortMonths returns the rows of cohorts from a month on, in order.
	CohortMonths(ctx context.Context, from Month) ([]CohortMonth, error)
	// CohortSums returns the sums of a currency by cohort, in order. Month is 0.
	CohortSums(ctx context.Context, c money.Currency) ([]CohortMonth, error)
}

// OrdersTx reads what is kept of orders.
type OrdersTx interface {
	// FailureDays returns what became of the orders whose first decline fell on the days from
	// one to another, in order of days, by class and try.
	FailureDays(ctx context.Context, from, to Day, f Filter) ([]FailureFigures, error)
	// CycleSums returns the sums of the results of the days from one to another, by cycle.
	CycleSums(ctx context.Context, from, to Day) ([]CycleFigures, error)
	// Queued returns the orders that fall due from one quarter to before another.
	Queued(ctx context.Context, from, to Quarter, f Filter) ([]QueueFigures, error)
	// InDunning returns the number and expected amount of the orders that are declined and not
	// given up, by currency.
	InDunning(ctx context.Context) ([]Owed, error)
}

// Owed is orders that wait to be paid.
type Owed struct {
	Currency money.Currency
	Orders   int64
	Amount   int64
}

// ReadStore runs read-only transactions.
type ReadStore interface {
	View(ctx context.Context, of shop.ID, fn func(ReadTx) error) error
}

// Service answers what the figures of a store are. Times of an answer grow with the days it
// covers.
type Service struct {
	Store ReadStore
	Clock clock.Clock
}

// Period is the days from one to another, both included.
type Period struct{ From, To Day }

// MaxDays is how many days a period may have.
const MaxDays = 3 * 366

// Check returns why the period cannot be answered, or nil.
func (p Period) Check() error {
	switch {
	case p.From > p.To:
		return fault.New(fault.Invalid, "the period ends on %s, before it begins on %s", p.To, p.From)
	case p.To-p.From >= MaxDays:
		return fault.New(fault.Invalid, "a period has at most %d days", MaxDays)
	}
	return nil
}

// Days returns how many days the period has.
func (p Period) Days() int { return int(p.To-p.From) + 1 }
