package charge_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/charge"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/billing/queue"
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

// owner is the customer whose order waits.
const owner = 901

// waiting is an order that waits for its date, and the platform where it will be made.
type waiting struct {
	at    *clock.Manual
	tea   *teashop.Shop
	db    *store.DB
	of    shop.Shop
	order billing.Attempt
}

func wait(t *testing.T) *waiting {
	t.Helper()
	now := time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC)
	w := &waiting{at: clock.NewManual(now), db: storetest.SQLite(t)}
	w.tea = teashop.Open(t, w.at)
	w.of = shop.Shop{Domain: w.tea.At.Domain, Token: w.tea.At.Token, TimeZone: "UTC", Connected: true}
	must(t, w.db.Shops().AddShop(t.Context(), &w.of))
	due := now.AddDate(0, 0, 9)
	month := contract.Policy{Interval: cadence.Month, Count: 1}
	c := contract.Contract{ID: contract.ID(w.tea.Subscribe(due)), Line: shop.Subscriptions, Status: contract.Active, Currency: "USD", Customer: contract.Customer{ID: owner}, Billing: month, Delivery: month}
	attempts := []billing.Attempt{{Contract: c.ID, Cycle: 1, Status: billing.Queued, BillingDate: due, DueAt: due}}
	must(t, w.db.Update(t.Context(), w.of.ID, func(tx *store.Tx) error {
		if err := tx.PutContracts(t.Context(), []contract.Contract{c}); err != nil {
			return err
		}
		return tx.PutAttempts(t.Context(), attempts)
	}))
	w.order = attempts[0]
	return w
}

// node is one of several processes of the service.
type node struct {
	*charge.Service
	*commands
}

type commands = command.Service

func (w *waiting) node(p billing.Platform) node {
	env := &billing.Env{Store: w.db.Billing(), Platform: p, Clock: w.at, Log: slog.New(slog.DiscardHandler), Policy: billing.DefaultPolicy()}
	return node{charge.New(env), &commands{Env: env}}
}

func TestStaleEventIsNotTakenForReschedule(t *testing.T) {
	t.Parallel()
	w := wait(t)
	at, of, node, client, made := w.at, w.of, w.node(w.tea.Client), w.tea.Client, int64(w.order.Contract)
	cmd := command.Skip{Line: shop.Subscriptions, Attempt: w.order.ID, Actor: activity.System}
	skip := func() {
		_, err := node.Skip(t.Context(), of.ID, cmd)
		must(t, err)
		at.Set(at.Now().Add(time.Second))
	}
	// wishes reports what intake would take for an edit at the platform.
	wishes := func() (billing.Attempt, bool) {
		states, err := client.CycleStates(t.Context(), of.At(), []platform.CycleRef{{Contract: made, Index: 1}})
		must(t, err)
		var a billing.Attempt
		must(t, w.db.Update(t.Context(), of.ID, func(tx *store.Tx) error {
			rows, err := tx.Attempts(t.Context(), []billing.AttemptID{cmd.Attempt})
			a = rows[0]
			return err
		}))
		cal, err := of.Calendar()
		must(t, err)
		_, taken, err := queue.TakeEdit(&a, states[0].Cycle, cal, time.Hour, at.Now())
		must(t, err)
		return a, taken
	}

	skip()
	must(t, node.Work(t.Context(), of.ID))
	_, err := node.Unskip(t.Context(), of.ID, cmd)
	must(t, err)
	late := w.node(slow{client, func() {
		skip()
		must(t, node.Work(t.Context(), of.ID)) // another node, which is quicker
	}, func() {
		if a, taken := wishes(); taken {
			t.Errorf("the old word makes the skipped order %s", a.Status)
		}
	}})
	must(t, late.Work(t.Context(), of.ID))
	if a, taken := wishes(); taken || a.Status != billing.Skipped || !a.PublishAt.IsZero() || !a.PublishLeaseUntil.IsZero() {
		t.Errorf("in the end the order is %s, taken over: %t, published at %s, claimed until %s; want it skipped here and there", a.Status, taken, a.PublishAt, a.PublishLeaseUntil)
	}
}

// Two changes may be as quick as each other, and a clock may stand still.
func TestChangeAtSameInstantAsPublishIsPublished(t *testing.T) {
	t.Parallel()
	w := wait(t)
	node := w.node(w.tea.Client)
	_, err := node.Reschedule(t.Context(), w.of.ID, command.Reschedule{
		Line: shop.Subscriptions, Attempt: w.order.ID, BillingDate: w.order.BillingDate.AddDate(0, 0, 1), Actor: activity.System,
	})
	must(t, err)
	once := command.OneOff{Line: shop.Subscriptions, Contract: w.order.Contract, Attempt: w.order.ID, Variant: w.tea.Black, Quantity: 1, Actor: activity.System}
	telling := w.node(slow{w.tea.Client, func() { must(t, node.AddOneOff(t.Context(), w.of, once)) }, func() {}})
	must(t, telling.Work(t.Context(), w.of.ID))
	order, err := w.tea.Client.CycleOrder(t.Context(), w.of.At(), platform.CycleRef{Contract: int64(w.order.Contract), Index: 1})
	must(t, err)
	if len(order.Lines) != 2 || order.Lines[1].VariantID != w.tea.Black {
		t.Errorf("the platform's order has %+v, want the one-time product too", order.Lines)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
