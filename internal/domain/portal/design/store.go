package design

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// ReadTx is one read-only transaction on one shop's data.
type ReadTx interface {
	// PortalDesign returns the shop's design; the default one when it has set none. A Tx locks it.
	PortalDesign(ctx context.Context) (Design, error)
	// PortalLogo returns the picture with a hash, or nil.
	PortalLogo(ctx context.Context, hash string) ([]byte, error)
}

// Tx is one transaction on one shop's data.
type Tx interface {
	ReadTx
	activity.Recorder
	// PutPortalDesign writes a design if its version is still what was read.
	PutPortalDesign(ctx context.Context, d *Design) error
	// AddPortalLogo writes a picture, unless it is there.
	AddPortalLogo(ctx context.Context, p Picture) error
	// DeletePortalLogos deletes all pictures but those with the hashes.
	DeletePortalLogos(ctx context.Context, keep []string) error
}

// Store runs transactions.
type Store interface {
	View(ctx context.Context, of shop.ID, fn func(ReadTx) error) error
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
}
