package storetest

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/store"
)

// full is an attempt in which nothing is zero.
func full(c contract.ID, cycle int) billing.Attempt {
	at := func(hours int) time.Time { return day.Add(time.Duration(hours) * time.Hour) }
	return billing.Attempt{
		Contract: c, Cycle: cycle, Status: billing.Progress, BillingDate: at(1), Moved: true, DueAt: at(2), PublishAt: at(3), PublishLeaseUntil: at(10),
		Try: 2, Key: "key-" + string(rune('a'+cycle)), FirstSentAt: at(4), SentAt: at(5), Failures: 1, Polls: 3, Manual: true, AttemptedAt: at(6),
		PlatformID: "gid://shopify/SubscriptionBillingAttempt/1", ErrorCode: "CARD", ErrorMessage: "declined 🙁 'quoted' \\ \"double\" ? $1", ActionURL: "https://example.com/?a=1",
		OrderID: 1<<53 - 1, OrderName: "#2002", Amount: money.Amount{Minor: -12345, Currency: "JPY"}, Lines: []contract.LineItem{line(1, 500), line(2, 700)},
		Note: strings.Repeat("note 🌱 ", 600), Flags: contract.Flags{RetryingNeeded: true, UpgradeDowngradeBilling: true},
		Prep: billing.Preparation{
			Stage: billing.OrderPlanned, Edited: true, Edits: 1, Failures: 2, NoteLeft: true, Since: at(9),
			Plan: &billing.Plan{Base: "a", Wanted: "b", Shift: -3, Changes: []billing.Change{{Rule: 7, Name: "rule", Once: true}}},
		},
		Dunning: fullCase(), CreatedAt: at(7), UpdatedAt: at(8),
	}
}

