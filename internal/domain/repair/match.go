package repair

import (
	"context"
	"fmt"
	"slices"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

// matchCharges settles what the platform says of charges, and looks for the cycles of
// those that no attempt has.
func (s *Service) matchCharges(ctx context.Context, c *comparison, found []platform.Attempt) error {
	if len(found) == 0 {
		return nil
	}
	var paid []platform.Attempt
	for _, p := range found {
		c.asked[p.ID] = true
		if p.State == platform.Succeeded && p.Order.ID != 0 {
			paid = append(paid, p)
		}
	}
	var lost []platform.Attempt
	mine := make(map[string][]billing.Attempt) // attempts that a lost charge may belong to, by its id
	err := s.Store.Update(ctx, c.store.ID, func(tx Tx) error {
		lost = nil
		if err := s.Billing.Settle(ctx, tx, found); err != nil {
			return err
		}
		seen, rest, err := match(ctx, tx, paid)
		if err != nil {
			return err
		}
		for _, p := range rest {
			mine[p.ID] = seen.of[contract.ID(p.Contract)]
			lost = append(lost, p)
		}
		c.seen = append(c.seen, seen.differ...)
		return nil
	})
	if err != nil {
		return fmt.Errorf("settle what the platform charged: %w", err)
	}
	for _, p := range lost {
		if err := s.place(ctx, c, p, mine[p.ID]); err != nil {
			return err
		}
	}
	return nil
}

// matches are the attempts of contracts, and where they differ from the platform.
type matches struct {
	of     map[contract.ID][]billing.Attempt
	differ []Finding
}

// match finds our attempt of each successful charge and returns those that have
// none.
func match(ctx context.Context, tx Tx, paid []platform.Attempt) (m matches, rest []platform.Attempt, err error) {
	keys := make([]string, len(paid))
	for i, p := range paid {
		keys[i] = p.Key
	}
	rows, err := tx.AttemptsByKey(ctx, keys)
	if err != nil {
		return m, nil, err
	}
	byKey := make(map[string]billing.Attempt, len(rows))
	for _, a := range rows {
		byKey[a.Key] = a
	}
	var contracts []contract.ID
	for _, p := range paid {
		if a, ok := byKey[p.Key]; ok && a.PlatformID == p.ID {
			if f, differs := compareAmounts(a, p); differs {
				m.differ = append(m.differ, f)
			}
			continue
		}
		rest, contracts = append(rest, p), append(contracts, contract.ID(p.Contract))
	}
	if len(rest) == 0 {
		return m, nil, nil
	}
	all, err := tx.AttemptsOf(ctx, contracts)
	if err != nil {
		return m, nil, err
	}
	m.of = billing.ByContract(all)
	rest = slices.DeleteFunc(rest, func(p platform.Attempt) bool {
		for _, a := range m.of[contract.ID(p.Contract)] {
			if a.PlatformID != p.ID {
				continue
			}
			if f, differs := compareAmounts(a, p); differs {
				m.differ = append(m.differ, f)
			}
			return true
		}
		return false
	})
	return m, rest, nil
}

// place finds the cycle of a charge that carries no key of ours, and takes it over
// where the cycle has no order yet.
func (s *Service) place(ctx context.Context, c *comparison, p platform.Attempt, mine []billing.Attempt) error {
	near := func(a, b billing.Attempt) int {
		return int(a.BillingDate.Sub(p.CreatedAt).Abs() - b.BillingDate.Sub(p.CreatedAt).Abs())
	}
	slices.SortStableFunc(mine, near)
	mine = mine[:min(len(mine), platform.MaxCharges)]
	states, err := s.Platform.CycleStates(ctx, c.store.At(), cyclesOf(mine))
	if err != nil {
		return fmt.Errorf("look for the cycle of charge %s: %w", p.ID, err)
	}
	for i, state := range states {
		if !slices.ContainsFunc(state.Attempts, func(o platform.Attempt) bool { return o.ID == p.ID }) {
			continue
		}
		if mine[i].Status == billing.Success {
			if f, differs := compareAmounts(mine[i], p); differs {
				c.seen = append(c.seen, f)
			}
			return nil
		}
		return s.Store.Update(ctx, c.store.ID, func(tx Tx) error { return s.Billing.Claim(ctx, tx, mine[i].ID, p) })
	}
	c.seen = append(c.seen, unknown(p))
	return nil
}
