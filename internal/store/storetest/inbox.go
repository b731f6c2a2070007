package storetest

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
)

func testInbox(t *testing.T, open opener) {
	event := func(id string) platform.Event {
		return platform.Event{
			ID: id, Topic: platform.AttemptSucceeded, Shop: "first.myshopify.com", TriggeredAt: day.Add(-time.Second), APIVersion: "2026-10", Contract: 5,
			Revision: 1<<64 - 2, Attempt: "gid://shopify/SubscriptionBillingAttempt/5", Key: "key", Cycle: 3, PaymentMethod: "gid://shopify/CustomerPaymentMethod/5", Customer: 6, Kept: 7,
		}
	}
	add := func(w world, of shop.ID, id string, at time.Time) {
		w.Helper()
		if err := w.db.Inbox().Add(w.Context(), of, event(id), at); err != nil {
			w.Fatal(err)
		}
	}
	take := func(w world, now, until time.Time, limit int) []intake.InboxEvent {
		w.Helper()
		var events []intake.InboxEvent
		w.in(func(tx *store.Tx) (err error) {
			events, err = tx.ClaimEvents(w.Context(), now, until, limit)
			return err
		})
		return events
	}
	ids := func(events []intake.InboxEvent) string {
		var list []string
		for _, e := range events {
			list = append(list, e.ID)
		}
		return strings.Join(list, " ")
	}
	open.twice(t, "an event comes back as it was added, and asks for its work", func(t *testing.T, open opener) {
		w := begin(t, open)
		w.wantIdle(true)
		add(w, w.shop.ID, "a", day)
		w.wantIdle(false)
		got := take(w, day, day.Add(time.Minute), 10)
		if want := []intake.InboxEvent{{Event: event("a"), ReceivedAt: day}}; !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
		if pending, err := w.across(w.db.Shops().PendingInboxShops, day.Add(time.Minute), 10); err != nil || !reflect.DeepEqual(pending, []shop.ID{w.shop.ID}) {
			t.Errorf("shops with events that wait: %v, %v", pending, err)
		}
		w.wantNext(day, day.Add(time.Minute))
	})
	t.Run("a signature counts for one family of topics of one shop", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		inbox := w.db.Inbox()
		send := func(of shop.ID, id string, topic platform.Topic, signature string) error {
			return inbox.Add(t.Context(), of, platform.Event{ID: id, Topic: topic, Signature: signature}, day)
		}
		for _, row := range []struct {
			name      string
			of        shop.ID
			topic     platform.Topic
			signature string
			refused   bool
		}{
			{"first", w.shop.ID, platform.ShopUpdated, "one", false},
			{"again", w.shop.ID, platform.ShopUpdated, "one", false},
			{"as an uninstallation", w.shop.ID, platform.Uninstalled, "one", true},
			{"as an erasure of the store", w.shop.ID, platform.ShopRedact, "one", true},
			{"of another store", other.ID, platform.ShopUpdated, "one", true},
			{"another one, of a contract that was made", w.shop.ID, platform.ContractCreated, "two", false},
			{"the same of one that changed", w.shop.ID, platform.ContractUpdated, "two", false},
			{"the same of another store's", other.ID, platform.ContractUpdated, "two", true},
			{"none", w.shop.ID, platform.PaymentRevoked, "", false},
			{"none, of another store", other.ID, platform.Uninstalled, "", false},
		} {
			if err := send(row.of, row.name, row.topic, row.signature); (err != nil) != row.refused || row.refused && !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("%s: %v, refused %t", row.name, err, row.refused)
			}
		}
		if got := ids(take(w, day, day.Add(time.Hour), 20)); strings.Contains(got, "as an") || strings.Contains(got, "another store") || !strings.Contains(got, "again") {
			t.Errorf("stored are %s", got)
		}
	})
	t.Run("an event that is refused takes none along that arrive with it", func(t *testing.T) {
		w := begin(t, open)
		inbox := w.db.Inbox()
		var wait sync.WaitGroup
		refused := make([]error, 20)
		for i := range refused {
			wait.Go(func() {
				topic := platform.ShopUpdated
				if i%2 == 1 {
					topic = platform.ContractUpdated
				}
				refused[i] = inbox.Add(t.Context(), w.shop.ID, platform.Event{ID: fmt.Sprint("event", i), Topic: topic, Signature: "one"}, day)
			})
		}
		wait.Wait()
		stored := len(take(w, day, day.Add(time.Hour), 50))
		for i := 0; i < len(refused); i += 2 { // all of one topic, and none of the other
			if (refused[i] == nil) != (refused[0] == nil) || (refused[i+1] == nil) != (refused[1] == nil) {
				t.Fatalf("of one topic some are refused: %v", refused)
			}
		}
		if (refused[0] == nil) == (refused[1] == nil) || stored != len(refused)/2 {
			t.Errorf("%d are stored: %v", stored, refused)
		}
	})
	t.Run("signatures are forgotten after a while", func(t *testing.T) {
		w := begin(t, open)
		send := func(topic platform.Topic, at time.Time) error {
			return w.db.Inbox().Add(t.Context(), w.shop.ID, platform.Event{ID: "event", Topic: topic, Signature: "one"}, at)
		}
		if err := send(platform.ShopUpdated, day); err != nil {
			t.Fatal(err)
		}
		w.in(func(tx *store.Tx) error { return tx.DeleteSignatures(t.Context(), day) })
		if err := send(platform.Uninstalled, day); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("before: %v", err)
		}
		w.in(func(tx *store.Tx) error { return tx.DeleteSignatures(t.Context(), day.Add(time.Second)) })
		if err := send(platform.Uninstalled, day); err != nil {
			t.Errorf("after: %v", err)
		}
	})
	t.Run("an event is stored once for each shop, worked or not", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		for range 3 {
			add(w, w.shop.ID, "a", day)
		}
		add(w, other.ID, "a", day)
		if got := ids(take(w, day, day.Add(time.Hour), 10)); got != "a" {
			t.Errorf("took %q", got)
		}
		w.in(func(tx *store.Tx) error { return tx.FinishEvents(t.Context(), []string{"a"}, day) })
		add(w, w.shop.ID, "a", day.Add(time.Hour))
		if got := ids(take(w, day.Add(9*time.Hour), day.Add(10*time.Hour), 10)); got != "" {
			t.Errorf("after it was worked, took %q", got)
		}
		if pending, err := w.across(w.db.Shops().PendingInboxShops, day, 10); err != nil || !reflect.DeepEqual(pending, []shop.ID{other.ID}) {
			t.Errorf("shops with events that wait: %v, %v", pending, err)
		}
	})
	t.Run("events are taken oldest first, within the limit, and belong to the taker for a while", func(t *testing.T) {
		w := begin(t, open)
		add(w, w.shop.ID, "b", day.Add(2*time.Second))
		add(w, w.shop.ID, "c", day.Add(time.Second))
		add(w, w.shop.ID, "a", day.Add(3*time.Second))
		now := day.Add(time.Minute)
		for _, want := range []string{"c b", "a", ""} {
			if got := ids(take(w, now, now.Add(time.Minute), 2)); got != want {
				t.Errorf("took %q, want %q", got, want)
			}
		}
		if got := len(take(w, now.Add(time.Minute), now.Add(2*time.Minute), 10)); got != 3 {
			t.Errorf("after the lease, took %d", got)
		}
	})
	t.Run("a failure is counted, and an event that is given up is kept but not taken", func(t *testing.T) {
		w := begin(t, open)
		add(w, w.shop.ID, "a", day)
		add(w, w.shop.ID, "b", day)
		w.in(func(tx *store.Tx) error {
			if err := tx.DeferEvents(t.Context(), []string{"a"}, day.Add(time.Hour), 1, "the platform does not answer"); err != nil {
				return err
			}
			return tx.DeferEvents(t.Context(), []string{"b"}, time.Time{}, 1, "broken\x00")
		})
		if got := take(w, day.Add(time.Hour-time.Millisecond), day.Add(2*time.Hour), 10); len(got) != 0 {
			t.Errorf("too early: %+v", got)
		}
		if got := take(w, day.Add(time.Hour), day.Add(2*time.Hour), 10); len(got) != 1 || got[0].ID != "a" || got[0].Failures != 1 {
			t.Errorf("got %+v", got)
		}
		w.in(func(tx *store.Tx) error { return tx.DeleteEvents(t.Context(), day.AddDate(1, 0, 0)) })
		add(w, w.shop.ID, "b", day)
		if got := take(w, day, day.Add(time.Hour), 10); len(got) != 0 {
			t.Errorf("an event that was given up is worked again: %+v", got)
		}
	})
	t.Run("worked events are forgotten in time", func(t *testing.T) {
		w := begin(t, open)
		add(w, w.shop.ID, "a", day)
		add(w, w.shop.ID, "b", day)
		w.in(func(tx *store.Tx) error {
			if err := tx.FinishEvents(t.Context(), []string{"a"}, day); err != nil {
				return err
			}
			return tx.DeleteEvents(t.Context(), day.Add(time.Millisecond))
		})
		add(w, w.shop.ID, "a", day)
		if got := ids(take(w, day, day.Add(time.Hour), 10)); got != "a b" {
			t.Errorf("took %q", got)
		}
	})
	t.Run("many callers at once are all stored, duplicates once", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		inbox := w.db.Inbox()
		var together sync.WaitGroup
		for n := range 1000 {
			together.Go(func() {
				of := w.shop.ID
				if n%4 == 0 {
					of = other.ID
				}
				if err := inbox.Add(t.Context(), of, event(fmt.Sprint("event-", n/2)), day); err != nil {
					t.Error(err)
				}
			})
		}
		together.Wait()
		if got := len(take(w, day, day.Add(time.Hour), 2000)); got != 500 {
			t.Errorf("%d events, want 500", got)
		}
	})
	t.Run("one that cannot be stored fails alone", func(t *testing.T) {
		w := begin(t, open)
		inbox := w.db.Inbox()
		var together sync.WaitGroup
		failed := make([]error, 20)
		for n := range failed {
			together.Go(func() {
				at := day
				if n == 7 {
					at = time.Time{} // neither due nor worked: see below
				}
				ctx := t.Context()
				if n == 8 {
					ended, cancel := context.WithCancel(ctx)
					cancel()
					ctx = ended
				}
				failed[n] = inbox.Add(ctx, w.shop.ID, event(fmt.Sprint("event-", n)), at)
			})
		}
		together.Wait()
		for n, err := range failed {
			if (err != nil) != (n == 8) {
				t.Errorf("event %d: %v", n, err)
			}
		}
	})
}
