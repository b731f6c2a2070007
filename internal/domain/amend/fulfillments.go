package amend

import (
	"context"
	"errors"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// OrderFulfillments is what was sent of a contract's last renewal order.
type OrderFulfillments struct {
	Contract     contract.Contract // its LastOrderID is the order's; 0: there was none yet
	Fulfillments []contract.Fulfillment
}

// OrderFulfillments returns what was sent of the contract's last renewal order; nothing before the
// first one, and nothing of an order that the platform does not know any more.
func (s *Service) Fulfillments(ctx context.Context, of shop.ID, cmd Command) (OrderFulfillments, error) {
	store, known, err := s.known(ctx, of, cmd)
	if err != nil || known.LastOrderID == 0 {
		return OrderFulfillments{Contract: known}, err
	}
	list, err := s.Platform.Fulfillments(platform.Interactive(ctx), store.At(), known.LastOrderID)
	if err != nil && !errors.Is(err, platform.ErrNotFound) {
		return OrderFulfillments{}, unanswered(err)
	}
	return OrderFulfillments{known, list}, nil
}
