package bulk

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/order"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/platform"
)

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

const store = shop.ID(1)

// world is a store in memory with the services that change contracts. It has one transaction
// at a time and rolls none back.
type world struct {
	t         *testing.T
	at        *clock.Manual
	service   *Service
	contracts map[contract.ID]contract.Contract
	attempts  map[billing.AttemptID]billing.Attempt
	jobs      map[JobID]Job
	items     map[JobID]map[contract.ID]Item
	entries   []activity.Entry
	asked     int                            // for work
	calls     []string                       // of the services
	refuse    func(id contract.ID) error     // in place of a change; nil: it is made
	after     func(id contract.ID) (e error) // once a change is made; nil: nothing happens
}

// begin opens a world with active contracts 1 to n, whose next orders are at noon in ten days.
func begin(t *testing.T, n int) *world {
	t.Helper()
	w := &world{
		t: t, at: clock.NewManual(noon), contracts: make(map[contract.ID]contract.Contract), attempts: make(map[billing.AttemptID]billing.Attempt),
		jobs: make(map[JobID]Job), items: make(map[JobID]map[contract.ID]Item),
	}
	for i := range n {
		id := contract.ID(i + 1)
		w.contracts[id] = contract.Contract{
			ID: id, Line: shop.Subscriptions, Status: contract.Active, Currency: "USD", Billing: contract.Policy{Interval: cadence.Month, Count: 1}, Series: contract.Series{Cycle: 1, Start: noon.AddDate(0, 0, 10)}, Customer: contract.Customer{ID: int64(id), Name: "Ada", Email: "ada@shopper.example"},
			Lines: []contract.LineItem{{ID: "line", VariantID: 7, Quantity: 2, Price: money.Amount{Minor: 1250, Currency: "USD"}}},
		}
		w.attempts[billing.AttemptID(100+id)] = billing.Attempt{ID: billing.AttemptID(100 + id), Contract: id, Cycle: 1, Status: billing.Queued, BillingDate: noon.AddDate(0, 0, 10)}
	}
	w.service = &Service{Store: w, Directory: w, Statuses: w, Edits: w, Orders: w, Links: w, Prices: w, Clock: w.at, Log: slog.New(slog.DiscardHandler)}
	return w
}

// change carries out what a service is asked for, and marks it as the commit would.
func (w *world) change(what string, id contract.ID, by activity.Actor, do func(*contract.Contract)) error {
	if w.refuse != nil {
		if err := w.refuse(id); err != nil {
			return err
		}
	}
	w.calls = append(w.calls, what)
	c := w.contracts[id]
	do(&c)
	w.contracts[id] = c
	e := activity.Entry{EntityID: int64(id), EntityType: activity.EntitySubscriptionContractDetails, Event: activity.Updated, Status: activity.Success, Actor: by}
	w.entries = append(w.entries, e)
	if err := NoteChanges(context.Background(), w, []activity.Entry{e}); err != nil {
		return err
	}
	if w.after != nil {
		return w.after(id)
	}
	return nil
}

func (w *world) SetStatus(_ context.Context, _ shop.ID, cmd amend.Command, to lifecycle.StatusChange) (contract.Detail, error) {
	return contract.Detail{}, w.change(string(to.To), cmd.Contract, cmd.Actor, func(c *contract.Contract) { c.Status = to.To })
}

func (w *world) ChangeLine(_ context.Context, _ shop.ID, cmd amend.Command, l contractedit.LineChange) (contract.Detail, error) {
	return contract.Detail{}, w.change("line", cmd.Contract, cmd.Actor, func(c *contract.Contract) {
		c.Lines = slices.Clone(c.Lines)
		if l.Quantity != nil {
			c.Lines[0].Quantity = *l.Quantity
		}
	})
}

func (w *world) ApplyCode(_ context.Context, _ shop.ID, cmd amend.Command, code string) (contract.Detail, error) {
	return contract.Detail{}, w.change("code "+code, cmd.Contract, cmd.Actor, func(*contract.Contract) {})
}

func (w *world) RemoveDiscount(_ context.Context, _ shop.ID, cmd amend.Command, id string) (contract.Detail, error) {
	return contract.Detail{}, w.change("remove "+id, cmd.Contract, cmd.Actor, func(*contract.Contract) {})
}

func (w *world) SetCycles(_ context.Context, _ shop.ID, cmd amend.Command, _ terms.Cycles) (contract.Detail, error) {
	return contract.Detail{}, w.change("cycles", cmd.Contract, cmd.Actor, func(*contract.Contract) {})
}

