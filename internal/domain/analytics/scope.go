package analytics

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Scope is what the figures of a store cover.
type Scope struct {
	Today      Day
	First      Day              // that has figures; 0: there are none
	Currency   money.Currency   // in which the store has most MRR
	Currencies []money.Currency // that occur, Currency first
	Groups     []PlanGroup      // that occur
}

// PlanGroup is a plan group of a store.
type PlanGroup struct {
	ID   int64
	Name string
}

// Scope returns what the figures of a store cover.
func (s *Service) Scope(ctx context.Context, of shop.Shop) (c Scope, err error) {
	err = s.Store.View(ctx, of.ID, func(tx ReadTx) error {
		c = Scope{}
		zone, err := tx.Zone(ctx)
		if err != nil {
			return err
		}
		c.Today = DayOf(s.Clock.Now(), zone)
		if c.First, err = tx.FirstDay(ctx); err != nil {
			return err
		}
		last, err := tx.MetricsBefore(ctx, c.Today+1, Filter{})
		if err != nil {
			return err
		}
		var others []money.Currency
		c.Currency, others = currencies(last, of.Currency)
		c.Currencies = append([]money.Currency{c.Currency}, others...)
		c.Groups, err = tx.PlanGroupNames(ctx)
		return err
	})
	return c, err
}
