package app

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/sandbox/storefront"
	"github.com/perennialhq/perennial/internal/store/storetest"
	"github.com/perennialhq/perennial/internal/web"
)

// Each line is reached through an app of its own, whose secret opens nothing of the
// other; where there is but one app, its secret opens both.
func TestWebhookIsVerifiedBySecretOfItsLine(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	noon := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	if err := db.Shops().AddShop(t.Context(), &shop.Shop{Domain: "demo.myshopify.com", TimeZone: "UTC", CreatedAt: noon}); err != nil {
		t.Fatal(err)
	}
	handler := func(one, other string) http.Handler {
		a := &App{Store: db, options: Options{Clock: clock.NewManual(noon), Settings: config.Server{Platform: config.Platform{AppSecret: config.Secret(one), MembershipsAppSecret: config.Secret(other)}}}}
		return withShoppers(a.shoppers(web.Frame{Log: slog.New(slog.DiscardHandler)}), http.NotFoundHandler())
	}
	ask := func(h http.Handler, line, secret string) int {
		query := url.Values{"shop": {"demo.myshopify.com"}, "logged_in_customer_id": {"7001"}, "path_prefix": {"/apps/" + line}, "timestamp": {fmt.Sprint(noon.Unix())}}
		query.Set("signature", storefront.Sign(secret, query))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/apps/"+line+"/cp/api/logged-in-customer?"+query.Encode(), nil))
		return w.Code
	}
	two, one := handler("first", "second"), handler("first", "")
	for name, row := range map[string]struct {
		to           http.Handler
		line, secret string
		want         int
	}{
		"subscriptions with their app's":   {two, "subscriptions", "first", http.StatusOK},
		"subscriptions with the other's":   {two, "subscriptions", "second", http.StatusUnauthorized},
		"memberships with their app's":     {two, "memberships", "second", http.StatusOK},
		"memberships with the other's":     {two, "memberships", "first", http.StatusUnauthorized},
		"memberships where there is one":   {one, "memberships", "first", http.StatusOK},
		"subscriptions where there is one": {one, "subscriptions", "first", http.StatusOK},
		"with no secret at all":            {one, "memberships", "", http.StatusUnauthorized},
		"a line that is none":              {one, "gifts", "first", http.StatusNotFound},
	} {
		if got := ask(row.to, row.line, row.secret); got != row.want {
			t.Errorf("%s: answered %d, want %d", name, got, row.want)
		}
	}
	for path, want := range map[string]int{"/portal/docs": 200, "/portal/docs/": 200, "/portal/openapi.json": 200, "/portal/nothing": 404} {
		w := httptest.NewRecorder()
		one.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != want {
			t.Errorf("%s answered %d, want %d", path, w.Code, want)
		}
	}
}
