package login

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Tx is one transaction on one shop's logins.
type Tx interface {
	notify.Outbox
	Shop(ctx context.Context) (shop.Shop, error)

	// SubscriberByEmail returns the customer whose newest contract of a line
	// (empty: any) has the address, in any letter case, or NotFound.
	SubscriberByEmail(ctx context.Context, line shop.Line, email string) (Subscriber, error)
	// SubscriberByID returns the customer with the number, or NotFound.
	SubscriberByID(ctx context.Context, line shop.Line, customer int64) (Subscriber, error)

	// AddLink keeps a link and forgets some that expired before it was made.
	AddLink(ctx context.Context, l Link) error
	// Link returns the link with the hash, locked, or NotFound.
	Link(ctx context.Context, h Hash) (Link, error)
	// UseLink notes that a link was used.
	UseLink(ctx context.Context, h Hash, at time.Time) error

	// AddSession keeps a session and forgets some that expired before it began.
	AddSession(ctx context.Context, s Session) error
	// TouchSession notes that a session was used.
	TouchSession(ctx context.Context, h Hash, at time.Time) error
	// EndSession forgets a session. One that is not there is none.
	EndSession(ctx context.Context, h Hash) error

	// Throttle returns what is counted for a subject, locked: others who ask for
	// it wait until this transaction ends.
	Throttle(ctx context.Context, subject string) (Throttle, error)
	// PutThrottle writes what is counted, and forgets some of what counts no
	// more.
	PutThrottle(ctx context.Context, t Throttle, now time.Time) error
}

// Store runs transactions and reads.
type Store interface {
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
	// ShopByDomain returns a store, or NotFound.
	ShopByDomain(ctx context.Context, domain string) (shop.Shop, error)
	// SessionByHash returns a session without a transaction, or NotFound.
	SessionByHash(ctx context.Context, of shop.ID, h Hash) (Session, error)
	// LinkByHash returns a link without a transaction, or NotFound.
	LinkByHash(ctx context.Context, of shop.ID, h Hash) (Link, error)
	// ContractsOf returns at most limit contracts of a customer, newest first.
	ContractsOf(ctx context.Context, of shop.ID, customer int64, limit int) ([]contract.Contract, error)
}
