package web

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// muxer chooses the handler of a request.
type muxer interface {
	Handler(r *http.Request) (h http.Handler, pattern string)
	ServeHTTP(w http.ResponseWriter, r *http.Request)
}

// router is a mux that also accepts pairs of paths that http.ServeMux refuses because neither
// is more specific, such as /a/b/{id} and /a/{id}/c. The path whose first parameter comes
// later wins.
type router struct {
	layers []layer // those whose first parameter comes later are earlier
}

// layer has the paths whose first parameter is the nth segment.
type layer struct {
	first int
	mux   *http.ServeMux
}

// HandleFunc adds a handler. The pattern is as http.ServeMux takes it.
func (t *router) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	written, _, has := strings.Cut(pattern, "{")
	first := strings.Count(written, "/")
	if !has {
		first++ // after its last segment
	}
	at, ok := slices.BinarySearchFunc(t.layers, first, func(l layer, first int) int { return cmp.Compare(first, l.first) })
	if !ok {
		t.layers = slices.Insert(t.layers, at, layer{first, http.NewServeMux()})
	}
	t.layers[at].mux.HandleFunc(pattern, handler)
}

// Handler returns the handler of a request and its pattern. Where no path with the
// request's method fits, the pattern is empty and the handler answers as that of
// http.ServeMux does.
func (t *router) Handler(r *http.Request) (h http.Handler, pattern string) {
	allowed := make(map[string]bool)
	for _, l := range t.layers {
		h, pattern := l.mux.Handler(r)
		if pattern != "" {
			return l.mux, pattern
		}
		answer := &discarded{header: http.Header{}}
		h.ServeHTTP(answer, r)
		if answer.status == http.StatusMethodNotAllowed {
			for method := range strings.SplitSeq(answer.header.Get("Allow"), ", ") {
				allowed[method] = true
			}
		}
	}
	if len(allowed) == 0 {
		return http.NotFoundHandler(), ""
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", strings.Join(slices.Sorted(maps.Keys(allowed)), ", "))
		w.WriteHeader(http.StatusMethodNotAllowed)
	}), ""
}

// ServeHTTP serves a request.
func (t *router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h, _ := t.Handler(r)
	h.ServeHTTP(w, r)
}

// discarded records an answer's status and headers and drops its body.
type discarded struct {
	header http.Header
	status int
}

func (d *discarded) Header() http.Header { return d.header }

func (d *discarded) Write(b []byte) (int, error) { return len(b), nil }

func (d *discarded) WriteHeader(status int) { d.status = status }
