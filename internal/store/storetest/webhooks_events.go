package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/store"
)

// eventWorld is a store whose events are read.
type eventWorld struct{ world }

func beginEvents(t *testing.T, open opener) eventWorld {
	t.Helper()
	w := eventWorld{begin(t, open)}
	w.in(func(tx *store.Tx) error {
		return tx.PutFeed(t.Context(), webhook.Feed{Generation: 1, Ready: true, CloseAt: day.Add(time.Hour)})
	})
	return w
}

// message is a message about a contract. Its id says which one it is.
func (w eventWorld) message(about contract.ID, n int) webhook.Addressed {
	return webhook.Addressed{
		Message: webhook.Message{
			ID: webhook.MessageID(fmt.Sprintf("msg_%d-%d", about, n)), Shop: w.shop.ID, Type: "subscription.paused", Contract: about, At: day, Cause: webhook.Cause{Source: activity.MerchantPortal, By: "ada@staff.example"},
		},
		To: []webhook.EndpointID{webhook.ToEvents},
	}
}

func (w eventWorld) add(list ...webhook.Addressed) {
	w.Helper()
	w.in(func(tx *store.Tx) error { return tx.AddMessages(w.Context(), list...) })
}

func (w eventWorld) write(ids ...webhook.MessageID) {
	w.Helper()
	w.in(func(tx *store.Tx) error {
		for _, id := range ids {
			if err := tx.SetBody(w.Context(), id, []byte(`{"data":1}`)); err != nil {
				return err
			}
		}
		return nil
	})
}

// place gives positions after one, and returns how many it gave.
func (w eventWorld) place(after int64, limit int) (n int) {
	w.Helper()
	w.in(func(tx *store.Tx) (err error) { n, err = tx.PlaceMessages(w.Context(), after, limit); return err })
	return n
}

