package shopper

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// ownRoot is what the paths on the service's own address begin with. A store's handle follows.
const ownRoot = "/p/"

// ownLines are the lines by what follows the handle.
var ownLines = []struct {
	path string
	line shop.Line
}{{"/api/", shop.Subscriptions}, {"/memberships/api/", shop.Memberships}}

// Login authenticates shoppers on the service's own address. Failures are faults.
type Login interface {
	Shop(ctx context.Context, handle string) (shop.Shop, error)
	Authenticate(ctx context.Context, of shop.ID, value string, via login.Via) (login.Principal, error)
}

// ownKey is under what a request has its own address.
type ownKey struct{}

// address is an address of the interface on the service's own domain.
type address struct {
	handle string
	base   string // path of the interface
}

// Own leads requests for the interface on the service's own address to the handlers of the lines,
// under the paths that those have, and leaves all others to another handler.
func Own(lines func(shop.Line) http.Handler, otherwise http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rest, ok := strings.CutPrefix(r.URL.Path, ownRoot)
		handle, rest, _ := strings.Cut(rest, "/")
		for _, l := range ownLines {
			operation, is := strings.CutPrefix("/"+rest, l.path)
			if !ok || !is {
				continue
			}
			u := *r.URL
			u.Path, u.RawPath = Base(l.line)+"/"+operation, ""
			if r.URL.RawPath != "" { // the escaped path is as long a prefix: neither a handle nor a line is escaped
				_, escaped, _ := strings.Cut(strings.TrimPrefix(r.URL.RawPath, ownRoot), "/")
				u.RawPath = Base(l.line) + "/" + strings.TrimPrefix("/"+escaped, l.path)
			}
			at := address{handle: strings.ToLower(handle), base: ownRoot + handle + strings.TrimSuffix(l.path, "/")}
			r = r.WithContext(context.WithValue(r.Context(), ownKey{}, at))
			r.URL = &u
			lines(l.line).ServeHTTP(w, r)
			return
		}
		otherwise.ServeHTTP(w, r)
	})
}

// Sessions authenticates requests on the service's own address: by a portal token in the header, or
// by the session of a customer who signed in with a link. It implements web.Shoppers.
type Sessions struct {
	Login  Login
	Secure bool // the address is reached over HTTPS
}

// Enter implements web.Shoppers.
func (s Sessions) Enter(r *http.Request, query url.Values, _ bool) (login.Visitor, error) {
	ctx := r.Context()
	at, _ := ctx.Value(ownKey{}).(address)
	if !login.IsHandle(at.handle) {
		return login.Visitor{Principal: login.Principal{Via: login.ByLink}}, unknownStore()
	}
	of, err := s.Login.Shop(ctx, at.handle)
	if fault.Is(err, fault.NotFound) {
		return login.Visitor{Principal: login.Principal{Via: login.ByLink}}, unknownStore()
	}
	if err != nil {
		return login.Visitor{}, err
	}
	v := login.Visitor{Principal: login.Principal{Shop: of.ID, Via: login.ByLink}, Store: of, Prefix: at.base, Query: query}
	value, via := web.PortalCookie(s.Secure).Read(r), login.ByLink
	if token, given := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); given {
		value, via = strings.TrimSpace(token), login.ByToken
	}
	who, err := s.Login.Authenticate(ctx, of.ID, value, via)
	if err != nil {
		return v, err
	}
	if named := query.Get("shop"); named != "" && !strings.EqualFold(named, of.Domain) {
		return v, fault.New(fault.Invalid, "the shop that the query names is not the one that the shopper is at").Code("shopMismatch").Field("shop")
	}
	v.Principal = who
	return v, nil
}

// unknownStore is the failure of an address that names no store, where no shopper can be signed in.
func unknownStore() error {
	return fault.New(fault.Unauthenticated, "no such store has installed the app").Entity("shop").Code("shopUnknown")
}
