package login

import (
	"context"
	"net/url"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// ProxyAuthenticator authenticates customers who are signed in to their store and whose
// requests the platform forwards. It stores nothing: each request carries its own proof.
type ProxyAuthenticator struct {
	Proxy platform.Proxy
	Shops interface {
		// ShopByDomain returns a store, or NotFound.
		ShopByDomain(ctx context.Context, domain string) (shop.Shop, error)
	}
	Clock clock.Clock
}

// Visitor is an authenticated customer.
type Visitor struct {
	Principal
	Store  shop.Shop
	Prefix string     // path that the shopper knows for the interface: of the app proxy at the store's domain, or on the service's address
	Query  url.Values // the customer's own query parameters
}

// Enter returns who makes a request, or Unauthenticated, with the store where only the customer is missing. With named, the request's
// own query may name the store; another store than the shopper's is Invalid.
func (d ProxyAuthenticator) Enter(ctx context.Context, query url.Values, named bool) (Visitor, error) {
	v, err := d.Proxy.Open(query, named, d.Clock.Now())
	if err != nil {
		return Visitor{}, err
	}
	store, err := d.Shops.ShopByDomain(ctx, v.Shop)
	if fault.Is(err, fault.NotFound) {
		return Visitor{}, fault.New(fault.Unauthenticated, "the store %s has not installed the app", v.Shop).Entity("shop").Code("shopUnknown")
	}
	if err != nil {
		return Visitor{}, err
	}
	switch {
	case v.Customer == 0:
		return Visitor{Principal: Principal{Via: ByProxy}, Store: store, Prefix: v.Prefix, Query: v.Query}, fault.New(fault.Unauthenticated, "the customer is not signed in to the store").Entity(entity).Code("signedOut")
	case v.Elsewhere:
		return Visitor{}, fault.New(fault.Invalid, "the shop that the query names is not the one that the shopper is at").Code("shopMismatch").Field("shop")
	}
	return Visitor{Principal: Principal{Shop: store.ID, Customer: v.Customer, Via: ByProxy}, Store: store, Prefix: v.Prefix, Query: v.Query}, nil
}
