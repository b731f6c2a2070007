package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestRouterPrefersPathWithLaterParameter(t *testing.T) {
	t.Parallel()
	paths := &router{}
	for _, pattern := range []string{"GET /a/{id}/c", "GET /a/b/{id}", "GET /a/{id}", "PUT /a/b", "DELETE /a/{id}", "GET /x/{y}/{z}"} {
		paths.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte(pattern + " " + r.PathValue("id")))
		})
	}
	for _, row := range []struct{ request, want string }{
		{"GET /a/b/c", "GET /a/b/{id} c"},
		{"GET /a/7/c", "GET /a/{id}/c 7"},
		{"GET /a/b/7", "GET /a/b/{id} 7"},
		{"GET /a/7", "GET /a/{id} 7"},
		{"PUT /a/b", "PUT /a/b "},
		{"GET /a/b", "GET /a/{id} b"},
		{"POST /a/b", "405 DELETE, GET, HEAD, PUT"},
		{"POST /a/b/c", "405 GET, HEAD"},
		{"GET /a/7/d", "404"},
	} {
		method, path, _ := strings.Cut(row.request, " ")
		w := httptest.NewRecorder()
		Routes(paths).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, nil))
		got := w.Body.String()
		switch w.Code {
		case http.StatusMethodNotAllowed:
			got = "405 " + w.Header().Get("Allow")
		case http.StatusNotFound:
			got = "404"
		}
		if got != row.want {
			t.Errorf("%s: %s, want %s", row.request, got, row.want)
		}
	}
}
