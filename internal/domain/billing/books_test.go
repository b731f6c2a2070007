package billing

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
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// books is a store of one shop in memory, for rules that show in what is
// committed. What it does not have nobody here asks for.
type books struct {
	Tx
	shop      shop.Shop
	contracts map[contract.ID]contract.Contract
	attempts  map[AttemptID]Attempt
	entries   []activity.Entry
}

// open returns a service on books with a contract that renews every month, and
// with attempts.
func open(t *testing.T, change func(*contract.Contract), attempts ...Attempt) (*Service, *books) {
	t.Helper()
	c := monthly().contract
	if change != nil {
		change(&c)
	}
	b := &books{
		shop:      shop.Shop{ID: 1, Domain: "demo.myshopify.com", TimeZone: "UTC", OrderHour: 14, Connected: true},
		contracts: map[contract.ID]contract.Contract{c.ID: c},
		attempts:  make(map[AttemptID]Attempt),
	}
	for _, a := range attempts {
		b.attempts[a.ID] = a
	}
	return &Service{Store: b, Clock: clock.NewManual(now), Log: slog.New(slog.DiscardHandler), Policy: DefaultPolicy()}, b
}

func (b *books) Update(_ context.Context, _ shop.ID, fn func(Tx) error) error {
	tx := *b
	tx.contracts, tx.attempts, tx.entries = maps.Clone(b.contracts), maps.Clone(b.attempts), slices.Clone(b.entries)
	err := fn(&tx)
	if err == nil {
		*b = tx
	}
	return err
}

func (b *books) some(wanted func(Attempt) bool) ([]Attempt, error) {
	var list []Attempt
	for _, id := range slices.Sorted(maps.Keys(b.attempts)) {
		if a := b.attempts[id]; wanted(a) {
			list = append(list, a)
		}
	}
	return list, nil
}

func (b *books) Shop(context.Context) (shop.Shop, error)         { return b.shop, nil }
func (b *books) ShopToCharge(context.Context) (shop.Shop, error) { return b.shop, nil }

func (b *books) PutShop(_ context.Context, s shop.Shop) error {
	b.shop = s
	return nil
}

func (b *books) DueAttempts(_ context.Context, at time.Time, _ int) ([]Attempt, error) {
	return b.some(func(a Attempt) bool { return !a.DueAt.IsZero() && !a.DueAt.After(at) })
}

func (b *books) Attempts(_ context.Context, ids []AttemptID) ([]Attempt, error) {
	return b.some(func(a Attempt) bool { return slices.Contains(ids, a.ID) })
}

func (b *books) AttemptsByKey(_ context.Context, keys []string) ([]Attempt, error) {
	return b.some(func(a Attempt) bool { return slices.Contains(keys, a.Key) })
}

func (b *books) AttemptsOf(_ context.Context, of []contract.ID, in ...Status) ([]Attempt, error) {
	return b.some(func(a Attempt) bool {
		return slices.Contains(of, a.Contract) && (len(in) == 0 || slices.Contains(in, a.Status))
	})
}

func (b *books) OpenAttempts(_ context.Context, of []contract.ID, at time.Time) ([]Attempt, error) {
	return b.some(func(a Attempt) bool {
		return slices.Contains(of, a.Contract) && (a.Status.InFlight() || a.Status == Queued && !a.BillingDate.After(at))
	})
}

func (b *books) PutAttempts(_ context.Context, list []Attempt) error {
	for i := range list {
		if list[i].ID == 0 {
			list[i].ID = AttemptID(1000 + len(b.attempts))
		}
		list[i].Version++
		b.attempts[list[i].ID] = list[i]
	}
	return nil
}

func (b *books) Waits(context.Context, time.Time) (Waits, error) { return Waits{}, nil }

func (b *books) DeleteAttempts(_ context.Context, ids []AttemptID) error {
	for _, id := range ids {
		delete(b.attempts, id)
	}
	return nil
}

func (b *books) Contracts(_ context.Context, ids []contract.ID) ([]contract.Contract, error) {
	var list []contract.Contract
	for _, id := range ids {
		list = append(list, b.contracts[id])
	}
	return list, nil
}

func (b *books) PutProgress(_ context.Context, list []contract.Contract) error {
	for _, c := range list {
		b.contracts[c.ID] = c
	}
	return nil
}

func (b *books) PutContracts(ctx context.Context, list []contract.Contract) error {
	return b.PutProgress(ctx, list)
}

func (b *books) Queues(context.Context, []contract.ID) (map[contract.ID]Queue, error) {
	return map[contract.ID]Queue{9001: {Waiting: QueueLength, LastCycle: 12}}, nil
}

func (b *books) Record(_ context.Context, entries ...activity.Entry) error {
	b.entries = append(b.entries, entries...)
	return nil
}

func (b *books) PlanGroups(context.Context, []int64) (map[int64]plan.Group, error) { return nil, nil }
func (b *books) PutMarks(context.Context, []Annotation) error                      { return nil }
func (b *books) AddRun(context.Context, time.Time, ChargeStats) error              { return nil }
func (b *books) RunSince(context.Context, time.Time) (ChargeStats, error)          { return ChargeStats{}, nil }
func (b *books) AddCardTries(context.Context, []CardTry) error                     { return nil }
func (b *books) Enqueue(context.Context, ...task.Task) error                       { return nil }

func (b *books) CardTries(context.Context, []string, time.Time) (map[string][]time.Time, error) {
	return nil, nil
}

func (b *books) SentWith(_ context.Context, methods []string, since time.Time) (map[string][]time.Time, error) {
	sent := make(map[string][]time.Time)
	for _, a := range b.attempts {
		if method := b.contracts[a.Contract].PaymentMethod; slices.Contains(methods, method) && !a.SentAt.Before(since) {
			sent[method] = append(sent[method], a.SentAt)
		}
	}
	return sent, nil
}