func testAttempts(t *testing.T, open opener) {
	t.Run("an attempt comes back as it was put, full or bare", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1))
		for _, a := range []billing.Attempt{full(1, 3), {Contract: 1, Cycle: 4, Status: billing.Skipped}} {
			put := w.queue(a)[0]
			if put.ID == 0 || put.Version != 1 {
				t.Errorf("inserted as %d, version %d", put.ID, put.Version)
			}
			if got := w.attempt(put.ID); !reflect.DeepEqual(got, put) {
				t.Errorf("got  %+v\nwant %+v", got, put)
			}
			put.Note, put.DueAt, put.Lines = "changed", time.Time{}, nil
			changed := w.queue(put)[0]
			if got := w.attempt(put.ID); !reflect.DeepEqual(got, changed) || got.Version != 2 {
				t.Errorf("after a change: got %+v\nwant %+v", got, changed)
			}
		}
	})
	t.Run("what no database takes in a text is taken out of it", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1))
		a := queued(1, 2, day)
		a.Note, a.Key = "a\x00b\xffc", "k\x00"
		if got := w.attempt(w.queue(a)[0].ID); got.Note != "ab\uFFFDc" || got.Key != "k" {
			t.Errorf("got %q and %q", got.Note, got.Key)
		}
	})
	t.Run("an attempt that changed meanwhile is not overwritten, nor the others of its slice", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1))
		stale := w.queue(queued(1, 2, day), queued(1, 3, day))
		w.queue(stale[1])
		stale[0].Note, stale[1].Note = "lost", "lost"
		err := w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error { return tx.PutAttempts(t.Context(), fresh(stale)) })
		w.wantKind(err, fault.Conflict)
		for _, a := range stale {
			if got := w.attempt(a.ID); got.Note != "" {
				t.Errorf("attempt %d was written", a.ID)
			}
		}
	})
	t.Run("a cycle has one attempt", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1), monthly(2))
		w.queue(queued(1, 2, day), queued(2, 2, day))
		err := w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error {
			return tx.PutAttempts(t.Context(), []billing.Attempt{queued(1, 2, day.Add(time.Hour))})
		})
		w.wantKind(err, fault.Conflict)
	})
	t.Run("attempts are read by contract, status and key", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1), monthly(2), monthly(3))
		skipped := queued(2, 9, day)
		skipped.Status, skipped.Key = billing.Skipped, "second"
		first := queued(1, 2, day)
		first.Key = "first"
		w.queue(queued(2, 3, day), skipped, queued(3, 1, day), queued(1, 3, day), first)
		w.in(func(tx *store.Tx) error {
			all, err := tx.AttemptsOf(t.Context(), []contract.ID{2, 1, 77})
			if got := cycles(all); !reflect.DeepEqual(got, [][2]int{{1, 2}, {1, 3}, {2, 3}, {2, 9}}) {
				t.Errorf("of two contracts: %v", got)
			}
			if err != nil {
				return err
			}
			some, err := tx.AttemptsOf(t.Context(), []contract.ID{1, 2}, billing.Queued, billing.Progress)
			if got := cycles(some); !reflect.DeepEqual(got, [][2]int{{1, 2}, {1, 3}, {2, 3}}) {
				t.Errorf("of two contracts, open ones: %v", got)
			}
			if err != nil {
				return err
			}
			keyed, err := tx.AttemptsByKey(t.Context(), []string{"second", "first", "none", ""})
			if len(keyed) != 2 {
				t.Errorf("by key: %v", cycles(keyed))
			}
			return err
		})
	})
	t.Run("open attempts are in flight or due", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1), monthly(2))
		unknown, done := queued(1, 1, day.Add(time.Hour)), queued(1, 2, day)
		unknown.Status, done.Status = billing.PlatformException, billing.Success
		w.queue(unknown, done, queued(1, 3, day), queued(1, 4, day.Add(time.Millisecond)), queued(2, 1, day))
		w.in(func(tx *store.Tx) error {
			found, err := tx.OpenAttempts(t.Context(), []contract.ID{1, 77}, day)
			if got := cycles(found); !reflect.DeepEqual(got, [][2]int{{1, 1}, {1, 3}}) {
				t.Errorf("open: %v", got)
			}
			return err
		})
	})
	t.Run("empty lists ask nothing", func(t *testing.T) {
		w := begin(t, open)
		w.in(func(tx *store.Tx) error {
			for _, ask := range []func() error{
				func() error { _, err := tx.Attempts(t.Context(), nil); return err },
				func() error { _, err := tx.AttemptsByKey(t.Context(), nil); return err },
				func() error { _, err := tx.AttemptsOf(t.Context(), nil); return err },
				func() error { _, err := tx.Queues(t.Context(), nil); return err },
				func() error { _, err := tx.Contracts(t.Context(), nil); return err },
				func() error { return tx.PutAttempts(t.Context(), nil) },
				func() error { return tx.PutContracts(t.Context(), nil) },
				func() error { return tx.PutProgress(t.Context(), nil) },
				func() error { return tx.DeleteAttempts(t.Context(), nil) },
				func() error { return tx.Record(t.Context()) },
				func() error { return tx.Enqueue(t.Context()) },
				func() error { return tx.FinishEvents(t.Context(), nil, day) },
			} {
				if err := ask(); err != nil {
					return err
				}
			}
			return nil
		})
	})
	t.Run("attempts can be removed", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1))
		put := w.queue(queued(1, 2, day), queued(1, 3, day))
		w.in(func(tx *store.Tx) error { return tx.DeleteAttempts(t.Context(), []billing.AttemptID{put[0].ID, 4711}) })
		w.in(func(tx *store.Tx) error {
			left, err := tx.AttemptsOf(t.Context(), []contract.ID{1})
			if got := cycles(left); !reflect.DeepEqual(got, [][2]int{{1, 3}}) {
				t.Errorf("left: %v", got)
			}
			return err
		})
	})
	t.Run("a queue is what waits, and reaches to the last cycle of any attempt", func(t *testing.T) {
		w := begin(t, open)
		ending := func(id contract.ID) contract.Contract {
			c := monthly(id)
			c.MaxCycles = 3
			return c
		}
		unpaid := ending(8)
		unpaid.Dunning = &contract.Dunning{Cycle: 3, State: dunning.Held}
		w.put(monthly(1), monthly(2), monthly(3), ending(4), ending(5), ending(6), ending(7), unpaid)
		stands := func(c contract.ID, cycle int, as billing.Status) billing.Attempt {
			a := queued(c, cycle, day)
			a.Status = as
			return a
		}
		givenUp := func(c contract.ID, cycle int) billing.Attempt {
			a := stands(c, cycle, billing.Failure)
			a.DueAt = time.Time{}
			return a
		}
		w.queue(stands(4, 2, billing.Progress), stands(5, 3, billing.Failure), givenUp(6, 2), stands(6, 3, billing.Success), givenUp(7, 3), givenUp(8, 3))
		done := queued(1, 7, day.Add(-time.Hour))
		done.Status = billing.Success
		only := queued(2, 4, day)
		only.Status = billing.Skipped
		w.queue(done, queued(1, 5, day.Add(2*time.Hour)), queued(1, 6, day.Add(time.Hour)), only)
		w.in(func(tx *store.Tx) error {
			got, err := tx.Queues(t.Context(), []contract.ID{1, 2, 3, 4, 5, 6, 7, 8})
			want := map[contract.ID]billing.Queue{1: {Waiting: 2, LastCycle: 7, Next: day.Add(time.Hour), Latest: day.Add(2 * time.Hour)}, 2: {LastCycle: 4}, 3: {}, 4: {LastCycle: 2, Open: true}, 5: {LastCycle: 3, Open: true, Unpaid: true}, 6: {LastCycle: 3}, 7: {LastCycle: 3, Unpaid: true}, 8: {LastCycle: 3, Open: true, Unpaid: true}}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			return err
		})
	})
	t.Run("immediate charges are counted from an instant on, contract by contract", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1), monthly(2))
		w.in(func(tx *store.Tx) error {
			for _, at := range []time.Time{day.Add(-time.Millisecond), day, day.Add(time.Minute)} {
				if err := tx.AddTrigger(t.Context(), 1, at); err != nil {
					return err
				}
			}
			return nil
		})
		w.in(func(tx *store.Tx) error {
			one, err := tx.CountTriggers(t.Context(), 1, day)
			if err != nil {
				return err
			}
			two, err := tx.CountTriggers(t.Context(), 2, day)
			if one != 2 || two != 0 {
				t.Errorf("got %d and %d, want 2 and 0", one, two)
			}
			return err
		})
	})
}

func cycles(attempts []billing.Attempt) [][2]int {
	var list [][2]int
	for _, a := range attempts {
		list = append(list, [2]int{int(a.Contract), a.Cycle})
	}
	return list
}
