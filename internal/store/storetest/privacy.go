package storetest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/privacy"
	"github.com/perennialhq/perennial/internal/domain/retention"
	"github.com/perennialhq/perennial/internal/store"
)

func testPrivacy(t *testing.T, open opener) {
	open.twice(t, "requests are kept, found when they are due, and found by their customer", func(t *testing.T, open opener) {
		w := begin(t, open)
		list := []privacy.Request{
			{Kind: privacy.Export, Customer: 901, ReceivedAt: day, DueBy: day.Add(privacy.Deadline), DueAt: day},
			{Kind: privacy.EraseCustomer, Customer: 902, ReceivedAt: day, DueBy: day.Add(privacy.Deadline), DueAt: day.Add(time.Hour), Records: 3},
			{Kind: privacy.Export, Customer: 901, ReceivedAt: day, DueBy: day.Add(privacy.Deadline), ReadyAt: day, DownloadedAt: day, RemindedAt: day, ClosedAt: day},
		}
		w.in(func(tx *store.Tx) error {
			list = fresh(list)
			return tx.PutPrivacyRequests(t.Context(), list)
		})
		if ids, err := w.across(w.db.Shops().DuePrivacyShops, day, 10); len(ids) != 1 || ids[0] != w.shop.ID || err != nil {
			t.Errorf("due: shops %v, %v", ids, err)
		}
		if ids, err := w.across(w.db.Shops().DuePrivacyShops, day.Add(-time.Millisecond), 10); len(ids) != 0 || err != nil {
			t.Errorf("due before: shops %v, %v", ids, err)
		}
		w.wantNext(day, day)
		w.in(func(tx *store.Tx) error {
			due, err := tx.DuePrivacyRequests(t.Context(), day, 10)
			if len(due) != 1 || due[0] != list[0] || err != nil {
				t.Errorf("due %+v, %v; want %+v", due, err, list[0])
			}
			held, err := tx.OpenPrivacyRequests(t.Context(), privacy.Export, 901)
			if len(held) != 1 || held[0].ID != list[0].ID || err != nil {
				t.Errorf("open %+v, %v", held, err)
			}
			all, err := tx.PrivacyRequests(t.Context(), 2)
			if len(all) != 2 || all[0] != list[2] || all[1] != list[1] || err != nil {
				t.Errorf("listed %+v, %v", all, err)
			}
			_, err = tx.PrivacyRequest(t.Context(), 9_999_999)
			w.wantKind(err, fault.NotFound)
			return nil
		})
		other := w.addShop("other.myshopify.com")
		err := w.db.Update(t.Context(), other.ID, func(tx *store.Tx) error {
			_, err := tx.PrivacyRequest(t.Context(), list[0].ID)
			return err
		})
		w.wantKind(err, fault.NotFound)
	})
	t.Run("all that is stored about a customer is exported, and nothing of another one", func(t *testing.T) {
		w := begin(t, open)
		mine, theirs := monthly(1), monthly(2)
		mine.Note, theirs.Customer.Email, theirs.Note = "the blue door", "other@example.com", "secret of another"
		w.put(mine, theirs)
		w.queue(
			billing.Attempt{Contract: 1, Cycle: 1, Status: billing.Success, BillingDate: day, Note: "ring twice", OrderName: "#1002"},
			billing.Attempt{Contract: 2, Cycle: 1, Status: billing.Success, BillingDate: day, Note: "secret of another"},
		)
		w.in(func(tx *store.Tx) error {
			for _, c := range []int64{901, 902} {
				r := retention.Activity{Contract: 1, Customer: c, At: day, Details: retention.Details{Action: "KEPT", Reason: map[int64]string{901: "too much tea", 902: "secret of another"}[c]}}
				if err := tx.AddRetention(t.Context(), &r); err != nil {
					return err
				}
			}
			if err := tx.Record(t.Context(), activity.Entry{EntityID: 1, EntityType: activity.EntitySubscriptionContractDetails, Event: activity.Updated, Status: activity.Info, At: day, Info: `{"reason":"moved house"}`}); err != nil {
				return err
			}
			sent := notify.Message{Kind: notify.Paused, To: "Ada@Example.com", Contract: 1, DedupeKey: "a", Status: notify.Sent, CreatedAt: day, SentAt: day, Content: notify.Content{Subject: "Paused", Text: "you paused it", HTML: "<p>"}}
			waits := notify.Message{Kind: notify.ManagementLink, To: "Ada@Example.com", DedupeKey: "b", Status: notify.Queued, DueAt: day, CreatedAt: day, Content: notify.Content{Subject: "Link", Text: "https://secret-link", HTML: "<p>"}}
			return tx.PutMessages(t.Context(), []notify.Message{sent, waits})
		})
		w.in(func(tx *store.Tx) error {
			data, err := tx.PersonalData(t.Context(), 901)
			if err != nil {
				return err
			}
			text, err := json.Marshal(data)
			for _, want := range []string{"Ada@Example.com", "Lovelace", "the blue door", "ring twice", "#1002", "too much tea", "moved house", "you paused it", `"subject":"Link"`, `"order_amount":"20.00"`, day.Format("2006-01-02T15:04:05")} {
				if !bytes.Contains(text, []byte(want)) {
					t.Errorf("%q is not exported", want)
				}
			}
			for _, other := range []string{"secret of another", "other@example.com", "secret-link", "Theirs", "theirs"} {
				if strings.Contains(string(text), other) {
					t.Errorf("%q is exported", other)
				}
			}
			return err
		})
	})
}
