package web

import (
	"context"
	"net/http"
	"net/url"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/idempotency"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Gate is what a request passes before its operation sees it.
type Gate struct {
	Keys     Keys
	Partners Partners // nil: no application is known
	Apps     bool     // the callers are applications with their own secrets, not holders of keys
	Shoppers Shoppers // nil: callers are not shoppers; otherwise all of them are
	Limits   Limiter
	Answers  Answers
	Line     shop.Line   // keeps the answers of two hosts with the same paths apart
	Clock    clock.Clock // how long an answer is kept
}

// Keys authenticates API keys. An invalid key is a fault of kind Unauthenticated.
type Keys interface {
	Authenticate(ctx context.Context, value, clientIP string) (access.Caller, error)
}

// Partners knows applications of partners.
type Partners interface {
	// ByKey returns the live application that an X-App-Key belongs to; anything
	// else is Unauthenticated.
	ByKey(ctx context.Context, value string) (partner.App, error)
	// Authenticate returns the application that proves itself with its secret.
	Authenticate(ctx context.Context, id access.AppID, secret string) (partner.App, error)
	// Used counts a call; connection 0 means with a merchant's key.
	Used(ctx context.Context, of shop.ID, app access.AppID, connection partner.ConnectionID, failed bool)
}

// Shoppers authenticates requests of shoppers: those that the platform's app proxy forwards from
// a store's own domain, or those of a session on the service's address.
type Shoppers interface {
	// Enter returns who makes a request with a query. With named, the query may name the
	// store too. A shopper who is not signed in is Unauthenticated; where only that is
	// missing, the visitor's store is returned all the same.
	Enter(r *http.Request, query url.Values, named bool) (login.Visitor, error)
}

// Answers keeps what requests of a shop were answered. It is shared by all
// nodes: of claims made at once it grants one.
type Answers interface {
	// Claim records a claim unless something stands against it, and returns
	// what is recorded then.
	Claim(ctx context.Context, of shop.ID, c idempotency.Claim) (idempotency.Record, error)
	// Keep records the answer to a claim. It does nothing for a claim that was
	// lost.
	Keep(ctx context.Context, of shop.ID, c idempotency.Claim, a idempotency.Answer) error
	// Release ends a claim without an answer. It does nothing for a claim that
	// was lost.
	Release(ctx context.Context, of shop.ID, c idempotency.Claim) error
}

// keyed reports whether callers have keys.
func (g Gate) keyed() bool { return !g.Apps && g.Shoppers == nil }
