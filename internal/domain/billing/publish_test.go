package billing_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/platformtest/teashop"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// slow is a platform to which a word that a skip is taken back is long on its way.
type slow struct {
	billing.Platform
	meanwhile, after func()
}

func (p slow) UnskipCycle(ctx context.Context, of platform.Shop, contract int64, cycle int) error {
	p.meanwhile()
	err := p.Platform.UnskipCycle(ctx, of, contract, cycle)
	p.after()
	return err
}

func TestAnOldWordThatIsSlowIsNotTakenForSomebodysWish(t *testing.T) {
	t.Parallel()
	now := time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC)
	at := clock.NewManual(now)
	tea := teashop.Open(t, at)
	of := shop.Shop{Domain: tea.At.Domain, Token: tea.At.Token, TimeZone: "UTC", Connected: true}
	due := now.AddDate(0, 0, 9)
	made, client := tea.Subscribe(due), tea.Client

	db := storetest.SQLite(t)
	must(t, db.Shops().AddShop(t.Context(), &of))
	month := contract.Policy{Interval: cadence.Month, Count: 1}
	attempts := []billing.Attempt{{Contract: contract.ID(made), Cycle: 1, Status: billing.Queued, BillingDate: due, DueAt: due}}
	must(t, db.Update(t.Context(), of.ID, func(tx *store.Tx) error {
		c := contract.Contract{ID: contract.ID(made), Line: shop.Subscriptions, Status: contract.Active, Currency: "USD", Billing: month, Delivery: month}
		if err := tx.PutContracts(t.Context(), []contract.Contract{c}); err != nil {
			return err
		}
		return tx.PutAttempts(t.Context(), attempts)
	}))
	service := func(p billing.Platform) *billing.Service {
		return &billing.Service{Store: db.Billing(), Platform: p, Clock: at, Log: slog.New(slog.DiscardHandler), Policy: billing.DefaultPolicy()}
	}
	node := service(client)
	cmd := billing.SkipCommand{Line: shop.Subscriptions, Attempt: attempts[0].ID, Actor: activity.System}
	skip := func() {
		_, err := node.Skip(t.Context(), of.ID, cmd)
		must(t, err)
		at.Set(at.Now().Add(time.Second))
	}
	// wishes reports what intake would take for somebody's edit at the platform.
	wishes := func() (billing.Attempt, bool) {
		states, err := client.CycleStates(t.Context(), of.At(), []platform.CycleRef{{Contract: made, Index: 1}})
		must(t, err)
		var a billing.Attempt
		must(t, db.Update(t.Context(), of.ID, func(tx *store.Tx) error {
			rows, err := tx.Attempts(t.Context(), []billing.AttemptID{cmd.Attempt})
			a = rows[0]
			return err
		}))
		cal, err := of.Calendar()
		must(t, err)
		_, taken := billing.TakeEdit(&a, states[0].Cycle, cal, time.Hour, at.Now())
		return a, taken
	}

	skip()
	must(t, node.Work(t.Context(), of.ID))
	_, err := node.Unskip(t.Context(), of.ID, cmd)
	must(t, err)
	late := service(slow{client, func() {
		skip()
		must(t, node.Work(t.Context(), of.ID)) // another node, which is quicker
	}, func() {
		if a, taken := wishes(); taken {
			t.Errorf("the old word makes the skipped order %s", a.Status)
		}
	}})
	must(t, late.Work(t.Context(), of.ID))
	if a, taken := wishes(); taken || a.Status != billing.Skipped || !a.PublishAt.IsZero() || !a.TellingUntil.IsZero() {
		t.Errorf("in the end the order is %s, taken over: %t, to be told at %s, claimed until %s; want it skipped here and there", a.Status, taken, a.PublishAt, a.TellingUntil)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
