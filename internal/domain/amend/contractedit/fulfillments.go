package contractedit

import (
	"context"
	"errors"

	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// OrderFulfillments is the fulfillments of a contract's last renewal order.
type OrderFulfillments struct {
	Contract     contract.Contract // LastOrderID is the order; 0: there is none yet
	Fulfillments []contract.Fulfillment
}

// Fulfillments returns the fulfillments of the contract's last renewal order; none
// before the first one and when the platform no longer has the order.
func (s *Service) Fulfillments(ctx context.Context, of shop.ID, cmd amend.Command) (OrderFulfillments, error) {
	store, known, err := s.Load(ctx, of, cmd)
	if err != nil || known.LastOrderID == 0 {
		return OrderFulfillments{Contract: known}, err
	}
	list, err := s.Platform.Fulfillments(platform.Interactive(ctx), store.At(), known.LastOrderID)
	if err != nil && !errors.Is(err, platform.ErrNotFound) {
		return OrderFulfillments{}, amend.PlatformError(err)
	}
	return OrderFulfillments{known, list}, nil
}
