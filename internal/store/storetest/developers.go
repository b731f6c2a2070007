package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/requestlog"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/store"
)

func testDevelopers(t *testing.T, open opener) {
	open.twice(t, "requests of keys are kept for a week, filtered, counted and forgotten", func(t *testing.T, open opener) {
		w := begin(t, open)
		request := func(id int64, at time.Time, status int) requestlog.Entry {
			return requestlog.Entry{ID: id, At: at, Key: 5, KeyName: "ERP", App: "reports", Method: "GET", Path: "/x", Parameters: []string{"page", "size"}, Status: status, Took: 7 * time.Millisecond, RequestID: fmt.Sprint("r-", id)}
		}
		list := []requestlog.Entry{request(1, day, 200), request(2, day, 403), request(3, day.Add(time.Hour), 429), request(4, day.Add(2*time.Hour), 500)}
		for range 2 { // what is there already is left out
			if err := w.db.AddRequests(t.Context(), w.shop.ID, list); err != nil {
				t.Fatal(err)
			}
		}
		other := w.addShop("other.myshopify.com")
		want := func(f requestlog.Filter, since time.Time, after page.Cursor, ids ...int64) {
			t.Helper()
			got, err := w.db.Requests(t.Context(), w.shop.ID, f, since, after, 10)
			if err != nil || len(got) != len(ids) {
				t.Fatalf("%+v finds %+v, %v; want %v", f, got, err, ids)
			}
			for i, id := range ids {
				if got[i].ID != id {
					t.Errorf("%+v finds %+v, want %v", f, got, ids)
				}
			}
		}
		want(requestlog.Filter{}, time.Time{}, page.Cursor{}, 4, 3, 2, 1)
		want(requestlog.Filter{Key: 5}, day, page.Cursor{}, 4, 3)
		want(requestlog.Filter{Key: 6}, day, page.Cursor{})
		want(requestlog.Filter{Request: "r-2"}, time.Time{}, page.Cursor{}, 2)
		want(requestlog.Filter{Request: "r"}, time.Time{}, page.Cursor{})
		want(requestlog.Filter{Failed: true}, time.Time{}, page.Cursor{At: day.Add(time.Hour), ID: 3}, 2)
		want(requestlog.Filter{Status: 429, Until: day.Add(2 * time.Hour)}, time.Time{}, page.Cursor{}, 3)
		if got, err := w.db.Refused(t.Context(), w.shop.ID, day.Add(-time.Hour)); err != nil || got != (requestlog.Refused{Forbidden: 1, Limited: 1}) {
			t.Errorf("refused %+v, %v", got, err)
		}
		if got, err := w.db.Requests(t.Context(), other.ID, requestlog.Filter{}, time.Time{}, page.Cursor{}, 10); err != nil || len(got) != 0 {
			t.Errorf("another shop has %+v, %v", got, err)
		}
		end := day.Add(requestlog.Retention)
		if ids, err := w.across(w.db.Shops().ExpiredRequestShops, end.Add(time.Hour), 10); err != nil || len(ids) != 1 || ids[0] != w.shop.ID {
			t.Errorf("expired: shops %v, %v", ids, err)
		}
		log := requestlog.Service{Store: w.db, Clock: clock.NewManual(end)}
		if err := log.Clean(t.Context(), w.shop.ID); err != nil {
			t.Fatal(err)
		}
		want(requestlog.Filter{}, time.Time{}, page.Cursor{}, 4, 3)
	})
	open.twice(t, "the activity log and the deliveries are read on from a place", func(t *testing.T, open opener) {
		w := begin(t, open)
		w.in(func(tx *store.Tx) error {
			entry := activity.Entry{EntityID: 7, EntityType: activity.EntityShopInfo, Event: activity.Updated, Status: activity.Success, Actor: activity.System, At: day}
			later := entry
			later.EntityID, later.At = 8, day.Add(time.Hour)
			return tx.Record(t.Context(), entry, entry, later)
		})
		seven := []page.Criterion{{Field: activity.FieldEntityID, Op: page.Equals, Numbers: []int64{7}}, {Field: activity.FieldStatus, Op: page.Equals, Texts: []string{"SUCCESS"}}}
		first, next, err := w.db.OlderEntries(t.Context(), w.shop.ID, seven, page.Cursor{}, 1)
		if err != nil || len(first) != 1 || next.ID != first[0].ID {
			t.Fatalf("first %+v, %+v, %v", first, next, err)
		}
		second, end, err := w.db.OlderEntries(t.Context(), w.shop.ID, seven, next, 5)
		if err != nil || len(second) != 1 || second[0].ID >= first[0].ID || !end.At.IsZero() {
			t.Errorf("second %+v, %+v, %v", second, end, err)
		}

		endpoint := webhook.Endpoint{URL: "https://erp.example", Types: []webhook.Type{webhook.SignUp}, Secret: "whsec_x", Enabled: true, Created: day, Updated: day}
		w.in(func(tx *store.Tx) error {
			made := endpoint
			if err := tx.PutEndpoint(t.Context(), &made); err != nil {
				return err
			}
			endpoint = made
			message := func(id webhook.MessageID, at time.Time) webhook.Addressed {
				return webhook.Addressed{Message: webhook.Message{ID: id, Type: webhook.Test, At: at, Body: []byte("{}")}, To: []webhook.EndpointID{made.ID}}
			}
			return tx.AddMessages(t.Context(), message("msg_1", day), message("msg_2", day.Add(time.Hour)))
		})
		w.in(func(tx *store.Tx) error { return tx.FailDeliveries(t.Context(), 0, "msg_1", "gone") })
		hooks := w.db.Webhooks()
		failed, _, err := hooks.BrowseDeliveries(t.Context(), w.shop.ID, webhook.DeliveryFilter{Endpoint: endpoint.ID, Status: webhook.Failed}, page.Cursor{}, 5)
		if err != nil || len(failed) != 1 || failed[0].Message != "msg_1" {
			t.Fatalf("failed %+v, %v", failed, err)
		}
		newest, from, err := hooks.BrowseDeliveries(t.Context(), w.shop.ID, webhook.DeliveryFilter{}, page.Cursor{}, 1)
		if err != nil || len(newest) != 1 || newest[0].Message != "msg_2" {
			t.Fatalf("newest %+v, %v", newest, err)
		}
		if rest, end, err := hooks.BrowseDeliveries(t.Context(), w.shop.ID, webhook.DeliveryFilter{}, from, 5); err != nil || len(rest) != 1 || rest[0].ID != failed[0].ID || !end.At.IsZero() {
			t.Errorf("rest %+v, %+v, %v", rest, end, err)
		}
		if one, err := hooks.Delivery(t.Context(), w.shop.ID, failed[0].ID); err != nil || one != failed[0] {
			t.Errorf("delivery %+v, %v", one, err)
		}
		if results, err := hooks.RecentResults(t.Context(), w.shop.ID, day.Add(-time.Hour)); err != nil || results[endpoint.ID] != (webhook.Results{Failed: 1}) {
			t.Errorf("results %+v, %v", results, err)
		}
		w.in(func(tx *store.Tx) error {
			for since, n := range map[time.Time]int{day: 1, day.Add(time.Millisecond): 0} {
				if list, err := tx.FailedDeliveries(t.Context(), endpoint.ID, since, 5); err != nil || len(list) != n {
					t.Errorf("failed since %s: %+v, %v", since, list, err)
				}
			}
			return nil
		})
	})
}
