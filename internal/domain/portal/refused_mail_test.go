package portal_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

var noon = time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC)

// mailServer accepts every e-mail.
type mailServer struct{ sent []string }

func (s *mailServer) Send(_ context.Context, letters []notify.Email) []error {
	for _, l := range letters {
		s.sent = append(s.sent, l.Text)
	}
	return make([]error, len(letters))
}

// A subscriber gets no e-mail of a kind that they have refused, and every other one.
func TestRefusedKindIsNotSent(t *testing.T) {
	t.Parallel()
	db, at, server := storetest.SQLite(t), clock.NewManual(noon), &mailServer{}
	of := shop.Shop{Domain: "demo.myshopify.com", TimeZone: "UTC", CreatedAt: noon}
	if err := db.Shops().AddShop(t.Context(), &of); err != nil {
		t.Fatal(err)
	}
	sender := notify.Service{Store: db.Notify(), Transport: server, Clock: at, Log: slog.New(slog.DiscardHandler), Policy: notify.DefaultPolicy()}
	month := contract.Policy{Interval: cadence.Month, Count: 1}
	err := db.Update(t.Context(), of.ID, func(tx *store.Tx) error {
		var contracts []contract.Contract
		for i, customer := range []int64{7001, 7002} {
			contracts = append(contracts, contract.Contract{
				ID: contract.ID(42 + i), Line: shop.Subscriptions, Status: contract.Active, Currency: "USD", Billing: month, Delivery: month, Customer: contract.Customer{ID: customer}, CreatedAt: noon,
			})
		}
		if err := tx.PutContracts(t.Context(), contracts); err != nil {
			return err
		}
		// what may not be refused is sent, whatever is stored
		return tx.PutPortalPreferences(t.Context(), &portal.Preferences{Customer: 7001, Off: []notify.Kind{notify.OrderSkipped, notify.TierReached, notify.TransactionFailed}, UpdatedAt: noon})
	})
	if err != nil {
		t.Fatal(err)
	}
	var list []notify.Message
	for _, about := range []contract.ID{42, 43} {
		for _, kind := range []notify.Kind{notify.OrderSkipped, notify.NextDate, notify.TransactionFailed} {
			m, err := notify.New(notify.Message{
				Kind: kind, To: "ada@shopper.example", Content: notify.Content{Subject: "s", Text: fmt.Sprint(about, " ", kind), HTML: "h"}, Contract: about,
				Actor: activity.System, DedupeKey: fmt.Sprint(about, kind), ExpiresAt: noon.Add(time.Hour),
			}, noon)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, m)
		}
	}
	for _, member := range []int64{7001, 7002} { // about no contract
		for _, kind := range []notify.Kind{notify.TierReached, notify.RewardIssued} {
			m, err := notify.New(notify.Message{
				Kind: kind, To: "ada@shopper.example", Content: notify.Content{Subject: "s", Text: fmt.Sprint(member, " ", kind), HTML: "h"}, Customer: member,
				Actor: activity.System, DedupeKey: fmt.Sprint(member, kind), ExpiresAt: noon.Add(time.Hour),
			}, noon)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, m)
		}
	}
	if err := sender.Store.Update(t.Context(), of.ID, func(tx notify.Tx) error { return notify.Queue(t.Context(), tx, of.ID, list...) }); err != nil {
		t.Fatal(err)
	}
	if err := sender.Work(t.Context(), of.ID); err != nil {
		t.Fatal(err)
	}
	sent := server.sent
	slices.Sort(sent)
	if want := []string{
		"42 next_date", "42 transaction_failed", "43 next_date", "43 order_skipped", "43 transaction_failed", "7001 reward_issued", "7002 reward_issued", "7002 tier_reached",
	}; !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
	entries, _, err := db.Entries(t.Context(), of.ID, []page.Criterion{{Field: "status", Op: page.Equals, Texts: []string{string(activity.Skipped)}}}, page.Request{Size: 10})
	if err != nil || len(entries) != 2 || !strings.Contains(entries[0].Info, "does not want") || !strings.Contains(entries[1].Info, "does not want") {
		t.Errorf("entries of what was not sent: %+v, %v", entries, err)
	}
}
