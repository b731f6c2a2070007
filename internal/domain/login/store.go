package login

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Tx is one transaction on one shop's logins.
type Tx interface {
	activity.Recorder
	notify.Outbox
	SubscriberTx
	LinkTx
	AccountTx
	SessionTx
	ThrottleTx
}

// SubscriberTx finds subscribers.
type SubscriberTx interface {
	shop.Reader
	// SubscriberByEmail returns the customer whose newest contract of a line (empty: any)
	// has the address, ignoring case, or NotFound.
	SubscriberByEmail(ctx context.Context, line shop.Line, email string) (Subscriber, error)
	// SubscriberByID returns the customer with the id, or NotFound.
	SubscriberByID(ctx context.Context, line shop.Line, customer int64) (Subscriber, error)
}

// LinkTx reads and writes sign-in links.
type LinkTx interface {
	// AddLink stores a link and deletes some expired ones.
	AddLink(ctx context.Context, l Link) error
	// Link returns the link with the hash and locks it, or NotFound.
	Link(ctx context.Context, h Hash) (Link, error)
	// UseLink marks a link as used.
	UseLink(ctx context.Context, h Hash, at time.Time) error
}

// AccountTx reads and writes sign-ins with an account that have begun.
type AccountTx interface {
	// AddAccountSignIn stores a sign-in and deletes some expired ones.
	AddAccountSignIn(ctx context.Context, a AccountSignIn) error
	// AccountSignIn returns the sign-in with the state and locks it, or NotFound.
	AccountSignIn(ctx context.Context, state Hash) (AccountSignIn, error)
	// UseAccountSignIn marks a sign-in as used, and forgets its secrets.
	UseAccountSignIn(ctx context.Context, state Hash, at time.Time) error
}

// SessionTx writes sessions.
type SessionTx interface {
	// AddSession stores a session and deletes some expired ones.
	AddSession(ctx context.Context, s Session) error
	// TouchSession stores when a session was last used.
	TouchSession(ctx context.Context, h Hash, at time.Time) error
	// EndSession deletes a session, if it exists.
	EndSession(ctx context.Context, h Hash) error
}

// ThrottleTx reads and writes rate limits.
type ThrottleTx interface {
	// Throttle returns the count of a subject and locks it.
	Throttle(ctx context.Context, subject string) (Throttle, error)
	// PutThrottle writes a count and deletes some expired ones.
	PutThrottle(ctx context.Context, t Throttle, now time.Time) error
}

// Store runs transactions and reads.
type Store interface {
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
	// ShopByDomain returns a store, or NotFound.
	ShopByDomain(ctx context.Context, domain string) (shop.Shop, error)
	// SessionByHash returns a session without a transaction, or NotFound.
	SessionByHash(ctx context.Context, of shop.ID, h Hash) (Session, error)
	// AccountClient returns the store's client of customer accounts, whose id is empty when the merchant
	// has set none.
	AccountClient(ctx context.Context, of shop.ID) (platform.AccountClient, error)
	// LinkByHash returns a link without a transaction, or NotFound.
	LinkByHash(ctx context.Context, of shop.ID, h Hash) (Link, error)
	// ContractsOf returns at most limit contracts of a customer, newest first.
	ContractsOf(ctx context.Context, of shop.ID, customer int64, limit int) ([]contract.Contract, error)
}
