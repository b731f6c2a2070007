package billing

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/platform"
)

// Foreseen is an order as swap rules would make it, and its date.
type Foreseen struct {
	swap.Foreseen
	Date time.Time
}

// Foresee returns the next orders of a contract as the rules of the store would
// make them. One-time products and single orders' notes are left out, and nothing
// is changed. A contract without orders to come has none.
func (s *Service) Foresee(ctx context.Context, of shop.Shop, line shop.Line, id contract.ID) ([]Foreseen, error) {
	var c contract.Contract
	var queued []Attempt
	var e preparing
	err := s.Store.Update(ctx, of.ID, func(tx Tx) error {
		contracts, err := byID(tx.Contracts(ctx, []contract.ID{id}))
		if err != nil {
			return err
		}
		if contracts[id] == nil || contracts[id].Line != line {
			return fault.New(fault.NotFound, "contract %d does not exist", id).On("subscriptionContract").Keyed("contractNotFound")
		}
		c = *contracts[id]
		queued, err = tx.AttemptsOf(ctx, []contract.ID{id}, Queued)
		if err != nil || len(queued) == 0 {
			return err
		}
		slices.SortFunc(queued, func(a, b Attempt) int { return cmp.Compare(a.Cycle, b.Cycle) })
		store, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		needs, err := openPreparations(ctx, tx, store, contracts)
		e, _ = needs.errandOf(queued[0], c)
		return err
	})
	if err != nil || len(queued) == 0 {
		return nil, err
	}
	rules := append(e.lasting, e.single...)
	var catalogue swap.Catalogue
	if len(rules) > 0 {
		if catalogue, err = s.catalogue(platform.Interactive(ctx), of, rules, placeOf(c, queued[0].Cycle)); err != nil {
			return nil, unavailable(err, "the platform could not be asked for the variants")
		}
	}
	cal, err := of.Calendar()
	if err != nil {
		return nil, err
	}
	o := e.order(swap.Lines(c.Lines))
	cycles, dates := coming(queued, swap.Horizon)
	list := make([]Foreseen, 0, len(cycles))
	for _, f := range swap.Foresee(rules, o, cycles, catalogue) {
		if c.Beyond(f.Cycle) {
			break
		}
		date, waits := dates[f.Cycle]
		if !waits {
			date = c.DueOn(max(f.Cycle, c.Series.Cycle), cal)
		}
		if f.ShiftDays != 0 {
			date = cal.At(date.In(cal.Zone).AddDate(0, 0, f.ShiftDays))
		}
		list = append(list, Foreseen{f, date})
	}
	return list, nil
}

// coming returns the cycles of the next n orders, of which some wait in the order of
// their cycles, and the dates of those. One that is skipped between them is no order.
func coming(queued []Attempt, n int) (cycles []int, dates map[int]time.Time) {
	dates = make(map[int]time.Time, len(queued))
	for _, a := range queued[:min(len(queued), n)] {
		cycles = append(cycles, a.Cycle)
		dates[a.Cycle] = a.BillingDate
	}
	for len(cycles) < n {
		cycles = append(cycles, cycles[len(cycles)-1]+1)
	}
	return cycles, dates
}
