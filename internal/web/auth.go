package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// How a key travels.
const (
	keyHeader    = "X-API-Key"
	keyParam     = "api_key"
	appKeyHeader = "X-App-Key"

	// keyParamDeprecated is the date since which the parameter is deprecated
	// (2025-01-01), as the Deprecation header writes it.
	keyParamDeprecated = "@1735689600"
)

// Keys knows who a key belongs to. A key that opens nothing is a fault of kind
// Unauthenticated.
type Keys interface {
	Authenticate(ctx context.Context, value string) (access.Caller, error)
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

// Caller is who makes a request.
type Caller struct {
	Key   access.Key
	Shop  shop.Shop
	Actor activity.Actor
}

// keyed reports whether callers have keys.
func (g Gate) keyed() bool { return !g.Apps && g.Shoppers == nil }

type (
	callerKey struct{}
	appKey    struct{}
)

// CallerOf returns who makes the request that the context belongs to. It is set
// for every operation of an audience whose callers have keys or are shoppers, who
// have none.
func CallerOf(ctx context.Context) Caller {
	caller, _ := ctx.Value(callerKey{}).(Caller)
	return caller
}

// AppOf returns the application that makes the request. It is set for every
// operation of an audience of applications.
func AppOf(ctx context.Context) partner.App {
	app, _ := ctx.Value(appKey{}).(partner.App)
	return app
}

// authenticate lets only requests through that carry a key and, when they name an
// application, one that is served.
func (g Gate) authenticate(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	switch {
	case g.Apps:
		g.authenticateApp(ctx, next)
		return
	case g.Shoppers != nil:
		g.authenticateShopper(ctx, next)
		return
	}
	if len(r.Header.Values(keyHeader)) > 1 { // a proxy and the service might each read another one
		WriteError(w, r, fault.New(fault.Unauthenticated, "send one %s header: there are %d", keyHeader, len(r.Header.Values(keyHeader))).Code("apiKeyAmbiguous"))
		return
	}
	value := r.Header.Get(keyHeader)
	if value == "" {
		if value = keyInQuery(r.URL); value != "" {
			w.Header().Set("Deprecation", keyParamDeprecated)
		}
	}
	if value == "" {
		WriteError(w, r, fault.New(fault.Unauthenticated, "send an API key in the %s header", keyHeader).Code("apiKeyMissing"))
		return
	}
	known, err := g.Keys.Authenticate(r.Context(), value)
	if err != nil {
		WriteError(w, r, err)
		return
	}
	t := traceOf(r.Context())
	t.shop, t.key = known.Shop.ID, known.Key.ID
	caller := Caller{
		Key: known.Key, Shop: known.Shop,
		Actor: activity.Actor{Source: activity.MerchantExternalAPI, By: "API key " + known.Key.Name, ClientIP: t.clientIP},
	}
	app, err := g.pair(r, &caller)
	if err != nil {
		WriteError(w, r, err)
		return
	}
	next(huma.WithValue(ctx, callerKey{}, caller))
	if app != "" {
		g.Partners.Used(r.Context(), caller.Shop.ID, app, partner.ConnectionID(caller.Key.Connection), failed(w))
	}
}

// pair returns the application that a request is made by, if it is: the one that
// X-App-Key names beside a merchant's key, or that the token belongs to. It is
// named in the activity log.
func (g Gate) pair(r *http.Request, caller *Caller) (access.AppID, error) {
	if caller.Key.App != "" {
		caller.Actor.By = "partner app " + caller.Key.Name
	}
	values := r.Header.Values(appKeyHeader)
	if len(values) == 0 {
		return caller.Key.App, nil
	}
	wrong := fault.New(fault.Unauthenticated, "the application key is not valid").Entity("partnerApp").Code("appKeyInvalid")
	if len(values) > 1 || g.Partners == nil {
		return "", wrong
	}
	app, err := g.Partners.ByKey(r.Context(), values[0])
	if err != nil {
		return "", err
	}
	if caller.Key.App != "" && caller.Key.App != app.ID {
		return "", fault.New(fault.Unauthenticated, "the application key and the token belong to different applications").Entity("partnerApp").Code("appKeyMismatch")
	}
	if caller.Key.App == "" {
		caller.Actor.By += " (partner app " + app.Name + ")"
	}
	return app.ID, nil
}

// failed reports whether a request was answered with an error.
func failed(w http.ResponseWriter) bool {
	rec, ok := w.(interface{ answered() int })
	return ok && rec.answered() >= http.StatusBadRequest
}

// authenticateApp lets only requests of the application through that the path
// names.
func (g Gate) authenticateApp(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	w.Header().Set("WWW-Authenticate", `Basic realm="perennial", charset="UTF-8"`)
	id, secret, ok := r.BasicAuth()
	if !ok || id != ctx.Param("id") {
		WriteError(w, r, fault.New(fault.Unauthenticated, "send the application's id, which the path names, and its secret as Basic credentials").
			Entity("partnerApp").Code("partnerCredentialsMissing"))
		return
	}
	app, err := g.Partners.Authenticate(r.Context(), access.AppID(id), secret)
	if err != nil {
		WriteError(w, r, err)
		return
	}
	w.Header().Del("WWW-Authenticate")
	next(huma.WithValue(ctx, appKey{}, app))
}

// keyInQuery returns the key in the query. One that is given twice is none.
func keyInQuery(u *url.URL) string {
	if values := u.Query()[keyParam]; len(values) == 1 {
		return values[0]
	}
	return ""
}

// require lets only keys through that carry every scope that an operation needs
// on this host.
func (a *API) require(op Operation) func(huma.Context, func(huma.Context)) {
	needed := access.Required(op.Scope, a.gate.Line, op.Method != http.MethodGet)
	return func(ctx huma.Context, next func(huma.Context)) {
		if !a.gate.keyed() {
			next(ctx)
			return
		}
		key := CallerOf(ctx.Context()).Key
		var missing []string
		for _, scope := range needed {
			if !key.Allows(scope) {
				missing = append(missing, string(scope))
			}
		}
		if len(missing) == 0 {
			next(ctx)
			return
		}
		r, w := humago.Unwrap(ctx)
		list := strings.Join(missing, " ")
		p := problemOf(r, fault.New(fault.Forbidden, "the API key lacks the scope %s", strings.Join(missing, " and ")).Code("insufficientScope").Field(list))
		for _, scope := range needed {
			p.Required = append(p.Required, string(scope))
		}
		w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+list+`"`)
		writeProblem(w, p)
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
	allowance, err := g.Limits.Take(r.Context(), g.bucket(ctx.Context()))
	if err != nil {
		WriteError(w, r, err)
		return
	}
	allowance.headers(w.Header())
	if !allowance.Granted {
		WriteError(w, r, fault.New(fault.RateLimited, "the rate limit is used up: wait %d s, and longer each time it happens again", seconds(allowance.RetryAfter)).Code("rateLimit"))
		return
	}
	next(ctx)
}

// bucket returns the bucket of a request's caller.
func (g Gate) bucket(ctx context.Context) access.Bucket {
	if g.Apps {
		return access.AppBucket(AppOf(ctx).ID)
	}
	caller := CallerOf(ctx)
	if g.Shoppers != nil {
		return access.ShopperBucket(caller.Shop, caller.Actor.Customer)
	}
	return access.Bucket{Shop: caller.Shop.ID, Key: caller.Key.ID, Rate: access.RateOf(caller.Shop.Settings)}
}
