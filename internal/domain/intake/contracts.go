package intake

import (
	"context"
	"fmt"
	"slices"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// storeContracts stores fresh readings. If an author is given, it made all the changes.
// Contracts that are deferred are added to waits; without waits, none is deferred.
func (s *Service) storeContracts(ctx context.Context, store shop.Shop, fresh []platform.Contract, by *AuthoredChange, waits deferredContracts) error {
	var known map[contract.ID]*contract.Contract
	err := s.Store.View(ctx, store.ID, func(tx ReadTx) (err error) {
		known, err = storedContracts(ctx, tx, contractIDs(fresh))
		return err
	})
	if err != nil {
		return err
	}
	found, err := s.compare(ctx, store, fresh, known, by)
	if err != nil || !found.changed {
		return err
	}
	return s.Store.Update(ctx, store.ID, func(tx Tx) error { return s.write(ctx, tx, found, by, waits) })
}

// storedContracts reads stored contracts for a first comparison; write compares again.
func storedContracts(ctx context.Context, tx ReadTx, ids []contract.ID) (map[contract.ID]*contract.Contract, error) {
	rows, err := tx.ReadContracts(ctx, ids)
	known := make(map[contract.ID]*contract.Contract, len(rows))
	for i := range rows {
		known[rows[i].ID] = &rows[i]
	}
	return known, err
}

// read reads contracts at the platform and stores them, with a new queue where
// necessary. Contracts that are deferred are added to waits; without waits, none is
// deferred.
func (s *Service) read(ctx context.Context, store shop.Shop, ids []contract.ID, waits deferredContracts) error {
	for chunk := range slices.Chunk(ids, platform.MaxIDs) {
		fresh, err := s.fetch(ctx, store, chunk)
		if err != nil {
			return err
		}
		if err := s.storeContracts(ctx, store, fresh, nil, waits); err != nil {
			return err
		}
	}
	return nil
}

// fetch reads contracts at the platform.
func (s *Service) fetch(ctx context.Context, store shop.Shop, ids []contract.ID) ([]platform.Contract, error) {
	var fresh []platform.Contract
	for chunk := range slices.Chunk(ids, platform.MaxIDs) {
		asked := make([]int64, len(chunk))
		for i, id := range chunk {
			asked[i] = int64(id)
		}
		part, err := s.Platform.Contracts(ctx, store.At(), asked)
		if err != nil {
			return nil, fmt.Errorf("read %d contracts: %w", len(chunk), err)
		}
		fresh = append(fresh, part...)
	}
	return fresh, nil
}