// read returns the events after a position as "position id sequence".
func (w eventWorld) read(after, upTo int64, types ...webhook.Type) (list []string) {
	w.Helper()
	err := w.db.Webhooks().View(w.Context(), w.shop.ID, func(tx webhook.FeedReader) error {
		found, err := tx.EventsAfter(w.Context(), after, upTo, types, 100)
		for _, m := range found {
			list = append(list, fmt.Sprintf("%d %s %d", m.Position, m.ID, m.Sequence))
		}
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return list
}

func (w eventWorld) wantEvents(want ...string) {
	w.Helper()
	if got := w.read(0, 1000); !slices.Equal(got, want) {
		w.Errorf("events %q, want %q", got, want)
	}
}

func testEvents(t *testing.T, open opener) {
	t.Run("messages about one contract or customer are numbered, also across transactions, and no number is left out", func(t *testing.T) {
		w := beginEvents(t, open)
		w.add(w.message(7, 1), w.message(8, 1), w.message(7, 2))
		failed := errors.New("not committed")
		err := w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error {
			return errors.Join(tx.AddMessages(t.Context(), w.message(7, 9)), failed)
		})
		if !errors.Is(err, failed) {
			t.Fatal(err)
		}
		member := w.message(0, 1)
		member.Customer = 7
		none := w.message(0, 2)
		w.add(w.message(7, 3), member, none)
		second := w
		second.shop = w.addShop("second.myshopify.com")
		second.inShop(second.shop.ID, func(tx *store.Tx) error { return tx.AddMessages(t.Context(), second.message(7, 1)) })
		for id, want := range map[webhook.MessageID]int64{"msg_7-1": 1, "msg_7-2": 2, "msg_7-3": 3, "msg_8-1": 1, "msg_0-1": 1, "msg_0-2": 0} {
			m, err := w.db.Webhooks().Message(t.Context(), w.shop.ID, id)
			if err != nil || m.Sequence != want || m.Cause != (webhook.Cause{Source: activity.MerchantPortal, By: "ada@staff.example"}) {
				t.Errorf("%s has number %d and cause %v, %v; want %d", id, m.Sequence, m.Cause, err, want)
			}
		}
		if m, err := w.db.Webhooks().Message(t.Context(), second.shop.ID, "msg_7-1"); err != nil || m.Sequence != 1 {
			t.Errorf("in another shop the number is %d, %v", m.Sequence, err)
		}
	})
	t.Run("entries and member events become events while they are read, and are the shop's own", func(t *testing.T) {
		w := beginEvents(t, open)
		w.put(monthly(42))
		other := w.addShop("second.myshopify.com")
		at := func(at time.Time) (list []webhook.EndpointID) {
			w.in(func(tx *store.Tx) error {
				to, err := tx.Recipients(t.Context(), at)
				for _, e := range to {
					list = append(list, e.ID)
				}
				return err
			})
			return list
		}
		if got := at(day.Add(time.Hour)); len(got) != 0 {
			t.Errorf("when the events have ended they go to %v", got)
		}
		if got := at(day); !slices.Equal(got, []webhook.EndpointID{webhook.ToEvents}) {
			t.Errorf("while they are read they go to %v", got)
		}
		clerk := activity.Actor{Source: activity.MerchantExternalAPI, By: "API key Warehouse", ClientIP: "203.0.113.7"}
		w.in(func(tx *store.Tx) error {
			return errors.Join(
				tx.Record(t.Context(), activity.Entry{EntityID: 42, EntityType: activity.EntitySubscriptionContractDetails, Event: activity.ContractPaused, Status: activity.Success, Actor: clerk, At: day}),
				tx.PublishMemberEvents(t.Context(), loyalty.Event{Kind: loyalty.SignedUp, Customer: 42, Record: 1, At: day, Actor: activity.System}),
			)
		})
		list, err := w.db.Webhooks().MessagesWithoutBody(t.Context(), w.shop.ID, day, 10)
		if err != nil || len(list) != 2 {
			t.Fatalf("without a body: %+v, %v", list, err)
		}
		for _, m := range list {
			if m.Type == webhook.SignUp && m.Cause != (webhook.Cause{Source: activity.SystemEvent}) || m.Type != webhook.SignUp && m.Cause != (webhook.Cause{Source: clerk.Source, By: clerk.By}) {
				t.Errorf("%s was caused by %+v", m.Type, m.Cause)
			}
			w.write(m.ID)
		}
		if n := w.place(0, 10); n != 2 {
			t.Errorf("%d events", n)
		}
		if got := w.read(0, 10, webhook.SignUp); len(got) != 1 {
			t.Errorf("of one type: %q", got)
		}
		err = w.db.Webhooks().View(t.Context(), other.ID, func(tx webhook.FeedReader) error {
			list, err := tx.EventsAfter(t.Context(), 0, 10, nil, 10)
			id, failed := tx.EventAt(t.Context(), 1)
			f, unread := tx.Feed(t.Context())
			if len(list) != 0 || id != "" || f != (webhook.Feed{}) {
				t.Errorf("another shop reads %+v, %s, %+v", list, id, f)
			}
			return errors.Join(err, failed, unread)
		})
		if err != nil {
			t.Error(err)
		}
	})
	t.Run("positions follow the transactions, without a hole, and a message waits for those before it about the same", func(t *testing.T) {
		w := beginEvents(t, open)
		w.add(w.message(7, 1), w.message(8, 1))
		w.add(w.message(7, 2))
		w.add(w.message(9, 1))
		w.write("msg_7-2", "msg_8-1", "msg_9-1")
		if n := w.place(0, 10); n != 0 {
			t.Errorf("%d are given a position before the first one, which has no body yet", n)
		}
		w.in(func(tx *store.Tx) error { return tx.PostponePlacing(t.Context(), "msg_7-1", day.Add(time.Minute)) }) // it cannot be rendered now
		if n := w.place(0, 1); n != 1 {
			t.Errorf("%d are given a position, want 1", n)
		}
		w.wantEvents("1 msg_8-1 1")
		if n := w.place(1, 10); n != 1 {
			t.Errorf("%d are given a position, want 1", n)
		}
		w.wantEvents("1 msg_8-1 1", "2 msg_9-1 1")
		w.write("msg_7-1")
		if n := w.place(2, 10); n != 2 {
			t.Errorf("%d are given a position, want 2", n)
		}
		want := []string{"1 msg_8-1 1", "2 msg_9-1 1", "3 msg_7-1 1", "4 msg_7-2 2"}
		w.wantEvents(want...)
		if n := w.place(4, 10); n != 0 {
			t.Errorf("%d are given another position", n)
		}
		if got := w.read(1, 3); !slices.Equal(got, want[1:3]) {
			t.Errorf("after 1 and up to 3: %q", got)
		}
	})
	t.Run("a message that waits is looked for at its time", func(t *testing.T) {
		w := beginEvents(t, open)
		due := func(at time.Time) int {
			shops, err := w.across(w.db.Shops().DueEventShops, at, 10)
			if err != nil {
				t.Fatal(err)
			}
			return len(shops)
		}
		w.add(w.message(7, 1), w.message(7, 2))
		w.in(func(tx *store.Tx) error { return tx.PostponePlacing(t.Context(), "msg_7-1", day.Add(time.Minute)) })
		w.write("msg_7-2")
		if due(day) != 1 {
			t.Error("the second one is not looked for")
		}
		w.in(func(tx *store.Tx) error { return tx.PostponePlacing(t.Context(), "", day.Add(time.Minute)) })
		if due(day) != 0 || due(day.Add(time.Minute)) != 1 {
			t.Error("what waits for another one is looked for before that one")
		}
		if list, err := w.db.Webhooks().MessagesWithoutBody(t.Context(), w.shop.ID, day, 10); err != nil || len(list) != 0 {
			t.Errorf("without a body, and due: %+v, %v", list, err)
		}
		w.in(func(tx *store.Tx) error { return tx.PlaceWithoutBody(t.Context(), "msg_7-1") })
		if n := w.place(0, 10); n != 2 || due(day.Add(time.Hour)) != 0 {
			t.Errorf("%d are given a position", n)
		}
		if m, err := w.db.Webhooks().Message(t.Context(), w.shop.ID, "msg_7-1"); err != nil || len(m.Body) != 0 || m.Position != 1 {
			t.Errorf("without a body: %+v, %v", m, err)
		}
	})
	t.Run("events go from the first on when they expire, and those that are owed to endpoints when these end", func(t *testing.T) {
		w := beginEvents(t, open)
		e := webhook.Endpoint{Shop: w.shop.ID, URL: "https://erp.example.com", Secret: "whsec_new", Enabled: true, Created: day, Updated: day}
		w.in(func(tx *store.Tx) error { return tx.PutEndpoint(t.Context(), &e) })
		for i, after := range []time.Duration{0, time.Hour, 0, time.Hour} { // the third one waited for its body
			m := w.message(contract.ID(7+i), 1)
			m.At = day.Add(after)
			if i == 3 {
				m.To = append(m.To, e.ID)
			}
			w.add(m)
			w.write(m.ID)
		}
		w.place(0, 10)
		forget := func(at time.Time, floor int64, all bool, limit int) (last int64) {
			w.Helper()
			w.in(func(tx *store.Tx) (err error) {
				last, err = tx.ForgetEvents(t.Context(), at, floor, all, limit)
				return err
			})
			return last
		}
		expired := day.Add(webhook.Retention)
		if last := forget(expired.Add(-1), 0, false, 10); last != 0 {
			t.Errorf("before they expire they are removed up to %d", last)
		}
		if last := forget(expired, 0, false, 10); last != 1 {
			t.Errorf("removed up to %d, want 1", last)
		}
		w.wantEvents("2 msg_8-1 1", "3 msg_9-1 1", "4 msg_10-1 1")
		if last := forget(expired, 2, false, 10); last != 3 {
			t.Errorf("removed up to %d, want 3: what a reader may not read, and what expired", last)
		}
		if last := forget(expired, 3, true, 10); last != 4 {
			t.Errorf("removed up to %d, want all", last)
		}
		w.wantEvents()
		if _, err := w.db.Webhooks().Message(t.Context(), w.shop.ID, "msg_10-1"); err != nil {
			t.Errorf("what is owed to an endpoint is gone too: %v", err)
		}
		if last := forget(expired, 4, true, 10); last != 4 {
			t.Errorf("of none they are removed up to %d", last)
		}
	})
	t.Run("events that wait are no longer events when these end", func(t *testing.T) {
		w := beginEvents(t, open)
		e := webhook.Endpoint{Shop: w.shop.ID, URL: "https://erp.example.com", Secret: "whsec_new", Enabled: true, Created: day, Updated: day}
		w.in(func(tx *store.Tx) error { return tx.PutEndpoint(t.Context(), &e) })
		owed := w.message(7, 1)
		owed.To = append(owed.To, e.ID)
		w.add(owed, w.message(8, 1))
		w.write("msg_7-1")
		if shops, err := w.across(w.db.Shops().EndedFeedShops, day.Add(time.Hour), 10); err != nil || !slices.Equal(shops, []shop.ID{w.shop.ID}) {
			t.Errorf("ended in %v, %v", shops, err)
		}
		w.in(func(tx *store.Tx) error { return tx.ForgetUnplaced(t.Context()) })
		if n := w.place(0, 10); n != 0 {
			t.Errorf("%d are given a position", n)
		}
		if list := must(w.db.Webhooks().DueEndpoints(t.Context(), w.shop.ID, day)); !slices.Equal(list, []webhook.EndpointID{e.ID}) {
			t.Errorf("owed to %v", list)
		}
		if _, err := w.db.Webhooks().Message(t.Context(), w.shop.ID, "msg_8-1"); err == nil {
			t.Error("a message without a recipient is kept")
		}
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
