package app

import (
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/loyalty"
)

// withLoyalty answers the paths of the loyalty interface, which are those of the
// admin interface without a version, and leaves all others to another handler.
func withLoyalty(points, otherwise http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := strings.TrimSuffix(r.URL.Path, "/"); {
		case web.Describes(loyalty.Docs, path):
			points.ServeHTTP(w, r)
		case strings.HasPrefix(path, loyalty.Base+"/") && path != loyalty.Base+"/v2" && !strings.HasPrefix(path, loyalty.Base+"/v2/"):
			points.ServeHTTP(w, r)
		default:
			otherwise.ServeHTTP(w, r)
		}
	})
}
