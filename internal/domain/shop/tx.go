package shop

import "context"

// Reader reads the shop of a transaction.
type Reader interface {
	// Shop is not locked.
	Shop(ctx context.Context) (Shop, error)
}

// Tx reads and writes the shop of a transaction.
type Tx interface {
	Reader
	// PutShop fails with a Conflict when the shop has changed since it was read.
	PutShop(ctx context.Context, s Shop) error
}
