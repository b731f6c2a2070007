package prepare

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/queue"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/order"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/platform"
)

// Preview is an order to come and its date.
type Preview struct {
	order.Order
	Date time.Time
}

// previewLength is the number of orders of a preview.
const previewLength = 10

// Preview returns the next orders of a contract. Nothing is changed. A contract without orders to
// come has none.
func (s *Service) Preview(ctx context.Context, of shop.Shop, line shop.Line, id contract.ID) ([]Preview, error) {
	return s.preview(ctx, of, line, id, func(tx billing.ReadTx, _ *shop.Shop) billing.ReadTx { return tx })
}

// PreviewWith is Preview as if a rule were stored as it is given and switched on. A rule without
// an ID is a new one. The platform is asked for the products that the rule names.
func (s *Service) PreviewWith(ctx context.Context, of shop.Shop, line shop.Line, id contract.ID, rule swap.Rule) ([]Preview, error) {
	sold, err := swap.Sold(platform.Interactive(ctx), s.Platform, of, swap.Variants([]swap.Rule{rule}))
	if err != nil {
		return nil, fault.Because(fault.Unavailable, err, "the platform could not be asked for the products")
	}
	rule.Variants, rule.Off = sold, false
	return s.preview(ctx, of, line, id, func(tx billing.ReadTx, store *shop.Shop) billing.ReadTx {
		store.Settings.SwapRules = true
		return trial{tx, rule}
	})
}

// trial reads the store's rules and one that is tried out.
type trial struct {
	billing.ReadTx
	rule swap.Rule
}

// SwapRules has the rule in place of the one that is stored. A new one without a Sequence is
// evaluated last.
func (t trial) SwapRules(ctx context.Context) ([]swap.Rule, error) {
	stored, err := t.ReadTx.SwapRules(ctx)
	rules := slices.DeleteFunc(stored, func(r swap.Rule) bool { return r.ID == t.rule.ID })
	rule := t.rule
	if rule.Sequence == 0 {
		for _, r := range rules {
			rule.Sequence = max(rule.Sequence, r.Sequence+1)
		}
	}
	return append(rules, rule), err
}

func (s *Service) preview(ctx context.Context, of shop.Shop, line shop.Line, id contract.ID, through func(billing.ReadTx, *shop.Shop) billing.ReadTx) ([]Preview, error) {
	var c contract.Contract
	var there, queued []billing.Attempt
	var next billing.Record
	var inputs billing.Inputs
	err := s.Store.View(ctx, of.ID, func(tx billing.ReadTx) error {
		contracts, err := billing.ContractsByID(tx.Contracts(ctx, []contract.ID{id}))
		if err != nil {
			return err
		}
		if contracts[id] == nil || contracts[id].Line != line {
			return fault.New(fault.NotFound, "contract %d does not exist", id).Entity("subscriptionContract").Code("contractNotFound")
		}
		c = *contracts[id]
		if there, err = tx.AttemptsOf(ctx, []contract.ID{id}); err != nil {
			return err
		}
		queued = billing.OnlyQueued(there)
		if len(queued) == 0 {
			return nil
		}
		slices.SortFunc(queued, billing.CompareByDate)
		store, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		all, err := billing.ReadInputs(ctx, through(tx, &store), store, contracts)
		inputs = all[id]
		next = billing.RecordOf(queued[0], c, inputs, there)
		return err
	})
	if err != nil || len(queued) == 0 {
		return nil, err
	}
	cal, err := of.Calendar()
	if err != nil {
		return nil, err
	}
	cycles, waiting := coming(queued, previewLength)
	places := next.Before
	for _, cycle := range cycles {
		place := order.Place{Cycle: cycle, Date: c.DueOn(max(cycle, c.Series.Cycle), cal)}
		if a, waits := waiting[cycle]; waits {
			place = billing.RecordOf(a, c, inputs, nil).Place()
		}
		places = append(places, place)
	}
	orders := order.Walk(c, inputs.Rules, places)
	if notices := noticesOf(orders, s.Clock.Now()); len(notices) > 0 { // as if they were given now
		inputs.Rules.Notices = append(slices.Clip(inputs.Rules.Notices), notices...)
		orders = order.Walk(c, inputs.Rules, places)
	}
	orders = orders[len(next.Before):]
	list := make([]Preview, 0, len(cycles))
	days, moved, made := 0, 0, queue.LastMade(there, s.Clock.Now())
	for i, f := range orders {
		if c.PastLastCycle(f.Cycle) {
			break
		}
		a, waits := waiting[f.Cycle]
		if !waits {
			a = billing.Attempt{Cycle: f.Cycle}
		}
		if !waits || days != 0 && !a.Moved {
			a.BillingDate = c.DueOn(max(f.Cycle, c.Series.Cycle), cal)
		}
		if more := moved - days; more != 0 {
			a.BillingDate = queue.Shift(&c, a, more, list[i-1].Date, max(made, list[i-1].Cycle), cal)
			days = moved
		}
		moved += f.ShiftDays
		list = append(list, Preview{f, a.BillingDate})
	}
	return list, nil
}

// noticesOf returns notices of the prices that orders do not have yet.
func noticesOf(orders []order.Order, now time.Time) (list []swap.Notice) {
	for _, o := range orders {
		for _, r := range o.Rises {
			list = append(list, r.Notice(now.Add(swap.NoticeTime)))
		}
	}
	return list
}

// coming returns the cycles of the next n orders, and the queued ones of them. Queued attempts are
// in the order in which they are made. A skipped cycle between them is no order.
func coming(queued []billing.Attempt, n int) (cycles []int, waiting map[int]billing.Attempt) {
	waiting = make(map[int]billing.Attempt, len(queued))
	last := 0
	for _, a := range queued[:min(len(queued), n)] {
		cycles = append(cycles, a.Cycle)
		waiting[a.Cycle], last = a, max(last, a.Cycle)
	}
	for len(cycles) < n {
		last++
		cycles = append(cycles, last)
	}
	return cycles, waiting
}
