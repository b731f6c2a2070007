package analytics

import (
	"context"
	"reflect"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// RebuildTx is one transaction that computes the figures of a shop again.
type RebuildTx interface {
	Tx
	// Contracts returns contracts, locked. Unknown ids are left out.
	Contracts(ctx context.Context, ids []contract.ID) ([]contract.Contract, error)
	// ContractsWithoutHistory returns at most limit contracts that have no version.
	ContractsWithoutHistory(ctx context.Context, limit int) ([]contract.ID, error)
	// VersionsAfter returns at most limit versions with higher numbers, in order.
	VersionsAfter(ctx context.Context, number int64, limit int) ([]Version, error)
	// OutcomesAfter returns at most limit outcomes of attempts with higher ids, in order.
	OutcomesAfter(ctx context.Context, attempt int64, limit int) ([]Outcome, error)
	// CountQueue sums the orders that are queued, in the order of their keys.
	CountQueue(ctx context.Context) ([]QueueFigures, error)
	// AllFigures returns every row that is computed, by key.
	AllFigures(ctx context.Context) (Tables, error)
	// ClearFigures deletes what is computed.
	ClearFigures(ctx context.Context) error
}

// RebuildStore runs transactions.
type RebuildStore interface {
	Update(ctx context.Context, of shop.ID, fn func(RebuildTx) error) error
}

// Rebuilder computes figures again.
type Rebuilder struct {
	Store RebuildStore
	Clock clock.Clock
}

// Rebuilt is what a rebuild did.
type Rebuilt struct {
	Added    int // contracts that had no history
	Versions int
	Outcomes int
	Differs  bool // the tables are not as they were
}

// batch is how many rows a rebuild reads at once.
const batch = 500

// Rebuild begins the history of contracts that have none, and computes the tables of a shop
// again from history, outcomes and queue. Changes of the shop's figures wait until it is done; an
// error leaves the tables as they were.
func (r *Rebuilder) Rebuild(ctx context.Context, of shop.ID) (Rebuilt, error) {
	var done Rebuilt
	for {
		n, err := r.begin(ctx, of)
		if err != nil {
			return done, err
		}
		if done.Added += n; n < batch {
			break
		}
	}
	err := r.Store.Update(ctx, of, func(tx RebuildTx) error {
		done.Versions, done.Outcomes = 0, 0
		if _, err := tx.LockLedger(ctx); err != nil {
			return err
		}
		was, err := tx.AllFigures(ctx)
		if err != nil {
			return err
		}
		if err := tx.ClearFigures(ctx); err != nil {
			return err
		}
		book := NewBook(Tables{})
		if err := done.addOutcomes(ctx, tx, book); err != nil {
			return err
		}
		if err := done.addVersions(ctx, tx, book); err != nil {
			return err
		}
		tables := book.Tables()
		if tables.Queue, err = tx.CountQueue(ctx); err != nil {
			return err
		}
		if err := tx.PutFigures(ctx, tables); err != nil {
			return err
		}
		is, err := tx.AllFigures(ctx)
		done.Differs = !reflect.DeepEqual(was, is)
		return err
	})
	return done, err
}

// begin adds the first versions of a batch of contracts that have none.
func (r *Rebuilder) begin(ctx context.Context, of shop.ID) (int, error) {
	n := 0
	err := r.Store.Update(ctx, of, func(tx RebuildTx) error {
		ids, err := tx.ContractsWithoutHistory(ctx, batch)
		if n = len(ids); err != nil || n == 0 {
			return err
		}
		contracts, err := tx.Contracts(ctx, ids)
		if err != nil {
			return err
		}
		now := r.Clock.Now()
		for i := range contracts {
			contracts[i].UpdatedAt = now
		}
		return Record(ctx, tx, Changes{Contracts: contracts})
	})
	return n, err
}

func (r *Rebuilt) addOutcomes(ctx context.Context, tx RebuildTx, book *Book) error {
	book.ahead = make(map[dayKey]*DayFigures)
	for after := int64(0); ; {
		list, err := tx.OutcomesAfter(ctx, after, batch)
		if err != nil {
			return err
		}
		for _, o := range list {
			book.Order(Outcome{}, o)
			after = o.Attempt
		}
		if r.Outcomes += len(list); len(list) < batch {
			return nil
		}
	}
}

func (r *Rebuilt) addVersions(ctx context.Context, tx RebuildTx, book *Book) error {
	orders := sorted(book.ahead, compareDays)
	settle := func(before Day) {
		n := 0
		for ; n < len(orders) && orders[n].Day < before; n++ {
			book.addOrders(orders[n])
		}
		orders = orders[n:]
	}
	current := make(map[int64]*Version)
	for after := int64(0); ; {
		list, err := tx.VersionsAfter(ctx, after, batch)
		if err != nil {
			return err
		}
		for _, v := range list {
			settle(v.Day)
			book.Change(current[v.Contract], v)
			current[v.Contract], after = &v, v.Number
		}
		if r.Versions += len(list); len(list) < batch {
			break
		}
	}
	settle(1 << 30)
	return nil
}

// addOrders adds the orders of a day.
func (b *Book) addOrders(o DayFigures) {
	d := b.day(o.Day, o.Dimension)
	d.Orders += o.Orders
	d.Revenue += o.Revenue
	d.Failed += o.Failed
	d.FailedAmount += o.FailedAmount
	d.Recovered += o.Recovered
	d.RecoveredAmount += o.RecoveredAmount
}
