package connection

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Forget removes what a store has granted to the primary app: from now on it is called
// with the token that an operator gave.
func Forget(ctx context.Context, store Store, of shop.ID) error {
	return store.Update(ctx, of, func(tx Tx) error {
		if _, err := tx.PlatformConnection(ctx, Primary); err != nil {
			return err
		}
		return tx.PutPlatformConnection(ctx, Connection{App: Primary})
	})
}
