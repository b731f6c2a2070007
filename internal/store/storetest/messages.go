package storetest

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

func testMessages(t *testing.T, open opener) {
	letter := func(key string, due time.Time) notify.Message {
		return notify.Message{
			Kind: notify.ManagementLink, To: "ada@shopper.example", FromName: "Café", Content: notify.Content{Subject: "schön", Text: "text\n", HTML: "<p>"},
			Contract: 42, Actor: activity.Actor{Source: activity.CustomerPortal, By: "customer", ClientIP: "192.0.2.1"}, DedupeKey: key,
			Status: notify.Queued, DueAt: due, ExpiresAt: day.Add(time.Hour), CreatedAt: day,
		}
	}
	put := func(w world, of shop.ID, messages ...notify.Message) []notify.Message {
		w.Helper()
		var made []notify.Message
		w.inShop(of, func(tx *store.Tx) error {
			made = fresh(messages)
			return tx.PutMessages(w.Context(), made)
		})
		return made
	}
	due := func(w world, of shop.ID, now time.Time, limit int) []notify.Message {
		w.Helper()
		var list []notify.Message
		w.inShop(of, func(tx *store.Tx) (err error) {
			list, err = tx.DueMessages(w.Context(), now, limit)
			return err
		})
		return list
	}
	t.Run("a message comes back as it was put", func(t *testing.T) {
		w := begin(t, open)
		full := letter("a", day)
		full.Tries, full.LastError, full.SentAt = 2, "away", day.Add(time.Second)
		made := put(w, w.shop.ID, full)[0]
		want := full
		want.ID, want.Version = made.ID, 1
		if got := due(w, w.shop.ID, day, 10); made.ID == 0 || len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Errorf("got %+v\nwant %+v", got, want)
		}
	})
	t.Run("a forgotten text stays forgotten", func(t *testing.T) {
		w := begin(t, open)
		made := put(w, w.shop.ID, letter("a", day))
		made[0].Text, made[0].HTML = "", ""
		put(w, w.shop.ID, made...)
		if got := due(w, w.shop.ID, day, 10); len(got) != 1 || got[0].Text != "" || got[0].Subject != "schön" || got[0].Version != 2 {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("of two messages with one key the second is dropped, in its shop only", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		made := put(w, w.shop.ID, letter("a", day), letter("a", day), letter("b", day))
		if made[0].ID == 0 || made[1].ID != 0 || made[1].Version != 0 || made[2].ID == 0 {
			t.Errorf("made %+v", made)
		}
		if again := put(w, w.shop.ID, letter("b", day)); again[0].ID != 0 {
			t.Errorf("made again: %+v", again)
		}
		if elsewhere := put(w, other.ID, letter("a", day)); elsewhere[0].ID == 0 {
			t.Errorf("dropped in another shop: %+v", elsewhere)
		}
		if n := len(due(w, w.shop.ID, day, 10)); n != 2 {
			t.Errorf("%d messages", n)
		}
	})
	t.Run("what is due comes earliest first, and no more than asked for", func(t *testing.T) {
		w := begin(t, open)
		put(w, w.addShop("second.myshopify.com").ID, letter("x", day.Add(-time.Hour)))
		put(w, w.shop.ID, letter("later", day.Add(time.Minute)), letter("never", time.Time{}), letter("second", day), letter("first", day.Add(-time.Minute)))
		var keys []string
		for _, m := range due(w, w.shop.ID, day, 10) {
			keys = append(keys, m.DedupeKey)
		}
		if !reflect.DeepEqual(keys, []string{"first", "second"}) {
			t.Errorf("due: %v", keys)
		}
		if one := due(w, w.shop.ID, day, 1); len(one) != 1 || one[0].DedupeKey != "first" {
			t.Errorf("one of them: %+v", one)
		}
	})
	t.Run("a message that has changed is not overwritten", func(t *testing.T) {
		w := begin(t, open)
		made := put(w, w.shop.ID, letter("a", day), letter("b", day))
		stale := fresh(made)
		put(w, w.shop.ID, made[0])
		err := w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error { return tx.PutMessages(t.Context(), fresh(stale)) })
		w.wantKind(err, fault.Conflict)
	})
	t.Run("messages are read by number, in their shop only", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		made := put(w, w.shop.ID, letter("a", day), letter("b", day))
		for of, want := range map[shop.ID]int{w.shop.ID: 2, other.ID: 0} {
			w.inShop(of, func(tx *store.Tx) error {
				got, err := tx.Messages(t.Context(), []notify.MessageID{made[1].ID, made[0].ID})
				if len(got) != want || want == 2 && got[0].ID != made[0].ID {
					t.Errorf("shop %d: %+v", of, got)
				}
				return err
			})
		}
	})
	t.Run("many who take what is due take different messages", func(t *testing.T) {
		w := begin(t, open)
		var all []notify.Message
		for n := range 40 {
			all = append(all, letter(strconv.Itoa(n), day))
		}
		put(w, w.shop.ID, all...)
		var mu sync.Mutex
		taken := map[notify.MessageID]int{}
		var together sync.WaitGroup
		for range 8 {
			together.Go(func() {
				var mine []notify.Message
				err := w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error {
					list, err := tx.DueMessages(t.Context(), day, 5)
					if err != nil {
						return err
					}
					for i := range list {
						list[i].DueAt = day.Add(time.Hour)
					}
					mine = list
					return tx.PutMessages(t.Context(), list)
				})
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				for _, m := range mine {
					taken[m.ID]++
				}
			})
		}
		together.Wait()
		if len(taken) != 40 {
			t.Errorf("%d different messages were taken, want 40", len(taken))
		}
	})
	open.twice(t, "shops with due messages are found, the longest waiting first, and the next instant", func(t *testing.T, open opener) {
		w := begin(t, open)
		second, third := w.addShop("second.myshopify.com"), w.addShop("third.myshopify.com")
		put(w, w.shop.ID, letter("a", day))
		put(w, second.ID, letter("a", day.Add(-time.Hour)))
		put(w, third.ID, letter("a", day.Add(time.Hour)))
		got, err := w.across(w.db.Shops().DueMessageShops, day, 10)
		if err != nil || !reflect.DeepEqual(got, []shop.ID{second.ID, w.shop.ID}) {
			t.Errorf("shops %v, %v", got, err)
		}
		if one, err := w.across(w.db.Shops().DueMessageShops, day, 1); err != nil || len(one) != 1 || one[0] != second.ID {
			t.Errorf("one of them: %v, %v", one, err)
		}
		w.wantNext(day, day.Add(-time.Hour))
	})
	t.Run("integrations are shown the messages of their line, newest first and without words", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		theirs := put(w, other.ID, letter("a", day))[0]
		sms := notify.Message{
			Kind: notify.UpcomingOrder, Channel: notify.BySMS, To: "+15550001234", Contract: 42, Attempt: 9, Customer: 5, DedupeKey: "sms", Status: notify.Sent, SentAt: day, CreatedAt: day, Tries: 1,
			LastError: "away", Delivery: notify.Undelivered, DeliveryError: "error 30003",
		}
		failed, member, staff := letter("failed", day), letter("member", day), letter("staff", day)
		failed.Status, failed.DueAt, failed.Contract = notify.Failed, time.Time{}, 0
		member.Contract, staff.Kind = 43, notify.StaffLink
		made := put(w, w.shop.ID, letter("a", day), sms, failed, member, staff)
		list := func(q notify.Query, p page.Request, total int, want ...int) {
			t.Helper()
			messages, n, err := w.db.MessagesWhere(t.Context(), w.shop.ID, q, p)
			var got []int
			for _, m := range messages {
				got = append(got, slices.IndexFunc(made, func(is notify.Message) bool { return is.ID == m.ID }))
				if m.Text != "" || m.HTML != "" || !reflect.DeepEqual(m.Facts, notify.Facts{}) {
					t.Errorf("message %d has its words", m.ID)
				}
			}
			if err != nil || n != total || !slices.Equal(got, want) {
				t.Errorf("%+v: %v of %d, %v; want %v of %d", q, got, n, err, want, total)
			}
		}
		all := page.Request{Size: 10}
		list(notify.Query{Line: shop.Subscriptions}, all, 4, 3, 2, 1, 0) // no line has a contract yet
		w.in(func(tx *store.Tx) error {
			var contracts []contract.Contract
			for id, line := range map[contract.ID]shop.Line{42: shop.Subscriptions, 43: shop.Memberships} {
				contracts = append(contracts, contract.Contract{ID: id, Line: line, Status: contract.Active, Currency: "USD", CreatedAt: day})
			}
			return tx.PutContracts(t.Context(), contracts)
		})
		list(notify.Query{Line: shop.Subscriptions}, all, 3, 2, 1, 0)
		list(notify.Query{Line: shop.Memberships}, all, 2, 3, 2)
		list(notify.Query{Line: shop.Subscriptions}, page.Request{Page: 1, Size: 2}, 3, 0)
		list(notify.Query{Line: shop.Subscriptions, Contract: 42, Kind: notify.UpcomingOrder}, all, 1, 1)
		list(notify.Query{Line: shop.Subscriptions, Status: notify.Failed}, all, 1, 2)
		list(notify.Query{Line: shop.Subscriptions, Status: notify.Queued}, all, 1, 0)
		list(notify.Query{Line: shop.Subscriptions, Contract: 43}, all, 0)

		want := sms
		want.ID, want.DedupeKey = made[1].ID, ""
		if got, err := w.db.Message(t.Context(), w.shop.ID, shop.Subscriptions, want.ID); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v\nwant %+v", got, err, want)
		}
		if listed, err := w.db.MessageList(t.Context(), w.shop.ID, notify.Filter{To: sms.To}, 10); err != nil || len(listed) != 1 || !reflect.DeepEqual(listed[0], want) {
			t.Errorf("people are shown %+v, %v\nwant %+v", listed, err, want)
		}
		for name, id := range map[string]notify.MessageID{"of the other line": made[3].ID, "to a user": made[4].ID, "of another shop": theirs.ID} {
			if got, err := w.db.Message(t.Context(), w.shop.ID, shop.Subscriptions, id); !fault.Is(err, fault.NotFound) {
				t.Errorf("a message %s: %+v, %v", name, got, err)
			}
		}
	})
	t.Run("a message commits with its change", func(t *testing.T) {
		w := begin(t, open)
		aborted := errors.New("aborted")
		err := w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error {
			return errors.Join(notify.Queue(t.Context(), tx, w.shop.ID, letter("a", day)), aborted)
		})
		if !errors.Is(err, aborted) || len(due(w, w.shop.ID, day, 10)) != 0 {
			t.Errorf("%v", err)
		}
	})
}
