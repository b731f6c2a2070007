package store

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

// ExecFor runs a statement in a transaction on a shop's data.
func (db *DB) ExecFor(ctx context.Context, of shop.ID, statement string) error {
	return db.Update(ctx, of, func(tx *Tx) error {
		_, err := tx.q.NewRaw(statement).Exec(ctx)
		return err
	})
}
