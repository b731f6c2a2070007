package prepare

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/queue"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/platform"
)

// Preview is an order as swap rules would make it, and its date.
type Preview struct {
	swap.Preview
	Date time.Time
}

// Preview returns the next orders of a contract as the rules of the store would
// make them. One-time products and single orders' notes are left out, and nothing
// is changed. A contract without orders to come has none.
func (s *Service) Preview(ctx context.Context, of shop.Shop, line shop.Line, id contract.ID) ([]Preview, error) {
	return s.preview(ctx, of, line, id, func(p Inputs) Inputs { return p })
}

// PreviewWith is Preview as if a rule were stored as it is given and switched on. A rule without
// an ID is a new one.
func (s *Service) PreviewWith(ctx context.Context, of shop.Shop, line shop.Line, id contract.ID, rule swap.Rule) ([]Preview, error) {
	return s.preview(ctx, of, line, id, func(p Inputs) Inputs { return p.with(rule) })
}

func (s *Service) preview(ctx context.Context, of shop.Shop, line shop.Line, id contract.ID, change func(Inputs) Inputs) ([]Preview, error) {
	var c contract.Contract
	var there, queued []billing.Attempt
	var e Order
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
		needs, err := ReadInputs(ctx, tx, store, contracts)
		e, _ = change(needs).OrderFor(queued[0], c)
		return err
	})
	if err != nil || len(queued) == 0 {
		return nil, err
	}
	cal, err := of.Calendar()
	if err != nil {
		return nil, err
	}
	rules := append(e.lasting, e.single...)
	lines, prices, err := s.previewPrices(platform.Interactive(ctx), of, c, rules)
	if err != nil {
		return nil, fault.Because(fault.Unavailable, err, "the platform could not be asked for the prices")
	}
	cycles, waiting := coming(queued, swap.PreviewLength)
	orders, err := swap.PreviewOrders(rules, e.swapOrder(lines), cycles, prices)
	if err != nil {
		return nil, fault.Because(fault.Unavailable, err, "the platform could not be asked for the prices of plans")
	}
	list := make([]Preview, 0, len(cycles))
	days, made := 0, queue.LastMade(there, s.Clock.Now())
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
		if more := f.ShiftDays - days; more != 0 {
			a.BillingDate = queue.Shift(&c, a, more, list[i-1].Date, max(made, list[i-1].Cycle), cal)
			days = f.ShiftDays
		}
		list = append(list, Preview{f, a.BillingDate})
	}
	return list, nil
}

// previewPrices returns the lines of a contract, and the prices that they, or what
// replaces them, will have in its orders. Where no rule may replace any, the platform is
// not asked.
func (s *Service) previewPrices(ctx context.Context, of shop.Shop, c contract.Contract, rules []swap.Rule) ([]swap.LineItem, swap.Prices, error) {
	if len(rules) == 0 {
		return swap.Lines(c.Lines), func(o swap.Order, ahead int) ([]swap.LineItem, swap.Catalogue, error) {
			lines, _ := priced(o.Lines, c, o.Cycle, c.NextOrder()+ahead)
			return lines, swap.Catalogue{}, nil
		}, nil
	}
	d, err := s.Platform.Detail(ctx, of.At(), int64(c.ID))
	if err != nil {
		return nil, nil, err
	}
	sold, err := s.sold(ctx, of, swap.Variants(rules))
	if err != nil {
		return nil, nil, err
	}
	unnamed := 0 // lines that have no identity yet
	return plain(orderLines(d.Lines, d.LineDetails)), func(o swap.Order, ahead int) ([]swap.LineItem, swap.Catalogue, error) {
		lines, policies := slices.Clone(o.Lines), make(map[string]contract.Pricing)
		for i := range lines {
			if lines[i].ID == "" {
				unnamed++
				lines[i].ID = fmt.Sprint("line ", unnamed)
			}
			if p := lines[i].Pricing; p != nil {
				policies[lines[i].ID] = *p
			}
		}
		before := c
		c = c.WithLines(swap.Plain(lines), policies)
		if err := s.KnowPrices(ctx, of, &c, before); err != nil {
			return nil, swap.Catalogue{}, err
		}
		order := c.NextOrder() + ahead
		lines, _ = priced(lines, c, o.Cycle, order)
		return lines, s.catalogueOf(ctx, of, sold, place{plan.Place{Order: order, Cycle: o.Cycle, Deliveries: c.Deliveries()}, c.Line}), nil
	}, nil
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
