package billing

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Env is what the services of billing's rooms share.
type Env struct {
	Store    Store
	Platform Platform
	Clock    clock.Clock
	Log      *slog.Logger
	Policy   Policy
	Plans    plan.Book // prices of selling plans; nil: no plan has any
	// OneCaller makes the calls of a batch one after the other, so that a
	// simulation decides what happens between them.
	OneCaller bool
}

// callers is how many calls of one batch run at once.
const callers = 4

// Each calls do for every index below n, several at once, and returns when all calls
// have. With OneCaller it calls them in order.
func (e *Env) Each(ctx context.Context, n int, do func(i int)) {
	if e.OneCaller {
		for i := range n {
			do(i)
		}
		return
	}
	var over atomic.Int64
	g := errgroup.Group{}
	g.SetLimit(callers)
	for i := range n {
		g.Go(func() error {
			do(i)
			if int(over.Add(1)) > n-callers { // no call is left to start
				task.Done(ctx)
			}
			return nil
		})
	}
	_ = g.Wait() // do reports its own errors
}

// Task is the background task that acts on everything of a shop that is due.
type Task struct {
	Shop shop.ID `json:"shop"`
}

// Kind names the task.
func (Task) Kind() string { return "billing_work" }

// Platform is what billing needs of the commerce platform.
type Platform interface {
	platform.Charger
	platform.Scheduler
	Orders
	Annotator
}

// Orders is what billing needs to prepare an order before its charge. The methods are
// those of the platform's Editor and Catalogue.
type Orders interface {
	Detail(ctx context.Context, shop platform.Shop, contract int64) (platform.Detail, error)
	EditContract(ctx context.Context, shop platform.Shop, contract int64, e platform.Edit) (platform.Detail, error)
	CycleOrder(ctx context.Context, shop platform.Shop, of platform.CycleRef) (platform.CycleOrder, error)
	EditCycle(ctx context.Context, shop platform.Shop, of platform.CycleRef, e platform.Edit) (platform.CycleOrder, error)
	DropCycleEdit(ctx context.Context, shop platform.Shop, of platform.CycleRef) error
	Variants(ctx context.Context, shop platform.Shop, ids []int64) ([]platform.Variant, error)
}

// Annotator is what billing needs to tag orders and customers and to add notes to orders.
// The methods are those of the platform's Catalogue.
type Annotator interface {
	Tag(ctx context.Context, shop platform.Shop, id string, add, remove []string) error
	NoteOrder(ctx context.Context, shop platform.Shop, order int64, note string) error
	OrderLines(ctx context.Context, shop platform.Shop, order, contract int64) ([]platform.Line, error)
}

// pricedAtOnce is the number of contracts whose orders one transaction prices.
const pricedAtOnce = 200

// PriceOrders computes what upcoming orders of a store are expected to cost, of all contracts that
// wait for it.
func PriceOrders(ctx context.Context, s Store, of shop.ID, now clock.Clock) error {
	for more := true; more; {
		err := s.Update(ctx, of, func(tx Tx) (err error) {
			more, err = tx.RepriceNext(ctx, now.Now(), pricedAtOnce)
			return err
		})
		if err != nil {
			return fmt.Errorf("price upcoming orders: %w", err)
		}
	}
	return nil
}
