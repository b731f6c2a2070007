package web

import (
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// Routes serves the mux and answers what it does not know in our words: the
// mux's own answers are plain text, and its redirects to tidier paths HTML.
//
// A graph id in a path is one segment, with its slashes as they are or percent-encoded.
func Routes(mux muxer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = withGraphIDs(r)
		unknown := pathNotFound(r)
		if !tidy(r) {
			WriteError(w, r, unknown)
			return
		}
		handler, pattern := mux.Handler(r)
		if pattern != "" {
			traceOf(r.Context()).found(pattern)
			mux.ServeHTTP(w, r)
			return
		}
		answer := &discarded{header: http.Header{}}
		handler.ServeHTTP(answer, r)
		if answer.status != http.StatusMethodNotAllowed {
			WriteError(w, r, unknown)
			return
		}
		w.Header().Set("Allow", answer.header.Get("Allow"))
		wrong := fault.New(fault.Invalid, "%s is not possible at %s: use %s", r.Method, r.URL.Path, answer.header.Get("Allow")).Code("methodNotAllowed")
		traceOf(r.Context()).failed(wrong)
		writeProblem(w, newProblem(r, kindAnswer{status: http.StatusMethodNotAllowed, title: "Method not allowed"}, wrong))
	})
}

// tidy reports whether a path is as a mux would write it.
func tidy(r *http.Request) bool {
	asked := r.URL.EscapedPath()
	return path.Clean(asked) == asked
}

// Tidy answers paths that the mux behind it would redirect to tidier ones as unknown.
func Tidy(next http.Handler, unknown http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !tidy(r) {
			unknown(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// pathNotFound says that nothing is served at the request's path.
func pathNotFound(r *http.Request) error {
	return fault.New(fault.NotFound, "no such path: %s", strings.ToValidUTF8(r.URL.Path, "�")).Code("pathNotFound")
}

// graphID is a graph id in a path; proxies make one slash of two.
var graphID = regexp.MustCompile(`gid:/+shopify/(\w+)/`)

// withGraphIDs returns the request with each graph id of its path as one segment.
func withGraphIDs(r *http.Request) *http.Request {
	escaped := r.URL.EscapedPath()
	raw := graphID.ReplaceAllString(escaped, "gid:%2F%2Fshopify%2F$1%2F")
	if raw == escaped {
		return r
	}
	plain, err := url.PathUnescape(raw)
	if err != nil {
		return r
	}
	u := *r.URL
	u.Path, u.RawPath = plain, raw
	r = r.WithContext(r.Context())
	r.URL = &u
	return r
}
