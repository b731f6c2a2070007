package web

import (
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/tracing"
)

// otherMethod stands for methods that HTTP does not define, which a client makes up.
const otherMethod = "_OTHER"

// methodOf returns the request's method.
func methodOf(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return r.Method
	}
	return otherMethod
}

// found notes the pattern of a mux that fits the request.
func (t *trace) found(pattern string) {
	if method, path, ok := strings.Cut(pattern, " "); ok && !strings.HasPrefix(method, "/") {
		pattern = path
	}
	t.route = pattern
}

// Mux serves a mux that has a handler for every path, and notes the pattern of each request.
func Mux(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, pattern := mux.Handler(r)
		traceOf(r.Context()).found(pattern)
		mux.ServeHTTP(w, r)
	})
}

// report gives the end of a request to what measures.
func (f Frame) report(w *recorder, r *http.Request, t *trace, took time.Duration) {
	if t.span.Recording() {
		t.span.Set(tracing.Shop(int64(t.shop)), tracing.RequestID(t.id))
		t.span.Answered(methodOf(r), t.route, w.answered())
	}
	t.span.End(nil)
	if f.Observe != nil {
		f.Observe(methodOf(r), t.route, w.answered(), took)
	}
	if f.Answered != nil && t.key != 0 {
		f.Answered(Answered{
			Shop: t.shop, Key: t.key, KeyName: t.keyName, App: t.app, Method: methodOf(r), Path: r.URL.Path, Parameters: t.parameters(r), Status: w.answered(), Took: took, RequestID: t.id,
		})
	}
}

// Answered is a request of an API key, or of a partner's token, that was answered.
type Answered struct {
	Shop       shop.ID
	Key        access.KeyID
	KeyName    string
	App        access.AppID // empty: none of a partner
	Method     string
	Path       string
	Parameters []string // names of those in the query that the operation has
	Status     int      // HTTP status
	Took       time.Duration
	RequestID  string
}

// parameters returns the names of the parameters in a request's query that its operation has.
func (t *trace) parameters(r *http.Request) []string {
	var names []string
	for name := range r.URL.Query() {
		if t.known[name] && name != keyParam {
			names = append(names, name)
		}
	}
	return names
}

// trusts reports whether a request comes from a proxy that the operator trusts.
func trusts(r *http.Request, trusted []netip.Prefix) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && contains(trusted, peer.Addr().Unmap())
}
