package storetest

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

func testReminders(t *testing.T, open opener) {
	date := day.AddDate(0, 0, 20)
	at := date.Add(-contract.Days(3))
	next := func(id contract.ID, change func(*contract.Contract)) contract.Contract {
		c := monthly(id)
		c.NextBillingDate, c.Customer = date, contract.Customer{ID: 7000 + int64(id), Email: "ana@shopper.example"}
		if change != nil {
			change(&c)
		}
		return c
	}
	put := func(w world, of shop.ID, contracts ...contract.Contract) {
		w.Helper()
		w.inShop(of, func(tx *store.Tx) error { return tx.PutContracts(w.Context(), fresh(contracts)) })
	}
	due := func(w world, now time.Time) (list []notify.Reminder) {
		w.Helper()
		w.in(func(tx *store.Tx) (err error) {
			list, err = tx.DueReminders(w.Context(), now, 10)
			return err
		})
		return list
	}
	ids := func(list []notify.Reminder) (ids []contract.ID) {
		for _, r := range list {
			ids = append(ids, r.Contract)
		}
		return ids
	}
	t.Run("an order is due for a reminder once for each date", func(t *testing.T) {
		w := begin(t, open)
		put(w, w.shop.ID, next(42, nil), next(43, func(c *contract.Contract) { c.Status = contract.Paused }), next(44, func(c *contract.Contract) { c.AutoCharge = false }))
		a := w.queue(billing.Attempt{Contract: 42, Cycle: 7, Status: billing.Queued, BillingDate: date, CreatedAt: day, UpdatedAt: day})[0]
		if list := due(w, at.Add(-time.Millisecond)); len(list) != 0 {
			t.Errorf("too early: %+v", list)
		}
		want := []notify.Reminder{{
			Recipient: notify.Recipient{Contract: 42, Customer: 7042, Email: "ana@shopper.example"}, Attempt: int64(a.ID), Cycle: 7, Date: date, Before: []time.Duration{contract.Days(3)},
		}}
		list := due(w, at)
		if !reflect.DeepEqual(list, want) {
			t.Errorf("due are %+v, want %+v", list, want)
		}
		w.in(func(tx *store.Tx) error { return tx.MarkReminded(t.Context(), list) })
		if again := due(w, date); len(again) != 0 {
			t.Errorf("due again: %+v", again)
		}
		w.in(func(tx *store.Tx) error {
			c, err := tx.Contracts(t.Context(), []contract.ID{42})
			if err != nil {
				return err
			}
			c[0].NextBillingDate = date.AddDate(0, 1, 0)
			return tx.PutContracts(t.Context(), c)
		})
		w.in(func(tx *store.Tx) error { return tx.MarkReminded(t.Context(), list) }) // of the old date
		if again := ids(due(w, date.AddDate(0, 1, -3))); !slices.Equal(again, []contract.ID{42}) {
			t.Errorf("for the next date due are %d", again)
		}
	})
	t.Run("a card is due for a reminder when an order comes after its end", func(t *testing.T) {
		w := begin(t, open)
		ends := time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC)
		card := func(month int) func(*contract.Contract) {
			return func(c *contract.Contract) {
				c.Card, c.PaymentUsable, c.PaymentMethod = contract.Card{Brand: "visa", ExpiryMonth: month, ExpiryYear: 2025}, true, "pm"
				c.NextBillingDate = ends
			}
		}
		w.put(next(42, card(2)), next(43, card(3)), next(44, nil)) // which does their reminders
		put(w, w.shop.ID, next(45, card(2)))
		list := due(w, ends.Add(-contract.Days(30)))
		if len(list) != 1 || list[0].Contract != 45 || !list[0].Card || !list[0].Date.Equal(ends) || len(list[0].Before) != 2 {
			t.Fatalf("due are %+v", list)
		}
		w.in(func(tx *store.Tx) error { return tx.MarkReminded(t.Context(), list) })
		if again := slices.DeleteFunc(due(w, ends), func(r notify.Reminder) bool { return !r.Card }); len(again) != 0 {
			t.Errorf("due again: %+v", again)
		}
	})
	open.twice(t, "only shops that are charged have reminders", func(t *testing.T, open opener) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		put(w, w.shop.ID, next(42, nil))
		put(w, other.ID, next(42, func(c *contract.Contract) { c.NextBillingDate = date.AddDate(0, 0, 1) }))
		shops := func(now time.Time, want ...shop.ID) {
			t.Helper()
			got, err := w.across(w.db.Shops().ReminderShops, now, 10)
			slices.Sort(want)
			if slices.Sort(got); err != nil || !slices.Equal(got, want) {
				t.Errorf("at %s shops %d, %v; want %d", now, got, err, want)
			}
		}
		shops(at.Add(-time.Millisecond))
		shops(at, w.shop.ID)
		w.wantNext(day, at)
		shops(at.AddDate(0, 0, 1), w.shop.ID, other.ID)
		w.in(func(tx *store.Tx) error {
			of, err := tx.Shop(t.Context())
			if err != nil {
				return err
			}
			of.Guard.FrozenAt = day
			return tx.PutShop(t.Context(), of)
		})
		shops(at.AddDate(0, 0, 1), other.ID)
		w.wantNext(day, at.AddDate(0, 0, 1))
		w.remind(other.ID)
		shops(at.AddDate(0, 0, 1))
		w.wantNext(day, time.Time{})
	})
	t.Run("who is behind a contract or an order is found in its shop", func(t *testing.T) {
		w := begin(t, open)
		w.put(next(42, func(c *contract.Contract) { c.Origin = contract.Split }))
		put(w, w.addShop("second.myshopify.com").ID, next(43, nil))
		a := w.queue(billing.Attempt{Contract: 42, Cycle: 7, Status: billing.Queued, BillingDate: date, CreatedAt: day, UpdatedAt: day})[0]
		w.in(func(tx *store.Tx) error {
			got, err := tx.MailRecipients(t.Context(), []activity.Entry{
				{EntityType: activity.EntitySubscriptionContractDetails, EntityID: 42}, {EntityType: activity.EntitySubscriptionContractDetails, EntityID: 43},
				{EntityType: activity.EntitySubscriptionBillingAttempt, EntityID: int64(a.ID)}, {EntityType: activity.EntityShopInfo, EntityID: 42},
			})
			is := notify.Recipient{Contract: 42, Customer: 7042, Email: "ana@shopper.example", Origin: contract.Split, CreatedAt: monthly(42).CreatedAt}
			want := map[notify.Subject]notify.Recipient{
				{Type: activity.EntitySubscriptionContractDetails, ID: 42}: is, {Type: activity.EntitySubscriptionBillingAttempt, ID: int64(a.ID)}: is,
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
			return err
		})
	})
	t.Run("a person's messages are counted and found in their shop", func(t *testing.T) {
		w := begin(t, open)
		const ana = "ana@shopper.example"
		message := func(key, to string, status notify.Status, due, sent time.Time) notify.Message {
			return notify.Message{Kind: notify.Paused, To: to, Contract: 42, DedupeKey: key, Status: status, DueAt: due, SentAt: sent, CreatedAt: day, Facts: notify.Facts{Date: date}}
		}
		var other shop.ID
		for i, of := range []shop.ID{w.shop.ID, w.addShop("second.myshopify.com").ID} {
			other = of
			w.inShop(of, func(tx *store.Tx) error {
				return tx.PutMessages(t.Context(), fresh([]notify.Message{
					message("late", ana, notify.Queued, day.Add(time.Hour), time.Time{}), message("soon", ana, notify.Queued, day, time.Time{}), message("going", ana, notify.Sending, day, time.Time{}),
					message("bob's", "bob@shopper.example", notify.Queued, day, time.Time{}),
					message("one", ana, notify.Sent, time.Time{}, day), message("with it", ana, notify.Sent, time.Time{}, day), message("before", ana, notify.Sent, time.Time{}, day.Add(-time.Hour)),
				}[i:]))
			})
		}
		w.in(func(tx *store.Tx) error {
			list, err := tx.WaitingMessages(t.Context(), []string{ana})
			if err != nil {
				return err
			}
			if len(list) != 2 || list[0].DedupeKey != "soon" || list[1].DedupeKey != "late" || !list[0].Facts.Date.Equal(date) {
				t.Errorf("waiting are %+v", list)
			}
			for since, want := range map[time.Time]int{day.Add(-2 * time.Hour): 2, day: 1, day.Add(time.Millisecond): 0} {
				if got, err := tx.LettersSince(t.Context(), []string{ana, "eve@shopper.example"}, since); err != nil || got[ana] != want || len(got) > 1 {
					t.Errorf("since %s letters %v, %v; want %d", since, got, err, want)
				}
			}
			return nil
		})
		w.inShop(other, func(tx *store.Tx) error {
			list, err := tx.WaitingMessages(t.Context(), []string{ana})
			if len(list) != 1 {
				t.Errorf("in the other shop waiting are %+v", list)
			}
			return err
		})
	})
}
