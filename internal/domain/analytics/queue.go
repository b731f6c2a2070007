package analytics

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
)

// Quarter is a quarter of an hour, counted from 1970-01-01 in UTC. Every day of every time
// zone begins with one, so sums by quarter are sums by day wherever a store is or moves to.
type Quarter int64

// QuarterLength is how long a quarter is.
const QuarterLength = 15 * time.Minute

// QuarterOf returns the quarter that an instant is in.
func QuarterOf(t time.Time) Quarter { return Quarter(t.UnixMilli() / QuarterLength.Milliseconds()) }

// Start returns when the quarter begins.
func (q Quarter) Start() time.Time {
	return time.UnixMilli(int64(q) * QuarterLength.Milliseconds()).UTC()
}

// Wait is where an order is queued. The zero Wait is nowhere: the order is not queued, or it is
// not charged automatically.
type Wait struct {
	Contract int64
	Quarter  Quarter
	Cycle    int64 // at most LastCycle
	Amount   int64 // expected, in minor units
}

// WaitOf returns where the order of an attempt is queued.
func WaitOf(a billing.Attempt) Wait {
	if a.Status != billing.Queued || a.DueAt.IsZero() {
		return Wait{}
	}
	return Wait{int64(a.Contract), QuarterOf(a.DueAt), int64(min(a.Cycle, LastCycle)), a.Expected}
}

// QueueChange is where an order was queued and where it is.
type QueueChange struct{ Was, Is Wait }

func (c QueueChange) contract() int64 { return cmp.Or(c.Is.Contract, c.Was.Contract) }

// QueueFigures is the orders that are queued in a quarter. Their amount is what they are expected
// to cost, with delivery and before taxes, in minor units.
type QueueFigures struct {
	Quarter Quarter
	Dimension
	Cycle          int64 // at most LastCycle
	Orders, Amount int64
}

// queued counts an order that waits. By is 1 or -1.
func (b *Book) queued(w Wait, at State, by int64) {
	if w == (Wait{}) {
		return
	}
	key := QueueFigures{Quarter: w.Quarter, Dimension: at.Dimension, Cycle: w.Cycle}
	row := added(b.queue, key, key)
	row.Orders += by
	row.Amount += by * w.Amount
}

// QueueTx is what is queued.
type QueueTx interface {
	// QueuedOf returns where the orders of contracts are queued.
	QueuedOf(ctx context.Context, contracts []int64) ([]Wait, error)
}

// queueOf adds what a transaction changed in the queue. Orders of contracts that have another
// currency or plan group now are counted again, which needs all of them. Orders of contracts
// without a history are not counted.
func (b *Book) queueOf(ctx context.Context, tx QueueTx, changes []QueueChange, current, latest map[int64]Version) error {
	var again []int64
	for id, is := range latest {
		if was, has := current[id]; !has || was.Dimension != is.Dimension {
			again = append(again, id)
		}
	}
	slices.Sort(again)
	waiting, err := tx.QueuedOf(ctx, again)
	if err != nil {
		return err
	}
	for _, w := range waiting {
		b.queued(w, latest[w.Contract].State, 1)
		if was, has := current[w.Contract]; has {
			b.queued(w, was.State, -1)
		}
	}
	for _, c := range changes {
		// Of a contract that is counted again, what is there now is counted already, and was taken off
		// the old sums instead of what was there before.
		at, counted := current[c.contract()]
		if _, is := slices.BinarySearch(again, c.contract()); !is {
			at, counted = latest[c.contract()]
		}
		if counted {
			b.queued(c.Is, at.State, 1)
			b.queued(c.Was, at.State, -1)
		}
	}
	return nil
}

// CompareQueue orders figures by quarter, currency, plan group and cycle.
func CompareQueue(a, b QueueFigures) int {
	return cmp.Or(cmp.Compare(a.Quarter, b.Quarter), cmp.Compare(a.Currency, b.Currency), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Cycle, b.Cycle))
}
