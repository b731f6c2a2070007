package billingtest

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/platform"
)

// Books is a store of one shop in memory. Methods that no test calls are missing.
type Books struct {
	billing.Tx
	Store   shop.Shop
	Known   map[contract.ID]contract.Contract
	Rows    map[billing.AttemptID]billing.Attempt
	Entries []activity.Entry
}

// Open returns books with a contract that renews every month and with attempts, and what
// services need to work on them.
func Open(change func(*contract.Contract), attempts ...billing.Attempt) (*billing.Env, *Books) {
	c := Monthly()
	if change != nil {
		change(&c)
	}
	b := &Books{
		Store: shop.Shop{ID: 1, Domain: "demo.myshopify.com", TimeZone: "UTC", OrderHour: 14, Connected: true},
		Known: map[contract.ID]contract.Contract{c.ID: c},
		Rows:  make(map[billing.AttemptID]billing.Attempt),
	}
	for _, a := range attempts {
		b.Rows[a.ID] = a
	}
	return &billing.Env{Store: b, Clock: clock.NewManual(Now), Log: slog.New(slog.DiscardHandler), Policy: billing.DefaultPolicy()}, b
}

// Update implements billing.Store.
func (b *Books) Update(_ context.Context, _ shop.ID, fn func(billing.Tx) error) error {
	tx := *b
	tx.Known, tx.Rows, tx.Entries = maps.Clone(b.Known), maps.Clone(b.Rows), slices.Clone(b.Entries)
	err := fn(&tx)
	if err == nil {
		*b = tx
	}
	return err
}

// View implements billing.Store.
func (b *Books) View(_ context.Context, _ shop.ID, fn func(billing.ReadTx) error) error { return fn(b) }

func (b *Books) some(wanted func(billing.Attempt) bool) ([]billing.Attempt, error) {
	var list []billing.Attempt
	for _, id := range slices.Sorted(maps.Keys(b.Rows)) {
		if a := b.Rows[id]; wanted(a) {
			list = append(list, a)
		}
	}
	return list, nil
}

// Shop implements billing.Tx.
func (b *Books) Shop(context.Context) (shop.Shop, error) { return b.Store, nil }

// ShopToCharge implements billing.Tx.
func (b *Books) ShopToCharge(context.Context) (shop.Shop, error) { return b.Store, nil }

// PutShop implements billing.Tx.
func (b *Books) PutShop(_ context.Context, s shop.Shop) error {
	b.Store = s
	return nil
}

// DueAttempts implements billing.Tx.
func (b *Books) DueAttempts(_ context.Context, at time.Time, _ int) ([]billing.Attempt, error) {
	return b.some(func(a billing.Attempt) bool { return !a.DueAt.IsZero() && !a.DueAt.After(at) })
}

// Attempts implements billing.Tx.
func (b *Books) Attempts(_ context.Context, ids []billing.AttemptID) ([]billing.Attempt, error) {
	return b.some(func(a billing.Attempt) bool { return slices.Contains(ids, a.ID) })
}

// AttemptsByKey implements billing.Tx.
func (b *Books) AttemptsByKey(_ context.Context, keys []string) ([]billing.Attempt, error) {
	return b.some(func(a billing.Attempt) bool { return slices.Contains(keys, a.Key) })
}

// AttemptsOf implements billing.Tx.
func (b *Books) AttemptsOf(_ context.Context, of []contract.ID, in ...billing.Status) ([]billing.Attempt, error) {
	return b.some(func(a billing.Attempt) bool {
		return slices.Contains(of, a.Contract) && (len(in) == 0 || slices.Contains(in, a.Status))
	})
}

// OpenAttempts implements billing.Tx.
func (b *Books) OpenAttempts(_ context.Context, of []contract.ID, at time.Time) ([]billing.Attempt, error) {
	return b.some(func(a billing.Attempt) bool {
		return slices.Contains(of, a.Contract) && (a.Status.InFlight() || a.Status == billing.Queued && !a.BillingDate.After(at))
	})
}

