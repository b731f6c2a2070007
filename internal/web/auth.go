package web

import (
	"net/http"
	"net/url"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/partner"
)

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
	known, err := g.Keys.Authenticate(r.Context(), value, ClientIP(r.Context()))
	if err != nil {
		WriteError(w, r, err)
		return
	}
	t := traceOf(r.Context())
	t.shop, t.key, t.keyName, t.app = known.Shop.ID, known.Key.ID, known.Key.Name, known.Key.App
	caller := Caller{
		Key: known.Key, Shop: known.Shop,
		Actor: activity.Actor{Source: activity.MerchantExternalAPI, By: "API key " + known.Key.Name, ClientIP: t.clientIP, Request: t.id},
	}
	app, err := g.pair(r, &caller)
	if err != nil {
		WriteError(w, r, err)
		return
	}
	t.app = app
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
