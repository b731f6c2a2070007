package storetest

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

func testLocking(t *testing.T, open opener) {
	t.Run("of many changes of one row at the same time none is lost", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1))
		id := w.queue(queued(1, 2, day))[0].ID
		const many, each = 16, 4
		var together sync.WaitGroup
		for range many {
			together.Go(func() {
				for range each {
					err := w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error {
						rows, err := tx.Attempts(t.Context(), []billing.AttemptID{id})
						if err != nil {
							return err
						}
						contracts, err := tx.Contracts(t.Context(), []contract.ID{1})
						if err != nil {
							return err
						}
						rows[0].Polls++
						contracts[0].Orders++
						if err := tx.PutAttempts(t.Context(), rows); err != nil {
							return err
						}
						return tx.PutProgress(t.Context(), contracts)
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		together.Wait()
		if a, c := w.attempt(id), w.contract(1); a.Polls != many*each || c.Orders != many*each {
			t.Errorf("after %d changes: %d and %d", many*each, a.Polls, c.Orders)
		}
	})
	t.Run("of a contract one at a time tells the platform", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1), monthly(2))
		list := w.queue(queued(1, 2, day), queued(1, 3, day), queued(2, 2, day))
		claim := func(at time.Time, some ...billing.Attempt) (got []billing.Attempt) {
			for i, a := range some {
				some[i] = w.attempt(a.ID)
			}
			w.in(func(tx *store.Tx) (err error) {
				got, err = tx.LeasePublishing(t.Context(), some, at, at.Add(time.Hour))
				return err
			})
			return got
		}
		got := claim(day, list[0])
		if len(got) != 1 || !reflect.DeepEqual(w.attempt(list[0].ID), got[0]) || !got[0].PublishLeaseUntil.Equal(day.Add(time.Hour)) {
			t.Errorf("claimed %+v, and stored %+v", got, w.attempt(list[0].ID))
		}
		if got := claim(day.Add(time.Minute), list...); !reflect.DeepEqual(cycles(got), [][2]int{{2, 2}}) {
			t.Errorf("another one claimed %v, want that of contract 2", cycles(got))
		}
		if got := claim(day.Add(2*time.Hour), list...); len(got) != 3 {
			t.Errorf("after the claims %v were claimed, want all", cycles(got))
		}
	})
	t.Run("two that take what is due take different attempts", func(t *testing.T) {
		w := begin(t, open)
		var attempts []billing.Attempt
		for c := contract.ID(1); c <= 40; c++ {
			w.put(monthly(c))
			attempts = append(attempts, queued(c, 2, day))
		}
		w.queue(attempts...)
		var mu sync.Mutex
		taken := make(map[billing.AttemptID]int)
		var together sync.WaitGroup
		for range 8 {
			together.Go(func() {
				var mine []billing.Attempt
				err := w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error {
					due, err := tx.DueAttempts(t.Context(), day, 5)
					if err != nil {
						return err
					}
					for i := range due {
						due[i].DueAt = day.Add(time.Hour)
					}
					mine = due
					return tx.PutAttempts(t.Context(), due)
				})
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				for _, a := range mine {
					taken[a.ID]++
				}
			})
		}
		together.Wait()
		if len(taken) != 40 {
			t.Errorf("%d different attempts were taken, want 40", len(taken))
		}
	})
	t.Run("what another transaction holds is passed over, or waited for", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1))
		w.queue(queued(1, 2, day), queued(1, 3, day.Add(time.Minute)))
		held, release := make(chan struct{}), make(chan struct{})
		var first []billing.Attempt
		done := make(chan error)
		go func() {
			done <- w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) (err error) {
				first, err = tx.DueAttempts(t.Context(), day.Add(time.Hour), 1)
				close(held)
				<-release
				return err
			})
		}()
		<-held
		patience := 300 * time.Millisecond // where there is one writer, the second waits for the first
		if w.writesBeside() {
			patience = 20 * time.Second
		}
		second := make(chan []billing.Attempt, 1)
		go func() {
			var rows []billing.Attempt
			err := w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) (err error) {
				rows, err = tx.DueAttempts(t.Context(), day.Add(time.Hour), 1)
				return err
			})
			if err != nil {
				t.Error(err)
			}
			second <- rows
		}()
		var rows []billing.Attempt
		select {
		case rows = <-second:
			if len(rows) != 1 || rows[0].Cycle != 3 {
				t.Errorf("while the first was held: %v", cycles(rows))
			}
			close(release)
		case <-time.After(patience):
			if patience > time.Second {
				t.Error("what another transaction holds was waited for")
			}
			close(release)
			rows = <-second
		}
		if err := <-done; err != nil || len(first) != 1 || first[0].Cycle != 2 || len(rows) != 1 {
			t.Errorf("first took %v, second %v, %v", cycles(first), cycles(rows), err)
		}
	})
}

// writesBeside reports whether a transaction can run while another one does.
func (w world) writesBeside() bool {
	ctx, cancel := context.WithTimeout(w.Context(), 300*time.Millisecond)
	defer cancel()
	return w.db.Update(ctx, w.shop.ID, func(tx *store.Tx) error { _, err := tx.Shop(ctx); return err }) == nil
}

