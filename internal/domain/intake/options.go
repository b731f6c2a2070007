package intake

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// planTimeout is how long after a checkout its plan may become known. After a lost
// answer the platform is asked for a new plan every minute.
const planTimeout = time.Hour

// beginnings returns the trials and lifetime payments of contracts that were bought in
// the store. Contracts whose plan may still be in creation are deferred.
func (s *Service) beginnings(ctx context.Context, store shop.Shop, bought []platform.Contract) (map[int64]beginning, deferredContracts, error) {
	if len(bought) == 0 {
		return nil, nil, nil
	}
	cal, err := store.Calendar()
	if err != nil {
		return nil, nil, err
	}
	now := s.Clock.Now()
	contracts := make([]contract.Contract, len(bought))
	for i, p := range bought {
		if contracts[i], _, err = contract.Read(nil, p, store.Settings, now); err != nil {
			return nil, nil, err
		}
		contracts[i].NextBillingDate = p.NextBillingDate
	}
	options, made, err := s.options(ctx, store.ID, contracts)
	begun, waits := make(map[int64]beginning, len(options)), make(deferredContracts)
	for _, c := range contracts {
		if o, ok := options[c.ID]; ok {
			begun[int64(c.ID)] = beginOnOption(c, o, cal)
		} else if onPlan(c) && !made.IsZero() && now.Before(c.CreatedAt.Add(planTimeout)) {
			waits[c.ID] = slices.MaxFunc([]time.Time{made, now.Add(s.Policy.Yield)}, time.Time.Compare)
		}
	}
	return begun, waits, err
}

func onPlan(c contract.Contract) bool {
	return slices.ContainsFunc(c.Lines, func(l contract.LineItem) bool { return l.SellingPlanID != 0 })
}

// options returns the plan options of contracts, or those that they had before the
// options were removed; with several, that of the first line. It also returns when plans
// that are in creation are checked next; zero: none is.
func (s *Service) options(ctx context.Context, of shop.ID, contracts []contract.Contract) (map[contract.ID]plan.Option, time.Time, error) {
	var sold []int64
	for _, c := range contracts {
		for _, l := range c.Lines {
			if l.SellingPlanID != 0 {
				sold = append(sold, l.SellingPlanID)
			}
		}
	}
	if len(sold) == 0 {
		return nil, time.Time{}, nil
	}
	slices.Sort(sold)
	var groups map[int64]plan.Group
	var removed map[int64]plan.Option
	var made time.Time
	err := s.Store.View(ctx, of, func(tx ReadTx) (err error) {
		if made, err = tx.PlansReadyAt(ctx); err != nil {
			return err
		}
		sold = slices.Compact(sold)
		if groups, err = tx.PlanGroups(ctx, sold); err != nil || len(groups) == len(sold) {
			return err
		}
		removed, err = tx.RemovedOptions(ctx, sold)
		return err
	})
	options := make(map[contract.ID]plan.Option, len(contracts))
	for _, c := range contracts {
		for _, l := range c.Lines {
			o, ok := groups[l.SellingPlanID].Option(l.SellingPlanID)
			if !ok {
				o, ok = removed[l.SellingPlanID]
			}
			if ok && l.SellingPlanID != 0 {
				options[c.ID] = o
				break
			}
		}
	}
	return options, made, err
}
