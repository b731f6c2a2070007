package intake

import (
	"context"
	"fmt"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Adopt stores a contract as the platform returned it after an edit of ours, with the
// author's entries, in one commit, and returns it. The webhook about the same edit then
// changes nothing; one that arrives first is deferred while the edit is in flight.
func (s *Service) Adopt(ctx context.Context, store shop.Shop, fresh platform.Contract, by AuthoredChange) (contract.Contract, error) {
	if err := s.storeContracts(ctx, store, []platform.Contract{fresh}, &by, nil); err != nil {
		return contract.Contract{}, fmt.Errorf("store contract %d: %w", fresh.ID, err)
	}
	var adopted contract.Contract
	err := s.Store.View(ctx, store.ID, func(tx ReadTx) error {
		rows, err := tx.Contracts(ctx, []contract.ID{contract.ID(fresh.ID)})
		if err == nil && len(rows) != 1 {
			err = fmt.Errorf("contract %d was stored and is gone", fresh.ID)
		}
		if err == nil {
			adopted = rows[0]
		}
		return err
	})
	return adopted, err
}
