package analytics

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

// ActiveByGroup returns how many contracts are ACTIVE, by plan group. 0 stands for plans that
// are not the store's.
func (s *Service) ActiveByGroup(ctx context.Context, of shop.ID) (active map[int64]int64, err error) {
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		zone, err := tx.Zone(ctx)
		if err != nil {
			return err
		}
		last, err := tx.MetricsBefore(ctx, DayOf(s.Clock.Now(), zone)+1, Filter{})
		active = make(map[int64]int64)
		for _, d := range last {
			active[d.Group] += d.Contracts
		}
		return err
	})
	return active, err
}
