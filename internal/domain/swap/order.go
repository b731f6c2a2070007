package swap

import (
	"context"
	"slices"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Switch has a rule change orders again, or no longer. What it has changed stays. A version that
// is not 0 must be that of the rule.
func (s *Service) Switch(ctx context.Context, of shop.ID, line shop.Line, id ID, version int64, on bool, by activity.Actor) (r Rule, err error) {
	err = s.Store.Update(ctx, of, func(tx Tx) error {
		if r, err = tx.SwapRule(ctx, line, id); err != nil {
			return err
		}
		if version != 0 && r.Version != version {
			return fault.New(fault.Conflict, "swap rule %d has changed", id).Entity(entity).Code("changedMeanwhile")
		}
		if r.Off == !on {
			return nil
		}
		now := s.Clock.Now()
		r.Off, r.UpdatedAt = !on, now
		if err := tx.PutSwapRule(ctx, &r); err != nil {
			return err
		}
		return tx.Record(ctx, r.entry(activity.Updated, by, now))
	})
	return r, err
}

// Move evaluates a rule before the one that comes before it in its line, or, down, after the one
// that follows. The first rule cannot move up, nor the last one down: nothing is changed.
func (s *Service) Move(ctx context.Context, of shop.ID, line shop.Line, id ID, down bool, by activity.Actor) error {
	return s.Store.Update(ctx, of, func(tx Tx) error {
		if _, err := tx.SwapRule(ctx, line, id); err != nil {
			return err
		}
		rules, err := tx.SwapRules(ctx)
		if err != nil {
			return err
		}
		rules = slices.DeleteFunc(rules, func(r Rule) bool { return r.Line != line })
		now := s.Clock.Now()
		for _, r := range moved(rules, id, down) {
			r.UpdatedAt = now
			if err := tx.PutSwapRule(ctx, &r); err != nil {
				return err
			}
			if err := tx.Record(ctx, r.entry(activity.Updated, by, now)); err != nil {
				return err
			}
		}
		return nil
	})
}

// moved returns the rules that have another sequence when one changes places with its neighbour.
// Sequences that differ are exchanged; others are counted anew.
func moved(rules []Rule, id ID, down bool) []Rule {
	Sort(rules)
	at := slices.IndexFunc(rules, func(r Rule) bool { return r.ID == id })
	to := at - 1
	if down {
		to = at + 1
	}
	if at < 0 || to < 0 || to >= len(rules) {
		return nil
	}
	order := slices.Clone(rules)
	order[at], order[to] = order[to], order[at]
	if a, b := rules[at].Sequence, rules[to].Sequence; a != b {
		order[at].Sequence, order[to].Sequence = a, b
		return []Rule{order[at], order[to]}
	}
	var list []Rule
	for i, r := range order {
		if r.Sequence != i+1 {
			r.Sequence = i + 1
			list = append(list, r)
		}
	}
	return list
}
