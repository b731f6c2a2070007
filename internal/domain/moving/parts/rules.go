package parts

import (
	"cmp"
	"context"
	"slices"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/swap"
)

// rules moves swap rules. A rule has no name that is its own: it is found here by what it does.
type rules struct{}

func (rules) judge(ctx context.Context, j *job, p moving.Part) (list []moving.Finding, err error) {
	r := *p.Data.Rule
	f := (*moving.Findings)(&list)
	if err := r.Check(); err != nil {
		text, _ := refusal(err)
		f.Add(moving.Stays, "ruleInvalid", "", "The rule cannot be made here: %s.", text)
		return list, nil
	}
	gone, err := j.gone(ctx, swap.Variants([]swap.Rule{r}))
	if err != nil {
		return nil, err
	}
	for _, id := range gone {
		f.Add(moving.Stays, "variantGone", "sourceVariants", "The store no longer has variant %d: replace it in the rule, then read the parts again.", id)
	}
	if r.Cycle > 0 {
		f.Add(moving.Changes, "cycleCounted", "forBillingCycle", "The rule names billing cycle %d. Contracts that move begin with cycle 1 here: look at what it makes of them.", r.Cycle)
	}
	return list, nil
}

func (rules) make(ctx context.Context, j *job, p *moving.Part) error {
	wanted := *p.Data.Rule
	wanted.ID, wanted.Line, wanted.Version = 0, line(*p), 0
	had, _, err := j.SwapBook.SwapRulesOf(ctx, j.store.ID, wanted.Line, page.Request{Size: mostListed})
	if err != nil {
		return err
	}
	made, err := j.made(ctx, moving.RulePart)
	if err != nil {
		return err
	}
	for _, r := range had {
		taken := slices.ContainsFunc(made, func(o moving.Part) bool { return o.Here == int64(r.ID) })
		if !taken && sameRule(r, wanted) {
			p.Here = int64(r.ID)
			return nil
		}
	}
	r, err := j.Swaps.Create(ctx, j.store, wanted, activity.System)
	p.Here = int64(r.ID)
	return err
}

func (rules) changed(was, is moving.PartData) string {
	if was.Rule == nil || is.Rule == nil || sameRule(*was.Rule, *is.Rule) && was.Rule.Sequence == is.Rule.Sequence {
		return ""
	}
	return "what it does"
}

// sameRule reports whether two rules do the same.
func sameRule(a, b swap.Rule) bool {
	shift := func(r swap.Rule) int {
		if r.ShiftDays == nil {
			return 0
		}
		return *r.ShiftDays
	}
	return a.Name == b.Name && sameProducts(a.Sources, b.Sources) && sameProducts(a.Destinations, b.Destinations) &&
		a.FirstOrder == b.FirstOrder && a.EveryOrder == b.EveryOrder && a.Cycle == b.Cycle && a.CarryDiscount == b.CarryDiscount && a.Off == b.Off &&
		cmp.Or(a.Discount, swap.None) == cmp.Or(b.Discount, swap.None) && shift(a) == shift(b) && (a.ShiftDays == nil) == (b.ShiftDays == nil) && a.NoEmail == b.NoEmail
}

func sameProducts(a, b []swap.Product) bool {
	return slices.EqualFunc(a, b, func(a, b swap.Product) bool { return a.VariantID == b.VariantID && a.Quantity == b.Quantity })
}

// gone returns those of some variants that the store does not have.
func (j *job) gone(ctx context.Context, ids []int64) ([]int64, error) {
	sold, err := swap.Sold(ctx, j.Platform, j.store, ids)
	if err != nil {
		return nil, unavailable(err)
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return sold[id].ID == id }), nil
}
