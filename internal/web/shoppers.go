package web

import (
	"errors"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// paramShop is the one parameter that both an operation and the platform can have.
const paramShop = "shop"

// authenticateShopper lets only requests of shoppers through that are signed in at
// their store. What the platform added to the query is taken out of it: an operation
// sees what the shopper asked, and links lead back to the store's domain.
func (g Gate) authenticateShopper(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		WriteError(w, r, fault.Because(fault.Invalid, err, "the query is not well formed: percent-encode names and values"))
		return
	}
	named := slices.ContainsFunc(ctx.Operation().Parameters, func(p *huma.Param) bool { return p.In == "query" && p.Name == paramShop })
	who, err := g.Shoppers.Enter(r.Context(), query, named)
	if err != nil {
		refuseShopper(w, r, err)
		return
	}
	t := traceOf(r.Context())
	t.shop = who.Shop
	t.url = &url.URL{Path: atStore(r.URL.Path, who.Prefix), RawQuery: who.Query.Encode()}
	r.URL.RawQuery = who.Query.Encode()
	next(huma.WithValue(ctx, callerKey{}, Caller{Shop: who.Store, Actor: who.Actor(t.clientIP)}))
}

// refuseShopper answers a request without a signed-in shopper. Its title does not ask for
// an API key, as that of other audiences does.
func refuseShopper(w http.ResponseWriter, r *http.Request, err error) {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind != fault.Unauthenticated {
		WriteError(w, r, err)
		return
	}
	traceOf(r.Context()).failed(err)
	w.Header().Set("WWW-Authenticate", `AppProxy realm="perennial"`)
	writeProblem(w, newProblem(r, kindAnswer{status: http.StatusUnauthorized, title: "Sign in to the store"}, f))
}

// proxyPath is what the paths of operations for shoppers begin with, before the
// line's own name. A merchant may have chosen another prefix at the store's domain.
const proxyPath = "/apps/"

// atStore returns the path at the store's domain that leads to one of ours.
func atStore(path, prefix string) string {
	rest, ok := strings.CutPrefix(path, proxyPath)
	if !ok || prefix == "" {
		return path
	}
	_, rest, _ = strings.Cut(rest, "/")
	return strings.TrimSuffix(prefix, "/") + "/" + rest
}

// requireJSON refuses a body that does not say that it is JSON. A page of another
// site can submit a form with the visitor's session, and cannot send JSON unless an answer
// of ours permits it (CORS), which none does. Such a page can also send an empty body
// without a type: that is accepted when the browser says that the request comes from the
// store itself, or when it sends neither Origin nor fetch metadata.
func requireJSON(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	text, err := ReadBody(r)
	if err != nil {
		WriteError(w, r, err)
		return
	}
	given := r.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(given)
	bare := len(text) == 0 && given == "" && sameSite(r)
	if bare || err == nil && media == mediaJSON {
		next(ctx)
		return
	}
	WriteError(w, r, unsupportedType(given))
}

// sameSite reports whether a request comes from a page of the store, or from no page.
// Browsers without fetch metadata send only the origin, which is the store's domain:
// the platform names the one that was asked when it hands the request on, and a page
// of another site cannot send that header.
func sameSite(r *http.Request) bool {
	if r.Header.Get("Sec-Fetch-Site") == "" {
		origin, err := url.Parse(r.Header.Get("Origin"))
		if err == nil && origin.Host != "" && origin.Host == r.Header.Get("X-Forwarded-Host") {
			return true
		}
		if caller := CallerOf(r.Context()); err == nil && origin.Host != "" && origin.Host == caller.Shop.Domain {
			return true
		}
	}
	return new(http.CrossOriginProtection).Check(r) == nil
}
