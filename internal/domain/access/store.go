package access

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// ReadTx is one read-only transaction on one shop's keys.
type ReadTx interface {
	// Keys returns every key, revoked ones too, oldest first.
	Keys(ctx context.Context) ([]Key, error)
}

// Tx is one transaction on one shop's keys.
type Tx interface {
	ReadTx
	// LockKeys makes other changes of the shop's keys wait until this
	// transaction ends.
	LockKeys(ctx context.Context) error
	// PutKey inserts a key whose ID is 0, giving it one, or replaces it under
	// the version rule.
	PutKey(ctx context.Context, k *Key) error
	activity.Recorder
}

// Store runs transactions and finds keys.
type Store interface {
	View(ctx context.Context, of shop.ID, fn func(ReadTx) error) error
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
	// KeyByHash returns the key with the hash and its shop, or NotFound. It is
	// asked before the shop is known.
	KeyByHash(ctx context.Context, h Hash) (Key, shop.Shop, error)
	// KnownHash reports whether some shop has a key with the hash.
	KnownHash(ctx context.Context, h Hash) (bool, error)
	// TouchKey notes when a key was last used, and from which address. An earlier use than the one that is
	// noted changes nothing.
	TouchKey(ctx context.Context, of shop.ID, key KeyID, at time.Time, from string) error
}
