package web

import (
	"context"
	"net/http"
	"net/url"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// How a key travels.
const (
	keyHeader = "X-API-Key"
	keyParam  = "api_key"

	// keyParamDeprecated is the date since which the parameter is deprecated
	// (2025-01-01), as the Deprecation header writes it.
	keyParamDeprecated = "@1735689600"
)

// Keys knows who a key belongs to. A key that opens nothing is a fault of kind
// Unauthenticated.
type Keys interface {
	Authenticate(ctx context.Context, value string) (access.Caller, error)
}

// Caller is who makes a request.
type Caller struct {
	Key   access.Key
	Shop  shop.Shop
	Actor activity.Actor
}

type callerKey struct{}

// CallerOf returns who makes the request that the context belongs to. It is set
// for every operation.
func CallerOf(ctx context.Context) Caller {
	caller, _ := ctx.Value(callerKey{}).(Caller)
	return caller
}

// authenticate lets only requests through that carry a key.
func (g Gate) authenticate(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	value := r.Header.Get(keyHeader)
	if value == "" {
		if value = keyInQuery(r.URL); value != "" {
			w.Header().Set("Deprecation", keyParamDeprecated)
		}
	}
	if value == "" {
		WriteError(w, r, fault.New(fault.Unauthenticated, "send an API key in the %s header", keyHeader).Keyed("apiKeyMissing"))
		return
	}
	known, err := g.Keys.Authenticate(r.Context(), value)
	if err != nil {
		WriteError(w, r, err)
		return
	}
	t := traceOf(r.Context())
	t.shop, t.key = known.Shop.ID, known.Key.ID
	next(huma.WithValue(ctx, callerKey{}, Caller{
		Key: known.Key, Shop: known.Shop,
		Actor: activity.Actor{Source: activity.MerchantExternalAPI, By: "API key " + known.Key.Name, ClientIP: t.clientIP},
	}))
}

// keyInQuery returns the key in the query. One that is given twice is none.
func keyInQuery(u *url.URL) string {
	if values := u.Query()[keyParam]; len(values) == 1 {
		return values[0]
	}
	return ""
}

// require lets only keys through that carry the scope.
func (a *API) require(scope access.Scope) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		if !CallerOf(ctx.Context()).Key.Allows(scope) {
			r, w := humago.Unwrap(ctx)
			WriteError(w, r, fault.New(fault.Forbidden, "the API key lacks the scope %s", scope).Keyed("scopeMissing").At(string(scope)))
			return
		}
		next(ctx)
	}
}

// announce sets the headers that every answer carries, to what they are for a
// caller who has used nothing up.
func (g Gate) announce(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.Limits.Full().headers(w.Header())
		next.ServeHTTP(w, r)
	})
}

// limit lets only as many requests through as the caller's rate allows.
func (g Gate) limit(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	caller := CallerOf(ctx.Context())
	allowance, err := g.Limits.Take(r.Context(), caller.Shop.ID, caller.Key.ID)
	if err != nil {
		WriteError(w, r, err)
		return
	}
	allowance.headers(w.Header())
	if !allowance.Granted {
		WriteError(w, r, fault.New(fault.TooMany, "the rate limit is used up: wait %d s, and longer each time it happens again", seconds(allowance.RetryAfter)).Keyed("rateLimit"))
		return
	}
	next(ctx)
}