func (w *world) Skip(_ context.Context, _ shop.ID, cmd command.Skip) (billing.Record, error) {
	a := w.attempts[cmd.Attempt]
	return billing.Record{}, w.change("skip", a.Contract, cmd.Actor, func(*contract.Contract) {
		a.Status = billing.Skipped
		w.attempts[a.ID] = a
	})
}

func (w *world) Reschedule(_ context.Context, _ shop.ID, cmd command.Reschedule) (billing.Record, error) {
	a := w.attempts[cmd.Attempt]
	return billing.Record{}, w.change("move", a.Contract, cmd.Actor, func(*contract.Contract) {
		a.BillingDate = cmd.BillingDate
		w.attempts[a.ID] = a
	})
}

func (w *world) AddOneOff(_ context.Context, _ shop.Shop, cmd command.OneOff) error {
	return w.change("add", cmd.Contract, cmd.Actor, func(*contract.Contract) {})
}

func (w *world) RemoveOneOff(_ context.Context, _ shop.Shop, cmd command.OneOff) error {
	return w.change("take", cmd.Contract, cmd.Actor, func(*contract.Contract) {})
}

func (w *world) SendLink(_ context.Context, _ shop.ID, who login.CustomerRef, by activity.Actor) error {
	return w.change("link", contract.ID(who.Customer), by, func(*contract.Contract) {})
}

func (w *world) SendNews(_ context.Context, _ shop.ID, m notify.Mailing) error {
	return w.change("write "+m.News.Subject, m.Contract, m.Actor, func(*contract.Contract) {})
}

func (w *world) Update(_ context.Context, _ shop.ID, fn func(Tx) error) error   { return fn(w) }
func (w *world) View(_ context.Context, _ shop.ID, fn func(ReadTx) error) error { return fn(w) }

func (w *world) Shop(context.Context) (shop.Shop, error) {
	return shop.Shop{ID: store, Domain: "demo.myshopify.com", TimeZone: "UTC", Currency: "USD", Connected: true}, nil
}

func (w *world) Contracts(_ context.Context, ids []contract.ID) (list []contract.Contract, _ error) {
	for _, id := range ids {
		if c, ok := w.contracts[id]; ok {
			list = append(list, c)
		}
	}
	return list, nil
}

func (w *world) AttemptsOf(_ context.Context, of []contract.ID, in ...billing.Status) (list []billing.Attempt, _ error) {
	for _, a := range w.attempts {
		if slices.Contains(of, a.Contract) && slices.Contains(in, a.Status) {
			list = append(list, a)
		}
	}
	return list, nil
}

func (w *world) OneOffs(context.Context, []contract.ID) ([]billing.OneOff, error) { return nil, nil }

func (w *world) SwapRules(context.Context) ([]swap.Rule, error) { return nil, nil }

func (w *world) SwapUses(context.Context, []contract.ID) (map[contract.ID]map[swap.ID]bool, error) {
	return nil, nil
}

func (w *world) Boxes(context.Context, shop.Shop) (map[shop.Line][]bundle.Settings, error) {
	return nil, nil
}

func (w *world) SwapNotices(context.Context, []contract.ID) (map[contract.ID][]swap.Notice, error) {
	return nil, nil
}

func (w *world) PlansFor(context.Context, []int64, map[int64]platform.Variant) (map[int64]order.Plan, error) {
	return nil, nil
}

