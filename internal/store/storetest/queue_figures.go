package storetest

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

func testQueueFigures(t *testing.T, open opener) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprintf("sums of a random queue are those of its orders after each step, seed %d", seed), func(t *testing.T) {
			q := beginQueue(t, open)
			r := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // a history that is the same every time
			most := 0
			for step := range 100 {
				err := q.db.Update(t.Context(), q.shop.ID, func(tx *store.Tx) error { return q.act(t.Context(), tx, r, step) })
				if err != nil {
					t.Fatal(err)
				}
				kept := q.check(fmt.Sprintf("step %d", step))
				most = max(most, len(kept))
			}
			if most < 20 {
				t.Errorf("the queue had at most %d sums", most)
			}
			rebuild := analytics.Rebuilder{Store: q.db.AnalyticsRebuild(), Clock: clock.NewManual(day.AddDate(2, 0, 0))}
			if done, err := rebuild.Rebuild(t.Context(), q.shop.ID); err != nil || done.Differs {
				t.Errorf("the rebuild did %+v, %v", done, err)
			}
			q.in(func(tx *store.Tx) error { return tx.ClearFigures(t.Context()) })
			if done, err := rebuild.Rebuild(t.Context(), q.shop.ID); err != nil || !done.Differs {
				t.Errorf("the rebuild of nothing did %+v, %v", done, err)
			}
			q.check("rebuilt")
		})
	}
	t.Run("many transactions at once leave sums that are those of the orders", func(t *testing.T) {
		q := beginQueue(t, open)
		var due []billing.Attempt
		for id := range contract.ID(queueContracts - 1) {
			for cycle := range 10 {
				due = append(due, queued(id+1, 101+cycle, day.Add(time.Duration(cycle)*time.Hour)))
			}
		}
		q.queue(due...)
		var together sync.WaitGroup
		for worker := range uint64(9) {
			together.Go(func() {
				r := rand.New(rand.NewPCG(worker, 3)) //nolint:gosec // as above
				for step := range 20 {
					err := q.db.Update(t.Context(), q.shop.ID, func(tx *store.Tx) error {
						switch worker % 3 {
						case 0:
							return q.claim(t.Context(), tx, r)
						case 1:
							return q.reprice(t.Context(), tx, r)
						}
						return q.act(t.Context(), tx, r, int(worker)*100+step)
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		together.Wait()
		q.check("in the end")
	})
}

// queueWorld is a store whose contracts have orders in the queue.
type queueWorld struct{ world }

const queueContracts = 8

func beginQueue(t *testing.T, open opener) queueWorld {
	t.Helper()
	q := queueWorld{begin(t, open)}
	g := plan.Group{PlatformID: 8001, Line: shop.Subscriptions, State: plan.Synced, Options: []plan.Option{{ID: 1002}}, CreatedAt: day, UpdatedAt: day}
	q.in(func(tx *store.Tx) error { return tx.PutPlanGroup(t.Context(), &g) })
	var list []contract.Contract
	for id := range contract.ID(queueContracts - 1) { // the last one comes later
		list = append(list, monthly(id+1))
	}
	q.put(list...)
	return q
}

// claim moves orders that are due, as workers do, without locking their contracts.
func (q queueWorld) claim(ctx context.Context, tx *store.Tx, r *rand.Rand) error {
	due, err := tx.DueAttempts(ctx, day.AddDate(0, 1, 0), 1+r.IntN(4))
	if err != nil {
		return err
	}
	for i := range due {
		if due[i].DueAt = day.Add(time.Duration(r.IntN(600)) * time.Hour); r.IntN(9) == 0 {
			due[i].Status = billing.Requesting
		}
	}
	return tx.PutAttempts(ctx, due)
}

// reprice changes the price of contracts without looking at their orders.
func (q queueWorld) reprice(ctx context.Context, tx *store.Tx, r *rand.Rand) error {
	list, err := tx.Contracts(ctx, []contract.ID{1, 2, 3, 4, 5, 6, 7})
	for i := range list {
		list[i].Lines = []contract.LineItem{line(1, 500+r.Int64N(1000))}
		list[i].Lines[0].Price.Currency = list[i].Currency
	}
	if err != nil {
		return err
	}
	return tx.PutContracts(ctx, list)
}

// act changes the orders or the price of a contract, or both.
func (q queueWorld) act(ctx context.Context, tx *store.Tx, r *rand.Rand, step int) error {
	id := contract.ID(1 + r.IntN(queueContracts))
	found, err := tx.Contracts(ctx, []contract.ID{id})
	if err != nil {
		return err
	}
	c := monthly(id)
	if len(found) > 0 {
		c = found[0]
	} else if err := tx.PutContracts(ctx, []contract.Contract{c}); err != nil {
		return err
	}
	if found, err = tx.Contracts(ctx, []contract.ID{id}); err != nil {
		return err
	}
	c = found[0]
	there, err := tx.AttemptsOf(ctx, []contract.ID{id})
	if err != nil {
		return err
	}
	last := 1
	for _, a := range there {
		last = max(last, a.Cycle)
	}
	for range 1 + r.IntN(3) {
		at := day.Add(time.Duration(r.IntN(60*24)) * time.Hour).Add(time.Duration(r.IntN(60)) * time.Minute)
		switch n := r.IntN(8); {
		case n < 2 || len(there) == 0: // planned
			last++
			put := []billing.Attempt{queued(id, last, at)}
			if r.IntN(5) == 0 {
				put[0].DueAt = time.Time{}
			}
			if err := tx.PutAttempts(ctx, put); err != nil {
				return err
			}
			there = append(there, put...)
		case n == 2: // removed
			i := r.IntN(len(there))
			if err := tx.DeleteAttempts(ctx, []billing.AttemptID{there[i].ID}); err != nil {
				return err
			}
			there = slices.Delete(there, i, i+1)
		case n < 6: // moved, charged, skipped, taken back
			i := r.IntN(len(there))
			a := &there[i]
			a.Status = []billing.Status{billing.Queued, billing.Queued, billing.Requesting, billing.Skipped, billing.Success}[r.IntN(5)]
			if a.DueAt = at; r.IntN(6) == 0 {
				a.DueAt = time.Time{}
			}
			if a.OrderID, a.Amount = 0, (money.Amount{}); a.Status == billing.Success {
				a.OrderID, a.Amount = int64(step+1), c.Amount()
			}
			if err := tx.PutAttempts(ctx, there[i:i+1]); err != nil {
				return err
			}
		default: // at another price, in another currency, of another plan group, or not running
			c.Lines = []contract.LineItem{line(1+r.Int64N(2), 500+r.Int64N(3)*100)}
			c.Currency = []money.Currency{"EUR", "EUR", "JPY"}[r.IntN(3)]
			for i := range c.Lines {
				c.Lines[i].Price.Currency = c.Currency
			}
			c.DeliveryPrice.Currency, c.Lifetime.Currency, c.LastOrderAmount.Currency = c.Currency, c.Currency, c.Currency
			c.Status = []contract.Status{contract.Active, contract.Paused}[r.IntN(2)]
			put := []contract.Contract{c}
			if err := tx.PutContracts(ctx, put); err != nil {
				return err
			}
			c = put[0]
		}
	}
	return nil
}

// check compares the sums that are kept with the orders and with what the database sums.
func (q queueWorld) check(when string) []analytics.QueueFigures {
	q.Helper()
	kept := q.figures().Queue
	var counted, summed []analytics.QueueFigures
	compare := func(of string, other []analytics.QueueFigures) {
		q.Helper()
		if diff := gocmp.Diff(other, kept); diff != "" && len(other)+len(kept) > 0 {
			q.Fatalf("%s: the sums differ from what %s (-%[2]s +kept):\n%[3]s", when, of, diff)
		}
	}
	q.in(func(tx *store.Tx) (err error) {
		if counted, err = tx.CountQueue(q.Context()); err != nil {
			return err
		}
		var contracts []contract.ID
		var ids []int64
		for id := range contract.ID(queueContracts) {
			contracts, ids = append(contracts, id+1), append(ids, int64(id+1))
		}
		attempts, err := tx.AttemptsOf(q.Context(), contracts)
		if err != nil {
			return err
		}
		list, err := tx.ReadContracts(q.Context(), contracts)
		for _, c := range list {
			for _, a := range attempts {
				if a.Contract == c.ID && a.Status == billing.Queued && a.Expected != c.Lines[0].Price.Minor*int64(c.Lines[0].Quantity)+c.DeliveryPrice.Minor {
					q.Errorf("%s: order %d of contract %d is expected to cost %d, and it has %+v", when, a.ID, c.ID, a.Expected, c.Lines)
				}
			}
		}
		if err != nil {
			return err
		}
		versions, err := tx.ContractVersions(q.Context(), ids)
		summed = sumQueue(attempts, versions)
		return err
	})
	compare("the database sums", counted)
	compare("the orders are", summed)
	return kept
}

// sumQueue sums the orders that are queued and charged automatically.
func sumQueue(attempts []billing.Attempt, versions map[int64]analytics.Version) []analytics.QueueFigures {
	var list []analytics.QueueFigures
	for _, a := range attempts {
		v, has := versions[int64(a.Contract)]
		if !has || a.Status != billing.Queued || a.DueAt.IsZero() {
			continue
		}
		row := analytics.QueueFigures{
			Quarter: analytics.Quarter(a.DueAt.Unix() / 900), Dimension: v.Dimension, Cycle: int64(min(a.Cycle, 13)), Orders: 1, Amount: a.Expected,
		}
		at := slices.IndexFunc(list, func(r analytics.QueueFigures) bool {
			return r.Quarter == row.Quarter && r.Dimension == row.Dimension && r.Cycle == row.Cycle
		})
		if at < 0 {
			list = append(list, row)
			continue
		}
		list[at].Orders++
		list[at].Amount += a.Expected
	}
	slices.SortFunc(list, func(a, b analytics.QueueFigures) int {
		return cmp.Or(cmp.Compare(a.Quarter, b.Quarter), cmp.Compare(a.Currency, b.Currency), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Cycle, b.Cycle))
	})
	return list
}
