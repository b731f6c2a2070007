package intake

import (
	"context"
	"errors"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// syncTries is how often contracts are stored again when another writer has changed
// them.
const syncTries = 4

// SyncCustomer reads all contracts of a customer as the platform holds them now, also
// those that no webhook reported.
func (s *Service) SyncCustomer(ctx context.Context, of shop.ID, customer int64) error {
	const entity = "customer"
	ctx = platform.Interactive(ctx)
	var store shop.Shop
	err := s.Store.View(ctx, of, func(tx ReadTx) (err error) {
		store, err = tx.Shop(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if !store.Connected {
		return fault.New(fault.FailedPrecondition, "the store's connection to the platform is gone").Entity(entity).Code("connectionGone")
	}
	found, err := s.Platform.CustomerContracts(ctx, store.At(), customer)
	if errors.Is(err, platform.ErrNotFound) {
		return fault.New(fault.NotFound, "the platform has no customer %d in this store", customer).Entity(entity).Code("customerNotFound").Field("customerId")
	}
	if err != nil {
		return platform.Explain(err, entity, "customer")
	}
	ids := make([]contract.ID, len(found))
	for i, id := range found {
		ids[i] = contract.ID(id)
	}
	fresh, err := s.fetch(ctx, store, ids)
	if err != nil {
		return platform.Explain(err, entity, "customer")
	}
	for try := 1; ; try++ {
		if err = s.storeContracts(ctx, store, fresh, nil, nil); !fault.Is(err, fault.Conflict) || try == syncTries {
			return err
		}
	}
}