func (w *world) MatchingContracts(_ context.Context, _ shop.ID, f contract.Filter, after contract.ID, limit int) ([]contract.ID, error) {
	var ids []contract.ID
	for _, id := range slices.Sorted(maps.Keys(w.contracts)) {
		if c := w.contracts[id]; id > after && len(ids) < limit && (f.Status == "" || c.Status == f.Status) && (f.CreatedTo.IsZero() || !c.CreatedAt.After(f.CreatedTo)) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func (w *world) CountMatching(ctx context.Context, of shop.ID, f contract.Filter) (int, error) {
	ids, err := w.MatchingContracts(ctx, of, f, 0, len(w.contracts))
	return len(ids), err
}

func (w *world) BulkJob(_ context.Context, id JobID) (Job, error) {
	j, ok := w.jobs[id]
	if !ok {
		return j, JobNotFound(id)
	}
	return j, nil
}

func (w *world) BulkJobByKey(_ context.Context, key string) (Job, bool, error) {
	for _, j := range w.jobs {
		if j.Key == key {
			return j, true, nil
		}
	}
	return Job{}, false, nil
}

func (w *world) BulkJobs(_ context.Context, open bool, limit int) ([]Job, error) {
	list := slices.SortedFunc(maps.Values(w.jobs), func(a, b Job) int { return -cmp.Compare(a.ID, b.ID) })
	list = slices.DeleteFunc(list, func(j Job) bool { return open && !j.Status.Open() })
	return list[:min(limit, len(list))], nil
}

func (w *world) BulkItems(_ context.Context, job JobID, in ItemStatus, after contract.ID, limit int) (list []Item, _ error) {
	for _, id := range slices.Sorted(maps.Keys(w.items[job])) {
		if i := w.items[job][id]; i.Status == in && id > after && len(list) < limit {
			list = append(list, i)
		}
	}
	return list, nil
}

func (w *world) PutBulkJob(_ context.Context, j *Job) error {
	switch is, known := w.jobs[j.ID]; {
	case j.ID == 0:
		j.ID = JobID(len(w.jobs) + 1)
	case !known || is.Version != j.Version:
		return fault.New(fault.Conflict, "the job has changed")
	}
	j.Version++
	w.jobs[j.ID] = *j
	return nil
}

func (w *world) DueBulkJobs(_ context.Context, now time.Time, limit int) ([]Job, error) {
	list := slices.DeleteFunc(slices.Collect(maps.Values(w.jobs)), func(j Job) bool { return j.DueAt.IsZero() || j.DueAt.After(now) })
	slices.SortFunc(list, func(a, b Job) int { return cmp.Or(a.DueAt.Compare(b.DueAt), cmp.Compare(a.ID, b.ID)) })
	return list[:min(limit, len(list))], nil
}

func (w *world) AddBulkItems(_ context.Context, job JobID, due time.Time, contracts []contract.ID) (added int, _ error) {
	if w.items[job] == nil {
		w.items[job] = make(map[contract.ID]Item)
	}
	for _, id := range contracts {
		if _, has := w.items[job][id]; !has {
			w.items[job][id] = Item{Job: job, Contract: id, Status: Waiting, DueAt: due}
			added++
		}
	}
	return added, nil
}

func (w *world) unsettled(job JobID, begun bool) (list []Item) {
	for _, i := range w.items[job] {
		if !i.DueAt.IsZero() && (!begun || i.Status == Begun) {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(a, b Item) int { return cmp.Or(a.DueAt.Compare(b.DueAt), cmp.Compare(a.Contract, b.Contract)) })
	return list
}

func (w *world) DueBulkItems(_ context.Context, job JobID, now time.Time, begun bool, limit int) ([]Item, error) {
	list := slices.DeleteFunc(w.unsettled(job, begun), func(i Item) bool { return i.DueAt.After(now) })
	return list[:min(limit, len(list))], nil
}

func (w *world) NextBulkItem(_ context.Context, job JobID, begun bool) (time.Time, error) {
	if list := w.unsettled(job, begun); len(list) > 0 {
		return list[0].DueAt, nil
	}
	return time.Time{}, nil
}

func (w *world) BulkItemsOf(_ context.Context, job JobID, contracts []contract.ID) (list []Item, _ error) {
	for _, id := range contracts {
		list = append(list, w.items[job][id])
	}
	return list, nil
}

func (w *world) PutBulkItems(_ context.Context, items []Item) error {
	for _, i := range items {
		w.items[i.Job][i.Contract] = i
	}
	return nil
}

func (w *world) MarkBulkChanged(_ context.Context, job JobID, contracts []contract.ID, _ []int64) error {
	for _, id := range contracts {
		i := w.items[job][id]
		i.Changed = true
		w.items[job][id] = i
	}
	return nil
}

func (w *world) Record(_ context.Context, entries ...activity.Entry) error {
	w.entries = append(w.entries, entries...)
	return nil
}

func (w *world) Enqueue(context.Context, ...task.Task) error { w.asked++; return nil }

func price(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }

func (w *world) ConnectedShop(ctx context.Context, _ shop.ID) (shop.Shop, error) { return w.Shop(ctx) }

func (w *world) Variants(_ context.Context, _ shop.Shop, ids []int64) (map[int64]platform.Variant, error) {
	const last = 10 // the store has variants up to 10
	sold := make(map[int64]platform.Variant)
	for _, id := range ids {
		if id > last {
			return nil, fault.New(fault.NotFound, "variant %d does not exist", id)
		}
		sold[id] = platform.Variant{ID: id, Price: price(500 * id)}
	}
	return sold, nil
}

func (w *world) UnitPrice(_ context.Context, _ shop.ID, _ contract.Contract, v platform.Variant, _ int64) (money.Amount, *platform.Pricing, error) {
	return v.Price, nil, nil
}
