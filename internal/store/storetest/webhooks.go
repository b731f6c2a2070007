package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/store"
)

func testWebhooks(t *testing.T, open opener) {
	listener := func(w world, of shop.ID, enabled bool, types ...webhook.Type) webhook.Endpoint {
		w.Helper()
		var e webhook.Endpoint
		w.inShop(of, func(tx *store.Tx) error {
			e = webhook.Endpoint{Shop: of, URL: "https://erp.example.com", Types: types, Secret: "whsec_new", OldSecret: "whsec_old", OldSecretUntil: day, Enabled: enabled, Reason: "why", FailingSince: day, Created: day, Updated: day}
			return tx.PutEndpoint(w.Context(), &e)
		})
		return e
	}
	owe := func(w world, at time.Time, about contract.ID, to ...webhook.EndpointID) webhook.MessageID {
		w.Helper()
		m := webhook.Message{ID: webhook.NewMessageID(w.shop.ID, int64(about), webhook.Test, at), Shop: w.shop.ID, Type: webhook.Test, Contract: about, At: at, Body: []byte("{}")}
		w.in(func(tx *store.Tx) error { return tx.AddMessages(w.Context(), webhook.Addressed{Message: m, To: to}) })
		return m.ID
	}
	all := func(w world, of shop.ID, q webhook.DeliveryFilter) []webhook.Delivery {
		w.Helper()
		list, total, err := w.db.Webhooks().Deliveries(w.Context(), of, q, page.Request{Size: 100})
		if err != nil || total != len(list) {
			w.Fatalf("%d deliveries, %v", total, err)
		}
		return list
	}
	paused := func(id int64) activity.Entry {
		return activity.Entry{EntityID: id, EntityType: activity.EntitySubscriptionContractDetails, Event: activity.ContractPaused, Status: activity.Success, Actor: activity.System, At: day}
	}
	t.Run("an endpoint comes back as it was put, in its shop only", func(t *testing.T) {
		w := begin(t, open)
		e := listener(w, w.shop.ID, true, webhook.ImmediateSuccess, webhook.ImmediateFailure)
		got, err := w.db.Webhooks().Endpoints(t.Context(), w.shop.ID)
		if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], e) {
			t.Errorf("got %+v, %v\nwant %+v", got, err, e)
		}
		other := w.addShop("second.myshopify.com")
		if got, err := w.db.Webhooks().Endpoints(t.Context(), other.ID); err != nil || len(got) != 0 {
			t.Errorf("another shop has %+v, %v", got, err)
		}
		err = w.db.Update(t.Context(), other.ID, func(tx *store.Tx) error { _, err := tx.Endpoint(t.Context(), e.ID); return err })
		w.wantKind(err, fault.NotFound)
		stale := e
		w.in(func(tx *store.Tx) error { e.URL = "https://other.example.com"; return tx.PutEndpoint(t.Context(), &e) })
		err = w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error { return tx.PutEndpoint(t.Context(), &stale) })
		w.wantKind(err, fault.Conflict)
	})
	t.Run("an entry adds its webhook messages for the subscribed endpoints in its transaction", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(42))
		e := listener(w, w.shop.ID, true, "subscription.paused")
		listener(w, w.shop.ID, false, "subscription.paused")
		listener(w, w.shop.ID, true, "membership.paused", "subscription.activated")
		listener(w, w.addShop("second.myshopify.com").ID, true, "subscription.paused")
		failed := errors.New("something else")
		err := w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error {
			if err := tx.Record(t.Context(), paused(42)); err != nil {
				return err
			}
			return failed
		})
		if !errors.Is(err, failed) || len(all(w, w.shop.ID, webhook.DeliveryFilter{})) != 0 {
			t.Fatalf("a change that was not made owes %+v, %v", all(w, w.shop.ID, webhook.DeliveryFilter{}), err)
		}
		w.in(func(tx *store.Tx) error { return tx.Record(t.Context(), paused(42), paused(42), paused(43)) })
		got := all(w, w.shop.ID, webhook.DeliveryFilter{})
		if len(got) != 1 || got[0].Endpoint != e.ID || got[0].Type != "subscription.paused" || got[0].Contract != 42 || got[0].Status != webhook.Pending || !got[0].Due.Equal(day) {
			t.Fatalf("owed %+v", got)
		}
		if shops, err := w.across(w.db.Shops().DueWebhookShops, day, 10); err != nil || len(shops) != 1 || shops[0] != w.shop.ID {
			t.Errorf("due in %v, %v", shops, err)
		}
		w.in(func(tx *store.Tx) error { return tx.Record(t.Context(), paused(42)) })
		if again := all(w, w.shop.ID, webhook.DeliveryFilter{}); len(again) != 2 || again[0].Message == again[1].Message {
			t.Errorf("owed %+v", again)
		}
	})
	t.Run("what happens to members is owed to those that listen, with the points that move", func(t *testing.T) {
		c := beginClub(t, open, func(terms *loyalty.Terms) { terms.Approval = true })
		e := listener(c.world, c.shop.ID, true, webhook.SignUp, webhook.Earned, webhook.CreditsEarned, webhook.Redeemed)
		listener(c.world, c.shop.ID, false, webhook.SignUp)
		listener(c.world, c.addShop("second.myshopify.com").ID, true, webhook.SignUp)
		c.put(monthly(1))
		const ada = 901
		published := func(want ...webhook.Type) []webhook.Delivery {
			t.Helper()
			list := all(c.world, c.shop.ID, webhook.DeliveryFilter{Endpoint: e.ID})
			slices.Reverse(list)
			var got []webhook.Type
			for _, d := range list {
				got = append(got, d.Type)
				if d.Customer != ada || d.Contract != 0 || !d.Due.Equal(c.clock.Now()) {
					t.Errorf("owed %+v", d)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("messages %v, want %v", got, want)
			}
			return list
		}
		c.work()
		list := published(webhook.SignUp, webhook.Earned) // pending
		m, err := c.db.Webhooks().Message(t.Context(), c.shop.ID, list[1].Message)
		if err != nil || m.Customer != ada || m.Record == 0 || len(m.Body) != 0 {
			t.Fatalf("message %+v, %v", m, err)
		}
		entry, err := c.db.LoyaltyEntry(t.Context(), c.shop.ID, loyalty.EntryID(m.Record))
		if err != nil || entry.Kind != loyalty.Pend || entry.Pending != 20*loyalty.One {
			t.Errorf("its subject is %+v, %v", entry, err)
		}
		if _, err := c.db.LoyaltyEntry(t.Context(), c.shop.ID+1, entry.ID); !fault.Is(err, fault.NotFound) {
			t.Errorf("another shop finds %v", err)
		}
		if _, err := c.Approve(t.Context(), c.shop.ID, loyalty.ApproveCommand{Who: loyalty.CustomerRef{Customer: ada}}); err != nil {
			t.Fatal(err)
		}
		published(webhook.SignUp, webhook.Earned) // the release was published before
		if _, err := c.AddCredit(t.Context(), c.shop.ID, loyalty.CreditCommand{Who: loyalty.CustomerRef{Customer: ada}, Amount: 700, Note: "why", Actor: clerk}); err != nil {
			t.Fatal(err)
		}
		list = published(webhook.SignUp, webhook.Earned, webhook.CreditsEarned)
		if m, err = c.db.Webhooks().Message(t.Context(), c.shop.ID, list[2].Message); err != nil {
			t.Fatal(err)
		}
		credit, err := c.db.LoyaltyCredit(t.Context(), c.shop.ID, loyalty.CreditID(m.Record))
		if err != nil || credit.Amount != (money.Amount{Minor: 700, Currency: "EUR"}) || credit.Note != "why" || credit.Actor != clerk.By || credit.Source.Type != loyalty.Manual {
			t.Errorf("its subject is %+v, %v", credit, err)
		}
		c.add(ada, 500*loyalty.One)
		redeem := func() error {
			_, err := c.Redeem(t.Context(), c.shop.ID, loyalty.RedeemCommand{Who: loyalty.CustomerRef{Customer: ada}, Rule: 1})
			return err
		}
		c.codes.fails = errors.New("no answer")
		if err := redeem(); err != nil {
			t.Fatal(err)
		}
		published(webhook.SignUp, webhook.Earned, webhook.CreditsEarned, webhook.Earned) // there is no code yet
		c.codes.fails = nil
		c.clock.Set(c.clock.Now().Add(time.Hour))
		c.work()
		if list := all(c.world, c.shop.ID, webhook.DeliveryFilter{Endpoint: e.ID}); len(list) != 5 || list[0].Type != webhook.Redeemed {
			t.Errorf("when there is one: %+v", list)
		}
	})
	t.Run("an event of a member that is not written is not published", func(t *testing.T) {
		c := beginClub(t, open, nil)
		listener(c.world, c.shop.ID, true, webhook.SignUp, webhook.CreditsEarned)
		c.put(monthly(1))
		_, err := c.AddCredit(t.Context(), c.shop.ID, loyalty.CreditCommand{Who: loyalty.CustomerRef{Customer: 901}, Amount: 1 << 60})
		c.wantKind(err, fault.FailedPrecondition)
		if list := all(c.world, c.shop.ID, webhook.DeliveryFilter{}); len(list) != 0 {
			t.Errorf("owed %+v", list)
		}
	})
	t.Run("a body is kept once", func(t *testing.T) {
		w := begin(t, open)
		e := listener(w, w.shop.ID, true)
		m := webhook.Message{ID: webhook.NewMessageID(w.shop.ID, 1, webhook.Test, day), Shop: w.shop.ID, Type: webhook.Test, At: day}
		id := m.ID
		w.in(func(tx *store.Tx) error {
			return tx.AddMessages(t.Context(), webhook.Addressed{Message: m, To: []webhook.EndpointID{e.ID}})
		})
		due := func(want int) {
			t.Helper()
			ids, err := w.db.Webhooks().DueEndpoints(t.Context(), w.shop.ID, day)
			if err != nil || len(ids) != want {
				t.Errorf("due endpoints %v, %v, want %d", ids, err, want)
			}
			w.in(func(tx *store.Tx) error {
				list, err := tx.DueDeliveries(t.Context(), e.ID, day, 10)
				if len(list) != want {
					t.Errorf("due %+v, want %d", list, want)
				}
				return err
			})
		}
		due(0)
		if list, err := w.db.Webhooks().MessagesWithoutBody(t.Context(), w.shop.ID, day, 10); err != nil || len(list) != 1 || list[0].ID != id {
			t.Errorf("unwritten %+v, %v", list, err)
		}
		if list, err := w.db.Webhooks().MessagesWithoutBody(t.Context(), w.shop.ID, day.Add(-time.Minute), 10); err != nil || len(list) != 0 {
			t.Errorf("before it is due: %+v, %v", list, err)
		}
		for _, text := range []string{`{"first":1}`, `{"second":2}`} {
			w.in(func(tx *store.Tx) error { return tx.SetBody(t.Context(), id, []byte(text)) })
		}
		due(1)
		if m, err := w.db.Webhooks().Message(t.Context(), w.shop.ID, id); err != nil || string(m.Body) != `{"first":1}` {
			t.Errorf("kept %q, %v", m.Body, err)
		}
		if list, err := w.db.Webhooks().MessagesWithoutBody(t.Context(), w.shop.ID, day, 10); err != nil || len(list) != 0 {
			t.Errorf("unwritten %+v, %v", list, err)
		}
		_, err := w.db.Webhooks().Message(t.Context(), w.addShop("second.myshopify.com").ID, id)
		w.wantKind(err, fault.NotFound)
	})
	t.Run("deliveries about one contract follow each other", func(t *testing.T) {
		w := begin(t, open)
		e, other := listener(w, w.shop.ID, true), listener(w, w.shop.ID, true)
		owe(w, day, 42, e.ID)
		owe(w, day.Add(time.Second), 42, e.ID, other.ID)
		owe(w, day.Add(2*time.Second), 43, e.ID)
		w.in(func(tx *store.Tx) error {
			due, err := tx.DueDeliveries(t.Context(), e.ID, day.Add(time.Hour), 10)
			if err != nil || len(due) != 3 {
				return fmt.Errorf("due %+v, %w", due, err)
			}
			before, err := tx.PrecedingDue(t.Context(), due)
			if err != nil || len(before) != 1 || !before[due[1].ID].Equal(day) {
				t.Errorf("before deliveries: %v, %v", before, err)
			}
			first, second := due[0], due[1]
			second.Due = day.Add(2 * time.Hour)
			first.Status, first.Due = webhook.Delivered, time.Time{}
			if err := tx.PutDeliveries(t.Context(), first, second); err != nil {
				return err
			}
			if err := tx.ReleaseNext(t.Context(), []webhook.Delivery{first}, day.Add(time.Hour)); err != nil {
				return err
			}
			is, err := tx.Delivery(t.Context(), second.ID)
			if !is.Due.Equal(day.Add(time.Hour)) {
				t.Errorf("what follows is due at %s", is.Due)
			}
			return errors.Join(err, func() error {
				if err := tx.PutDeliveries(t.Context(), second); !fault.Is(err, fault.Conflict) {
					t.Errorf("over a newer version: %v", err)
				}
				return nil
			}())
		})
		if ids, err := w.db.Webhooks().DueEndpoints(t.Context(), w.shop.ID, day.Add(time.Minute)); err != nil || !slices.Equal(ids, []webhook.EndpointID{e.ID, other.ID}) {
			t.Errorf("owed to %v, %v", ids, err)
		}
		if list := all(w, w.shop.ID, webhook.DeliveryFilter{Endpoint: e.ID, Status: webhook.Delivered}); len(list) != 1 {
			t.Errorf("delivered: %+v", list)
		}
	})
	t.Run("deliveries about one customer follow each other", func(t *testing.T) {
		w := begin(t, open)
		e := listener(w, w.shop.ID, true)
		owe(w, day.Add(-time.Second), 901, e.ID) // a contract with the same number
		for i, customer := range []int64{901, 902, 901} {
			at := day.Add(time.Duration(i) * time.Second)
			m := webhook.Message{ID: webhook.NewMessageID(w.shop.ID, customer, webhook.Test, at), Shop: w.shop.ID, Type: webhook.Test, Customer: customer, At: at, Body: []byte("{}")}
			w.in(func(tx *store.Tx) error {
				return tx.AddMessages(t.Context(), webhook.Addressed{Message: m, To: []webhook.EndpointID{e.ID}})
			})
		}
		w.in(func(tx *store.Tx) error {
			due, err := tx.DueDeliveries(t.Context(), e.ID, day.Add(time.Hour), 10)
			if err != nil || len(due) != 4 {
				return fmt.Errorf("due %+v, %w", due, err)
			}
			before, err := tx.PrecedingDue(t.Context(), due)
			if len(before) != 1 || !before[due[3].ID].Equal(day) {
				t.Errorf("before deliveries: %v", before)
			}
			return err
		})
	})
	t.Run("deliveries, their lists and totals are the shop's own only", func(t *testing.T) {
		w := begin(t, open)
		second := w
		second.shop = w.addShop("second.myshopify.com")
		owner := map[webhook.DeliveryID]shop.ID{}
		for _, of := range []world{w, second} {
			e := listener(of, of.shop.ID, true)
			for i := range 3 {
				owe(of, day.Add(time.Duration(i)*time.Second), contract.ID(42+i), e.ID)
			}
			of.inShop(of.shop.ID, func(tx *store.Tx) error {
				due, err := tx.DueDeliveries(t.Context(), e.ID, day, 1)
				if err != nil || len(due) != 1 {
					return fmt.Errorf("due %+v, %w", due, err)
				}
				due[0].Status, due[0].Due = webhook.Delivered, time.Time{}
				return tx.PutDeliveries(t.Context(), due...)
			})
			for _, d := range all(of, of.shop.ID, webhook.DeliveryFilter{Endpoint: e.ID}) {
				owner[d.ID] = of.shop.ID
			}
		}
		if len(owner) != 6 {
			t.Fatalf("%d deliveries of two shops, want 6", len(owner))
		}
		for id, of := range owner {
			for _, by := range []shop.ID{w.shop.ID, second.shop.ID} {
				err := w.db.Update(t.Context(), by, func(tx *store.Tx) error { _, err := tx.Delivery(t.Context(), id); return err })
				if by == of && err != nil || by != of && !fault.Is(err, fault.NotFound) {
					t.Errorf("shop %d reads delivery %d of shop %d: %v", by, id, of, err)
				}
			}
		}
		for _, of := range []shop.ID{w.shop.ID, second.shop.ID} {
			for _, q := range []struct {
				webhook.DeliveryFilter
				want int
			}{{webhook.DeliveryFilter{}, 3}, {webhook.DeliveryFilter{Status: webhook.Pending}, 2}, {webhook.DeliveryFilter{Status: webhook.Delivered}, 1}} {
				// A page that is full has its total counted; one that is not knows it.
				for _, size := range []int{1, 100} {
					list, total, err := w.db.Webhooks().Deliveries(t.Context(), of, q.DeliveryFilter, page.Request{Size: size})
					if err != nil || total != q.want || len(list) != min(size, q.want) {
						t.Errorf("shop %d, status %q, pages of %d: %d deliveries of %d, %v; want %d", of, q.Status, size, len(list), total, err, q.want)
					}
					for _, d := range list {
						if owner[d.ID] != of || d.Shop != of {
							t.Errorf("shop %d, status %q: delivery %d is of shop %d", of, q.Status, d.ID, owner[d.ID])
						}
					}
				}
			}
		}
	})
	t.Run("what waits is given up or put off together", func(t *testing.T) {
		w := begin(t, open)
		e, other := listener(w, w.shop.ID, true), listener(w, w.shop.ID, true)
		id := owe(w, day, 42, e.ID, other.ID)
		owe(w, day, 43, e.ID, other.ID)
		w.in(func(tx *store.Tx) error { return tx.PostponeDeliveries(t.Context(), id, day.Add(time.Hour), "later") })
		if n := len(slices.DeleteFunc(all(w, w.shop.ID, webhook.DeliveryFilter{}), func(d webhook.Delivery) bool { return d.Error != "later" || !d.Due.Equal(day.Add(time.Hour)) })); n != 2 {
			t.Errorf("%d are put off", n)
		}
		w.in(func(tx *store.Tx) error { return tx.FailDeliveries(t.Context(), e.ID, "", "gone") })
		if list := all(w, w.shop.ID, webhook.DeliveryFilter{Status: webhook.Failed}); len(list) != 2 || list[0].Endpoint != e.ID || list[0].Error != "gone" || !list[0].Due.IsZero() {
			t.Errorf("given up: %+v", list)
		}
		w.in(func(tx *store.Tx) error { return tx.FailDeliveries(t.Context(), 0, id, "unknown") })
		if list := all(w, w.shop.ID, webhook.DeliveryFilter{Status: webhook.Failed}); len(list) != 3 {
			t.Errorf("given up: %+v", list)
		}
		w.in(func(tx *store.Tx) error { return tx.DeleteEndpoint(t.Context(), other.ID) })
		if list := all(w, w.shop.ID, webhook.DeliveryFilter{}); len(list) != 2 {
			t.Errorf("left: %+v", list)
		}
	})
	t.Run("deliveries are restarted from the oldest on, and those that are being sent are left alone", func(t *testing.T) {
		w := begin(t, open)
		e, other := listener(w, w.shop.ID, true), listener(w, w.shop.ID, true)
		for i := range 5 {
			owe(w, day.Add(time.Duration(i/2)*time.Second), contract.ID(42+i), e.ID, other.ID)
		}
		now := day.Add(time.Minute)
		set := func(status webhook.Status, due time.Time, to webhook.EndpointID) {
			w.in(func(tx *store.Tx) error {
				list, err := tx.DueDeliveries(t.Context(), to, now, 10)
				for i := range list {
					list[i].Status, list[i].Due, list[i].Tries = status, due, 3
				}
				return errors.Join(err, tx.PutDeliveries(t.Context(), list...))
			})
		}
		set(webhook.Delivered, time.Time{}, e.ID)
		set(webhook.Sending, now.Add(time.Minute), other.ID)
		restart := func(to webhook.EndpointID, r webhook.Resend, limit int) (left webhook.Resend) {
			w.in(func(tx *store.Tx) (err error) {
				left, err = tx.RestartDeliveries(t.Context(), to, r, now, limit)
				return err
			})
			return left
		}
		pending := func(to webhook.EndpointID, want int) {
			t.Helper()
			list := all(w, w.shop.ID, webhook.DeliveryFilter{Endpoint: to, Status: webhook.Pending})
			for _, d := range list {
				if d.Tries != 0 || !d.Due.Equal(now) || d.Version != 3 {
					t.Errorf("restarted %+v", d)
				}
			}
			if len(list) != want {
				t.Errorf("%d wait, want %d", len(list), want)
			}
		}
		r := webhook.Resend{After: page.Cursor{At: day}, Until: day.Add(2 * time.Second)}
		left := restart(e.ID, r, 3)
		pending(e.ID, 3)
		if left = restart(e.ID, left, 3); left != (webhook.Resend{}) {
			t.Errorf("left %+v", left)
		}
		pending(e.ID, 5)
		pending(other.ID, 0)
		restart(other.ID, r, 10)
		pending(other.ID, 0)
		w.in(func(tx *store.Tx) error {
			n, err := tx.CountDeliveries(t.Context(), e.ID, day.Add(time.Second), day.Add(time.Second))
			if n != 2 {
				t.Errorf("%d happened in that second", n)
			}
			return err
		})
	})
	t.Run("old messages go with new ones", func(t *testing.T) {
		w := begin(t, open)
		e := listener(w, w.shop.ID, true)
		owe(w, day, 0, e.ID)
		owe(w, day.Add(webhook.Retention-time.Second), 0, e.ID)
		if n := len(all(w, w.shop.ID, webhook.DeliveryFilter{})); n != 2 {
			t.Errorf("%d deliveries", n)
		}
		owe(w, day.Add(webhook.Retention), 0, e.ID)
		if list := all(w, w.shop.ID, webhook.DeliveryFilter{}); len(list) != 2 || list[1].At.Equal(day) {
			t.Errorf("left: %+v", list)
		}
	})
}
