package web

import (
	"net/http"
	"net/netip"
	"strings"
	"time"

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
}

// trusts reports whether a request comes from a proxy that the operator trusts.
func trusts(r *http.Request, trusted []netip.Prefix) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && contains(trusted, peer.Addr().Unmap())
}
