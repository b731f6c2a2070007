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
	"github.com/perennialhq/perennial/internal/domain/login"
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
	who, err := g.Shoppers.Enter(r, query, named)
	if err != nil && !(isPublic(ctx.Operation()) && who.Store.ID != 0 && fault.Is(err, fault.Unauthenticated)) {
		refuseShopper(w, r, err, who.Via)
		return
	}
	t := traceOf(r.Context())
	t.shop = who.Store.ID
	t.url = &url.URL{Path: atStore(r.URL.Path, who), RawQuery: who.Query.Encode()}
	r.URL.RawQuery = who.Query.Encode()
	next(huma.WithValue(ctx, callerKey{}, Caller{Shop: who.Store, Actor: who.Actor(t.clientIP)}))
}

// isPublic reports whether an operation is also for shoppers who are not signed in.
func isPublic(op *huma.Operation) bool { return op.Security != nil && len(op.Security) == 0 }

// refuseShopper answers a request without a signed-in shopper. Its title does not ask for
// an API key, as that of other audiences does.
func refuseShopper(w http.ResponseWriter, r *http.Request, err error, via login.Via) {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind != fault.Unauthenticated {
		WriteError(w, r, err)
		return
	}
	traceOf(r.Context()).failed(err)
	scheme := "AppProxy"
	if via != login.ByProxy && via != "" {
		scheme = "Bearer"
	}
	w.Header().Set("WWW-Authenticate", scheme+` realm="perennial"`)
	writeProblem(w, newProblem(r, kindAnswer{status: http.StatusUnauthorized, title: "Sign in to the store"}, f))
}

// proxyPath is what the paths of operations for shoppers begin with, before the
// line's own name. A merchant may have chosen another prefix at the store's domain.
const proxyPath = "/apps/"

// apiPath is what follows the line's name in the paths of operations.
const apiPath = "cp/api/"

// atStore returns the path that the shopper knows for one of ours: at the store's domain, or
// on the service's address.
func atStore(path string, who login.Visitor) string {
	rest, ok := strings.CutPrefix(path, proxyPath)
	if !ok || who.Prefix == "" {
		return path
	}
	_, rest, _ = strings.Cut(rest, "/")
	if who.Via != login.ByProxy {
		rest = strings.TrimPrefix(rest, apiPath)
	}
	return strings.TrimSuffix(who.Prefix, "/") + "/" + rest
}

// requireJSON refuses a change that a page of another site could have had the shopper's browser
// send. A body must say that it is JSON: a form cannot, and a script of another site needs an
// answer of ours that permits it (CORS), which none does. A request without a body needs no
// type; what the browser says about where it comes from must be the store or the service, or
// nothing.
func requireJSON(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	text, err := ReadBody(r)
	if err != nil {
		WriteError(w, r, err)
		return
	}
	given := r.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(given)
	bare := len(text) == 0 && (given == "" || r.Method != http.MethodPost) // a form of another site can post, and has a type
	switch isJSON := err == nil && media == mediaJSON; {
	case isJSON || bare && sameSite(r):
		next(ctx)
	case !bare:
		WriteError(w, r, unsupportedType(given))
	default:
		WriteError(w, r, fault.New(fault.Forbidden, "the request comes from a page of another site").Code("crossOrigin"))
	}
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
