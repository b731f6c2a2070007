package app

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/base/clock"
	points "github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/web/loyalty"
)

// loyaltyDocs is where the loyalty interface's own document and its page are on a
// host that it shares.
const loyaltyDocs = "/loyalty"

// withLoyalty answers the paths of the loyalty interface, which are those of the
// admin interface without a version, and leaves all others to another handler.
func withLoyalty(points, otherwise http.Handler) http.Handler {
	documents := http.StripPrefix(loyaltyDocs, points)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := strings.TrimSuffix(r.URL.Path, "/"); {
		case path == loyaltyDocs+"/docs" || path == loyaltyDocs+"/openapi.json":
			documents.ServeHTTP(w, r)
		case strings.HasPrefix(path, loyalty.Base+"/") && path != loyalty.Base+"/v2" && !strings.HasPrefix(path, loyalty.Base+"/v2/"):
			points.ServeHTTP(w, r)
		default:
			otherwise.ServeHTTP(w, r)
		}
	})
}

// WithLoyalty opens a database and lets fn work on a store's programme. No secret
// is needed, because nothing is asked of the platform.
func WithLoyalty(ctx context.Context, database string, c clock.Clock, domain string, fn func(*points.Service, ShopRef) error) error {
	db, err := store.Open(ctx, store.Options{URL: database})
	if err != nil {
		return err
	}
	defer db.Close()
	id, err := db.Shops().IDOf(ctx, domain)
	if err != nil {
		return err
	}
	return fn(&points.Service{Store: db.Loyalty(), Reader: db, Clock: c, Log: slog.New(slog.DiscardHandler)}, ShopRef{id, domain})
}
