package storetest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/store"
)

// viewTimeout is how long a read or a write may take that has nothing to wait for.
const viewTimeout = time.Minute

func testViews(t *testing.T, open opener) {
	t.Run("a view sees one snapshot, and a write beside it does not wait for it", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1))
		w.queue(queued(1, 2, day))
		ctx, cancel := context.WithTimeout(t.Context(), viewTimeout)
		defer cancel()
		var before, during []billing.Attempt
		err := w.db.View(ctx, w.shop.ID, func(tx *store.Tx) (err error) {
			if before, err = tx.AttemptsOf(ctx, []contract.ID{1}); err != nil {
				return err
			}
			err = w.db.Update(ctx, w.shop.ID, func(tx *store.Tx) error {
				return tx.PutAttempts(ctx, []billing.Attempt{queued(1, 3, day)})
			})
			if err != nil {
				return err
			}
			during, err = tx.AttemptsOf(ctx, []contract.ID{1})
			return err
		})
		if err != nil || len(before) != 1 || len(during) != 1 {
			t.Errorf("before the write %v, after it %v, %v; want cycle 2 both times", cycles(before), cycles(during), err)
		}
		if after := w.viewAttempts(1); len(after) != 2 {
			t.Errorf("a view after the write: %v, want cycles 2 and 3", cycles(after))
		}
	})
	t.Run("a view does not wait for a transaction that has written what it reads", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1))
		ctx, cancel := context.WithTimeout(t.Context(), viewTimeout)
		defer cancel()
		var found []contract.Contract
		w.in(func(tx *store.Tx) error {
			rows, err := tx.Contracts(ctx, []contract.ID{1})
			if err != nil {
				return err
			}
			s, err := tx.Shop(ctx)
			if err != nil {
				return err
			}
			rows[0].Note = "written and not committed"
			if err := errors.Join(tx.PutContracts(ctx, rows), tx.PutShop(ctx, s)); err != nil {
				return err
			}
			return w.db.View(ctx, w.shop.ID, func(tx *store.Tx) (err error) {
				if found, err = tx.Contracts(ctx, []contract.ID{1}); err != nil { // locked in an Update
					return err
				}
				if _, err = tx.Shop(ctx); err != nil {
					return err
				}
				if _, err = tx.ShopToCharge(ctx); err != nil {
					return err
				}
				_, err = tx.ProgramActive(ctx)
				return err
			})
		})
		if len(found) != 1 || found[0].Note != "" {
			t.Errorf("the view found %+v, want the contract without a note", found)
		}
	})
	t.Run("a write in a view fails and changes nothing", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1))
		mine := w.queue(queued(1, 2, day))[0]
		ctx := t.Context()
		for _, test := range []struct {
			name  string
			write func(*store.Tx) error
		}{
			{"an insert of many rows", func(tx *store.Tx) error { return tx.PutAttempts(ctx, []billing.Attempt{queued(1, 3, day)}) }},
			{"an update of many rows", func(tx *store.Tx) error { return tx.PutAttempts(ctx, []billing.Attempt{mine}) }},
			{"an update of one row", func(tx *store.Tx) error { return tx.PutShop(ctx, w.shop) }},
			{"a deletion", func(tx *store.Tx) error { return tx.DeleteAttempts(ctx, []billing.AttemptID{mine.ID}) }},
			{"an activity entry", func(tx *store.Tx) error { return tx.Record(ctx, entry(1, activity.BillingAttemptTriggered, day)) }},
			{"a task", func(tx *store.Tx) error { return tx.Enqueue(ctx, billing.Task{Shop: w.shop.ID}) }},
			{"a member event", func(tx *store.Tx) error { return tx.PublishMemberEvents(ctx, loyalty.Event{}) }},
		} {
			for place, db := range map[string]*store.DB{"": w.db, " without row ids at hand": w.db.Fork(nil)} {
				err := db.View(ctx, w.shop.ID, test.write)
				if !fault.Is(err, fault.Internal) || !strings.Contains(err.Error(), "a read-only transaction cannot write") {
					t.Errorf("%s%s: %v, want the error that a read-only transaction cannot write", test.name, place, err)
				}
			}
		}
		if left := w.viewAttempts(1); len(left) != 1 || left[0].Version != mine.Version {
			t.Errorf("attempts: %+v, want only %+v", left, mine)
		}
		if list := w.entries(w.shop.ID); len(list) != 0 {
			t.Errorf("entries: %+v", list)
		}
		w.wantIdle(true)
		w.queue(queued(1, 3, day)) // the connections can be used again
	})
	t.Run("a view shows one shop", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		w.put(monthly(1))
		mine := w.queue(queued(1, 2, day))[0]
		err := w.db.View(t.Context(), other.ID, func(tx *store.Tx) error {
			s, err := tx.Shop(t.Context())
			if err != nil || s.ID != other.ID {
				t.Errorf("the view's shop is %d, %v; want %d", s.ID, err, other.ID)
			}
			rows, err := tx.Attempts(t.Context(), []billing.AttemptID{mine.ID})
			if len(rows) != 0 {
				t.Errorf("another shop reads %v", cycles(rows))
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		w.wantKind(w.db.View(t.Context(), 0, func(*store.Tx) error { return nil }), fault.Internal)
	})
	t.Run("a view that fails or is called off gives its connection back", func(t *testing.T) {
		w := begin(t, open)
		cause := errors.New("enough")
		for range 30 { // more than there are connections
			if err := w.db.View(t.Context(), w.shop.ID, func(*store.Tx) error { return cause }); !errors.Is(err, cause) {
				t.Fatalf("got %v", err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			err := w.db.View(ctx, w.shop.ID, func(tx *store.Tx) error {
				cancel()
				_, err := tx.Shop(ctx)
				return err
			})
			if err == nil {
				t.Fatal("no error after the context ended")
			}
		}
		w.viewAttempts(1)
	})
}

// viewAttempts returns a contract's attempts as a view sees them.
func (w world) viewAttempts(of contract.ID) (list []billing.Attempt) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), viewTimeout)
	defer cancel()
	err := w.db.View(ctx, w.shop.ID, func(tx *store.Tx) (err error) {
		list, err = tx.AttemptsOf(ctx, []contract.ID{of})
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return list
}
