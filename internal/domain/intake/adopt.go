package intake

import (
	"context"
	"fmt"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// AuthoredChange is a change of a contract of which we know who made it, because we
// carried it to the platform.
type AuthoredChange struct {
	Entries      []activity.Entry         // in place of those that a reading owes
	Update       func(*contract.Contract) // what the change alters of what only we keep; may be nil
	StatusChange *contract.Move           // the change of status that was made; nil: none
}

// Adopt takes over what the platform answered to a change of ours, with the
// entries of its author, in one commit, and returns the contract as it is then.
// The webhook that tells of the same change finds nothing left to do; one that is
// quicker waits, where the change was announced.
func (s *Service) Adopt(ctx context.Context, store shop.Shop, fresh platform.Contract, by AuthoredChange) (contract.Contract, error) {
	if err := s.take(ctx, store, []platform.Contract{fresh}, &by, nil); err != nil {
		return contract.Contract{}, fmt.Errorf("take over contract %d: %w", fresh.ID, err)
	}
	var adopted contract.Contract
	err := s.Store.Update(ctx, store.ID, func(tx Tx) error {
		rows, err := tx.Contracts(ctx, []contract.ID{contract.ID(fresh.ID)})
		if err == nil && len(rows) != 1 {
			err = fmt.Errorf("contract %d was taken over and is gone", fresh.ID)
		}
		if err == nil {
			adopted = rows[0]
		}
		return err
	})
	return adopted, err
}
