package charge

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/cases"
	"github.com/perennialhq/perennial/internal/domain/billing/decide"
	"github.com/perennialhq/perennial/internal/domain/billing/settlement"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// dunned is an attempt whose case is due, and the decision on it.
type dunned struct {
	id       billing.AttemptID
	decision decide.Decision
}

// settleDunned takes the steps of cases that are due.
func (s *Service) settleDunned(ctx context.Context, of shop.ID, list []dunned) error {
	if len(list) == 0 {
		return nil
	}
	ids := make([]billing.AttemptID, len(list))
	for i, d := range list {
		ids[i] = d.id
	}
	return settlement.Update(ctx, s.Env, of, ids, func(tx billing.Tx, u *settlement.Unit) error {
		l := cases.Cases{Unit: u}
		for _, d := range list {
			a := l.Attempts[d.id]
			if a == nil || a.Status != billing.Failure || !a.Dunning.State.Live() {
				continue // a person has changed it
			}
			if err := l.Advance(a, d.decision); err != nil {
				return err
			}
		}
		return l.Close(ctx, tx)
	})
}