// PutAttempts implements billing.Tx.
func (b *Books) PutAttempts(_ context.Context, list []billing.Attempt) error {
	for i := range list {
		if list[i].ID == 0 {
			list[i].ID = billing.AttemptID(1000 + len(b.Rows))
		}
		list[i].Version++
		b.Rows[list[i].ID] = list[i]
	}
	return nil
}

// PendingWork implements billing.Tx.
func (b *Books) PendingWork(context.Context, time.Time) (billing.PendingWork, error) {
	return billing.PendingWork{}, nil
}

// RepriceNext implements billing.Tx.
func (b *Books) RepriceNext(context.Context, time.Time, int) (bool, error) { return false, nil }

// DeleteAttempts implements billing.Tx.
func (b *Books) DeleteAttempts(_ context.Context, ids []billing.AttemptID) error {
	for _, id := range ids {
		delete(b.Rows, id)
	}
	return nil
}

// Contracts implements billing.Tx.
func (b *Books) Contracts(_ context.Context, ids []contract.ID) ([]contract.Contract, error) {
	var list []contract.Contract
	for _, id := range ids {
		list = append(list, b.Known[id])
	}
	return list, nil
}

// PutProgress implements billing.Tx.
func (b *Books) PutProgress(_ context.Context, list []contract.Contract) error {
	for _, c := range list {
		b.Known[c.ID] = c
	}
	return nil
}

// PutContracts implements billing.Tx.
func (b *Books) PutContracts(ctx context.Context, list []contract.Contract) error {
	return b.PutProgress(ctx, list)
}

// Queues implements billing.Tx.
func (b *Books) Queues(context.Context, []contract.ID) (map[contract.ID]billing.Queue, error) {
	return map[contract.ID]billing.Queue{9001: {Waiting: billing.QueueLength, LastCycle: 12}}, nil
}

// Record implements billing.Tx.
func (b *Books) Record(_ context.Context, entries ...activity.Entry) error {
	b.Entries = append(b.Entries, entries...)
	return nil
}

// PlanGroups implements billing.Tx.
func (b *Books) PlanGroups(context.Context, []int64) (map[int64]plan.Group, error) { return nil, nil }

// PutAnnotations implements billing.Tx.
func (b *Books) PutAnnotations(context.Context, []billing.Annotation) error { return nil }

// AddChargeStats implements billing.Tx.
func (b *Books) AddChargeStats(context.Context, time.Time, billing.ChargeStats) error { return nil }

// ChargeStatsSince implements billing.Tx.
func (b *Books) ChargeStatsSince(context.Context, time.Time) (billing.ChargeStats, error) {
	return billing.ChargeStats{}, nil
}

// AddCardTries implements billing.Tx.
func (b *Books) AddCardTries(context.Context, []billing.CardTry) error { return nil }

// Enqueue implements billing.Tx.
func (b *Books) Enqueue(context.Context, ...task.Task) error { return nil }

// CardTries implements billing.Tx.
func (b *Books) CardTries(context.Context, []string, time.Time) (map[string][]time.Time, error) {
	return nil, nil
}

// ChargesByCard implements billing.Tx.
func (b *Books) ChargesByCard(_ context.Context, methods []string, since time.Time) (map[string][]time.Time, error) {
	sent := make(map[string][]time.Time)
	for _, a := range b.Rows {
		if method := b.Known[a.Contract].PaymentMethod; slices.Contains(methods, method) && !a.SentAt.Before(since) {
			sent[method] = append(sent[method], a.SentAt)
		}
	}
	return sent, nil
}

// Boxes implements billing.Tx.
func (b *Books) Boxes(context.Context, shop.Shop) (map[shop.Line][]bundle.Settings, error) {
	return nil, nil
}

// SwapNotices implements billing.Tx.
func (b *Books) SwapNotices(context.Context, []contract.ID) (map[contract.ID][]swap.Notice, error) {
	return nil, nil
}

// AddSwapUses keeps nothing.
func (b *Books) AddSwapUses(context.Context, []billing.SwapUse) error { return nil }

// KeepSold keeps nothing.
func (b *Books) KeepSold(context.Context, []swap.Rule, map[int64]platform.Variant) error { return nil }

// Must ends the test if there is an error.
func Must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