func testTransactions(t *testing.T, open opener) {
	t.Run("what fails leaves nothing: no change, no entry, no task", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1))
		cause := errors.New("enough")
		err := w.db.Billing().Update(t.Context(), w.shop.ID, func(tx billing.Tx) error {
			if err := tx.PutAttempts(t.Context(), []billing.Attempt{queued(1, 2, day)}); err != nil {
				return err
			}
			if err := tx.Record(t.Context(), entry(1, activity.BillingAttemptTriggered, day)); err != nil {
				return err
			}
			if err := tx.Enqueue(t.Context(), billing.Task{Shop: w.shop.ID}); err != nil {
				return err
			}
			return cause
		})
		if !errors.Is(err, cause) {
			t.Errorf("got %v", err)
		}
		w.wantIdle(true)
		if list := w.entries(w.shop.ID); len(list) != 0 {
			t.Errorf("entries: %+v", list)
		}
		w.in(func(tx *store.Tx) error {
			left, err := tx.AttemptsOf(t.Context(), []contract.ID{1})
			if len(left) != 0 {
				t.Errorf("attempts: %v", cycles(left))
			}
			return err
		})
	})
	t.Run("what succeeds leaves all: the change, the entry, the task", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1))
		w.in(func(tx *store.Tx) error {
			if err := tx.PutAttempts(t.Context(), []billing.Attempt{queued(1, 2, day)}); err != nil {
				return err
			}
			if err := tx.Record(t.Context(), entry(1, activity.BillingAttemptTriggered, day)); err != nil {
				return err
			}
			return tx.Enqueue(t.Context(), billing.Task{Shop: w.shop.ID}, billing.Task{Shop: w.shop.ID})
		})
		w.wantIdle(false)
		if list := w.entries(w.shop.ID); len(list) != 1 {
			t.Errorf("entries: %+v", list)
		}
	})
	t.Run("more rows than numbers are at hand are written all the same", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1))
		runs := 0
		w.in(func(tx *store.Tx) error {
			runs++
			var attempts []billing.Attempt
			for cycle := range 2500 {
				attempts = append(attempts, queued(1, cycle+1, day))
			}
			return tx.PutAttempts(t.Context(), attempts)
		})
		seen := make(map[billing.AttemptID]bool)
		w.in(func(tx *store.Tx) error {
			all, err := tx.AttemptsOf(t.Context(), []contract.ID{1})
			for _, a := range all {
				seen[a.ID] = true
			}
			return err
		})
		if len(seen) != 2500 || runs > 2 {
			t.Errorf("%d numbers after %d runs", len(seen), runs)
		}
	})
	t.Run("a transaction that names no shop is refused, and one that is called off ends", func(t *testing.T) {
		w := begin(t, open)
		w.wantKind(w.db.Update(t.Context(), 0, func(*store.Tx) error { return nil }), fault.Internal)
		ctx, cancel := context.WithCancel(t.Context())
		err := w.db.Update(ctx, w.shop.ID, func(tx *store.Tx) error {
			cancel()
			_, err := tx.Shop(ctx)
			return err
		})
		if err == nil {
			t.Error("no error after the context ended")
		}
		w.in(func(tx *store.Tx) error { _, err := tx.Shop(t.Context()); return err })
	})
}

func testTenancy(t *testing.T, open opener) {
	t.Run("the same ids in two shops are two things, and neither shop sees the other's", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		w.put(monthly(1))
		mine := w.queue(queued(1, 2, day))[0]
		theirs := monthly(1)
		theirs.Note, theirs.Customer.Name = "theirs", "Grace Hopper"
		w.inShop(other.ID, func(tx *store.Tx) error {
			list := []contract.Contract{theirs, monthly(2)}
			return tx.PutContracts(t.Context(), list)
		})
		w.inShop(other.ID, func(tx *store.Tx) error {
			if rows, err := tx.Attempts(t.Context(), []billing.AttemptID{mine.ID}); err != nil || len(rows) != 0 {
				t.Errorf("another shop reads the attempt: %v, %v", rows, err)
			}
			if rows, err := tx.AttemptsOf(t.Context(), []contract.ID{1}); err != nil || len(rows) != 0 {
				t.Errorf("another shop reads the contract's attempts: %v, %v", rows, err)
			}
			if rows, err := tx.DueAttempts(t.Context(), day, 10); err != nil || len(rows) != 0 {
				t.Errorf("another shop takes the attempt: %v, %v", rows, err)
			}
			queues, err := tx.Queues(t.Context(), []contract.ID{1})
			if err != nil || queues[1].LastCycle != 0 {
				t.Errorf("another shop sees the queue: %v, %v", queues, err)
			}
			return tx.DeleteAttempts(t.Context(), []billing.AttemptID{mine.ID})
		})
		err := w.db.Update(t.Context(), other.ID, func(tx *store.Tx) error { return tx.PutAttempts(t.Context(), []billing.Attempt{mine}) })
		w.wantKind(err, fault.Conflict)
		if got := w.attempt(mine.ID); !reflect.DeepEqual(got, mine) {
			t.Errorf("another shop changed the attempt: %+v", got)
		}
		if got := w.contract(1); got.Note != "" || got.Customer.Name != "Ada Lovelace" {
			t.Errorf("another shop changed the contract: %+v", got)
		}
		_, err = w.db.Attempt(t.Context(), other.ID, shop.Subscriptions, mine.ID)
		w.wantKind(err, fault.NotFound)
		found, n, err := w.db.Search(t.Context(), w.shop.ID, contract.Filter{Line: shop.Subscriptions}, anyPage)
		if err != nil || n != 1 || len(found) != 1 {
			t.Errorf("search found %d, %v", n, err)
		}
		for _, part := range []string{"grace", "gr"} {
			_, n, err = w.db.Search(t.Context(), w.shop.ID, contract.Filter{Line: shop.Subscriptions, CustomerPart: part}, anyPage)
			if err != nil || n != 0 {
				t.Errorf("search for another shop's customer found %d, %v", n, err)
			}
		}
	})
	t.Run("a shop is written by its own transaction only", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		err := w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error { return tx.PutShop(t.Context(), other) })
		w.wantKind(err, fault.Internal)
	})
}
