package connection

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// ReadTx is one read-only transaction on one shop's data.
type ReadTx interface {
	Shop(ctx context.Context) (shop.Shop, error)
	// PlatformConnection returns the connection of an app; without tokens when there is none. A
	// transaction that may write locks it.
	PlatformConnection(ctx context.Context, app AppName) (Connection, error)
}

// Tx is what a change of a connection needs of a transaction.
type Tx interface {
	ReadTx
	// PutPlatformConnection writes a connection.
	PutPlatformConnection(ctx context.Context, c Connection) error
	Record(ctx context.Context, entries ...activity.Entry) error
}

// Store keeps the connections.
type Store interface {
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
	View(ctx context.Context, of shop.ID, fn func(ReadTx) error) error
	// IDOf returns the id of a store, or NotFound.
	IDOf(ctx context.Context, domain string) (shop.ID, error)
	// Connections returns the connections of a store, by app.
	Connections(ctx context.Context, of shop.ID) ([]Connection, error)
	// UseState stores that a state was used, until it expires. It reports false when it
	// was used before.
	UseState(ctx context.Context, state StateHash, now, expires time.Time) (bool, error)
}

// Registrar adds a store to those that are served, or connects it again. It reads the
// store at the platform; its contracts are read later.
type Registrar interface {
	Register(ctx context.Context, at platform.Shop) (shop.Shop, error)
}
