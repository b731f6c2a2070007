package intake

import (
	"context"
	"slices"

	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	offers "github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// beginning is what a contract takes from the plan option it was bought on, and
// the platform does not know.
type beginning struct {
	trial    *contract.Trial
	lifelong bool
}

// beginnings returns how contracts begin that were bought in the store.
func (s *Service) beginnings(ctx context.Context, store shop.Shop, bought []platform.Contract) (map[int64]beginning, error) {
	if len(bought) == 0 {
		return nil, nil
	}
	var sold []int64
	for _, p := range bought {
		for _, l := range p.Lines {
			if l.SellingPlanID != 0 {
				sold = append(sold, l.SellingPlanID)
			}
		}
	}
	slices.Sort(sold)
	var groups map[int64]offers.Group
	err := s.Store.Update(ctx, store.ID, func(tx Tx) (err error) {
		groups, err = tx.PlanGroups(ctx, slices.Compact(sold))
		return err
	})
	if err != nil {
		return nil, err
	}
	cal, err := store.Calendar()
	if err != nil {
		return nil, err
	}
	begun := make(map[int64]beginning, len(bought))
	for _, p := range bought {
		c, _, err := contract.Read(nil, p, store.Settings, s.Clock.Now())
		if err != nil {
			return nil, err
		}
		c.NextBillingDate = p.NextBillingDate
		for _, l := range c.Lines {
			if o, ok := groups[l.SellingPlanID].Option(l.SellingPlanID); ok && l.SellingPlanID != 0 {
				begun[p.ID] = begin(c, o, cal)
				break
			}
		}
	}
	return begun, nil
}

// begin returns how a contract on an option begins: with a free trial, after which
// its first order is due, or with a payment for good.
//
// Without a word on the date the first order is due when the trial ends, or on the
// first fixed day after it whose cut-off has not passed. An option that keeps the
// date charges on the date that the contract would have without the trial, if the
// trial is over by then, and otherwise on the first one of its calendar that is
// not within the trial.
func begin(c contract.Contract, o offers.Option, cal cadence.Calendar) beginning {
	b := beginning{lifelong: o.Lifetime}
	if !o.Trial.Enabled {
		return b
	}
	length := cadence.Policy{Interval: o.Trial.Interval, Count: o.Trial.Count}
	ends := cadence.Series{Policy: length, Calendar: cal, Start: c.CreatedAt}.Nth(1)
	t := contract.Trial{EndsAt: ends, ChargeAt: ends}
	switch {
	case o.Trial.KeepDate && !c.NextBillingDate.IsZero():
		usual := cadence.Series{Policy: c.Billing, Calendar: cal, Start: c.NextBillingDate}
		if t.ChargeAt = usual.Nth(0); t.ChargeAt.Before(ends) {
			t.ChargeAt = usual.Nth(usual.After(ends.Add(-1)))
		}
	case len(c.Billing.Anchors) > 0:
		t.ChargeAt, _ = anchored(c.Billing, o.Cutoff).First(cal, ends, cadence.Next)
	}
	b.trial = &t
	return b
}

// anchored returns the policy with the cut-off of its fixed days, in days, which
// the platform does not tell.
func anchored(p cadence.Policy, cutoff int) cadence.Policy {
	p.Anchors = slices.Clone(p.Anchors)
	for i := range p.Anchors {
		p.Anchors[i].Cutoff = cutoff
	}
	return p
}
