package portal

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// ReadTx is one read-only transaction on one shop's data.
type ReadTx interface {
	billing.ReadTx
	// PortalSettings returns the shop's settings; the default ones, with Version 0, when it has
	// set none. A Tx locks them.
	PortalSettings(ctx context.Context) (Settings, error)
	// PortalPreferences returns a customer's preferences; the default ones, with Version 0, when
	// the customer has set none. A Tx locks them.
	PortalPreferences(ctx context.Context, customer int64) (Preferences, error)
	// SubscriberByID returns the customer with contracts of a line, or NotFound.
	SubscriberByID(ctx context.Context, line shop.Line, customer int64) (login.Subscriber, error)
}

// Tx is one transaction on one shop's data.
type Tx interface {
	ReadTx
	activity.Recorder
	// PutPortalSettings writes settings if their Version is still what was read; otherwise it
	// fails with a Conflict. It raises the version.
	PutPortalSettings(ctx context.Context, s *Settings) error
	// PutPortalPreferences writes preferences under the same rule.
	PutPortalPreferences(ctx context.Context, p *Preferences) error
}

// Store runs transactions. View is for what only reads.
type Store interface {
	View(ctx context.Context, of shop.ID, fn func(ReadTx) error) error
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
}
