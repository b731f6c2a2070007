package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/support"
	"github.com/perennialhq/perennial/internal/store"
)

func testSupport(t *testing.T, open opener) {
	t.Run("a contract has its orders and its timeline, and no other contract's", func(t *testing.T) {
		w := begin(t, open)
		now := day
		s := &support.Service{Store: w.db.Support(), Clock: clock.NewManual(now)}
		w.put(monthly(1), monthly(2))
		of := func(c contract.ID, cycle int, status billing.Status, date time.Time) billing.Attempt {
			return billing.Attempt{Contract: c, Cycle: cycle, Status: status, BillingDate: date}
		}
		w.queue(
			of(1, 1, billing.Success, now.AddDate(0, -3, 0)), of(1, 2, billing.Skipped, now.AddDate(0, -2, 0)), of(1, 3, billing.Failure, now.AddDate(0, -1, 0)),
			of(1, 4, billing.Skipped, now.AddDate(0, 1, 0)), of(1, 5, billing.Queued, now.AddDate(0, 2, 0)), of(2, 1, billing.Queued, now.AddDate(0, 1, 0)),
		)
		sheet, err := s.Sheet(t.Context(), w.shop.ID, 1, 2)
		var ahead, past string
		for _, a := range sheet.Upcoming {
			ahead += fmt.Sprint(a.Cycle, " ")
		}
		for _, a := range sheet.Past {
			past += fmt.Sprint(a.Cycle, " ")
		}
		if ahead != "4 5 " || past != "3 2 " || !sheet.MorePast || err != nil {
			t.Errorf("upcoming %q, past %q, more %v, %v; want 4 5, 3 2, more", ahead, past, sheet.MorePast, err)
		}

		first := sheet.Past[0].ID
		w.in(func(tx *store.Tx) error {
			entry := func(of int64, kind activity.EntityType, minutes int) activity.Entry {
				return activity.Entry{EntityID: of, EntityType: kind, Event: activity.Updated, Status: activity.Success, Actor: activity.System, At: now.Add(time.Duration(minutes) * time.Minute), Info: fmt.Sprint(minutes)}
			}
			return tx.Record(t.Context(),
				entry(1, activity.EntitySubscriptionContractDetails, -9), entry(int64(first), activity.EntitySubscriptionBillingAttempt, -8), entry(2, activity.EntitySubscriptionContractDetails, -7),
				entry(1, activity.EntitySubscriptionBillingAttempt, -6), entry(int64(first), activity.EntitySubscriptionContractDetails, -5), entry(1, activity.EntitySubscriptionGroupPlan, -4),
			)
		})
		if err := s.Comment(t.Context(), w.shop.ID, support.Comment{Contract: 1, Author: "ana", Text: " called "}); err != nil {
			t.Fatal(err)
		}
		items, more, err := s.Timeline(t.Context(), w.shop.ID, 1, support.Filter{})
		var got []string
		for _, i := range items {
			if i.Comment != nil {
				got = append(got, i.Comment.Text)
				continue
			}
			got = append(got, i.Entry.Info)
		}
		if want := "called -8 -9"; strings.Join(got, " ") != want || more || err != nil {
			t.Errorf("timeline %v, more %v, %v; want %s", got, more, err, want)
		}
		older, _, err := s.Timeline(t.Context(), w.shop.ID, 1, support.Filter{Before: items[1].Position()})
		if len(older) != 1 || older[0].Entry.Info != "-9" || err != nil {
			t.Errorf("older: %+v, %v", older, err)
		}
		filtered, _, err := s.Timeline(t.Context(), w.shop.ID, 1, support.Filter{Status: activity.Failure})
		if len(filtered) != 0 || err != nil {
			t.Errorf("filtered: %+v, %v", filtered, err)
		}
		comment := items[0].Comment.ID
		if err := s.Uncomment(t.Context(), w.shop.ID, 1, comment, "ben"); err != nil {
			t.Fatal(err)
		}
		if items, _, _ := s.Timeline(t.Context(), w.shop.ID, 1, support.Filter{}); len(items) != 3 {
			t.Errorf("another user deleted the comment: %+v", items)
		}
		if err := s.Uncomment(t.Context(), w.shop.ID, 1, comment, "ana"); err != nil {
			t.Fatal(err)
		}
		if items, _, _ := s.Timeline(t.Context(), w.shop.ID, 1, support.Filter{}); len(items) != 2 {
			t.Errorf("the comment is still there: %+v", items)
		}
	})
	t.Run("a contract of another store is not found, and cannot be commented", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1))
		other := w.addShop("second.myshopify.com")
		s := &support.Service{Store: w.db.Support(), Clock: clock.NewManual(day)}
		if _, err := s.Sheet(t.Context(), other.ID, 1, 2); !fault.Is(err, fault.NotFound) {
			t.Errorf("the other store reads %v", err)
		}
		if err := s.Comment(t.Context(), other.ID, support.Comment{Contract: 1, Author: "ana", Text: "x"}); !fault.Is(err, fault.NotFound) {
			t.Errorf("the other store comments: %v", err)
		}
		for text, kind := range map[string]fault.Kind{"  ": fault.Invalid, strings.Repeat("x", support.MaxComment+1): fault.Invalid} {
			if err := s.Comment(t.Context(), w.shop.ID, support.Comment{Contract: 1, Author: "ana", Text: text}); !fault.Is(err, kind) {
				t.Errorf("a comment of %d characters: %v", len(text), err)
			}
		}
	})
}
