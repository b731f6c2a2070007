package contractedit

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Tags returns the platform's tags of a customer; none when the customer does not exist.
func (s *Service) Tags(ctx context.Context, of shop.ID, customer int64) ([]string, error) {
	store, err := s.ConnectedShop(ctx, of)
	if err != nil {
		return nil, err
	}
	found, err := s.Platform.Customers(platform.Interactive(ctx), store.At(), []int64{customer})
	if err != nil {
		return nil, amend.PlatformError(err)
	}
	if len(found) == 0 {
		return []string{}, nil
	}
	return append([]string{}, found[0].Tags...), nil
}
