package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/connection"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/oauth"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/install"
)

// connections returns what gets the apps of the settings into stores, or nil when the
// settings have none.
func connections(a *App, db *store.DB) *connection.Service {
	p := a.options.Settings.Platform
	if p.ClientID == "" || a.options.Simulated != nil {
		return nil
	}
	s := &connection.Service{
		Store: db.PlatformConnections(), Registrar: registrar{a}, Clock: a.options.Clock, Log: a.options.Log, PublicURL: strings.TrimSuffix(p.PublicURL, "/"),
		Apps: map[connection.AppName]platform.Authorizer{}, StateKeys: map[connection.AppName][]byte{},
	}
	for name, c := range credentials(p) {
		s.Apps[name] = oauth.New(oauth.Options{ClientID: c.id, Secret: string(c.secret), BaseURL: p.PlatformURL, Timeout: p.CallTimeout, Clock: a.options.Clock})
		s.StateKeys[name] = []byte(c.secret)
	}
	return s
}

type credential struct {
	id     string
	secret config.Secret
}

// credentials returns those of each app that the settings have.
func credentials(p config.Platform) map[connection.AppName]credential {
	apps := map[connection.AppName]credential{connection.Primary: {p.ClientID, p.AppSecret}}
	if p.MembershipsClientID != "" {
		apps[connection.Memberships] = credential{p.MembershipsClientID, p.MembershipsAppSecret}
	}
	return apps
}

// defaultHour is the local hour at which orders of a store are charged that installs the
// app.
const defaultHour = 9

// registrar adds stores as an operator's command does.
type registrar struct{ app *App }

// Register adds a store or connects it again. The next sweep reads its contracts.
func (r registrar) Register(ctx context.Context, at platform.Shop) (shop.Shop, error) {
	return r.app.Intake.Register(ctx, at, defaultHour, 0, shop.Settings{})
}

// withInstallation serves the pages of installations beside another handler.
func (a *App) withInstallation(frame web.Frame, otherwise http.Handler) (http.Handler, error) {
	ids := map[connection.AppName]string{}
	for name, c := range credentials(a.options.Settings.Platform) {
		ids[name] = c.id
	}
	pages, err := install.New(install.Options{
		Frame: frame, Service: a.Connections, Secure: frame.Secure, ClientIDs: ids, Bridge: a.options.Settings.AppBridge, Ancestors: ancestors(a.options.Settings.PlatformURL), Home: dashboard.Path,
	})
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == install.Path || strings.HasPrefix(r.URL.Path, install.Path+"/") {
			pages.ServeHTTP(w, r)
			return
		}
		otherwise.ServeHTTP(w, r)
	}), nil
}

// MigrateToken exchanges the access token of a store that never expires for one that does.
func MigrateToken(ctx context.Context, d config.Database, p config.Platform, c clock.Clock, domain string) error {
	if p.ClientID == "" {
		return errors.New("client id: set PERENNIAL_CLIENT_ID; tokens of a custom app do not expire")
	}
	a, err := New(ctx, Options{Settings: config.Server{Database: d, Platform: p, RatePerSecond: 1, RateBurst: 1}, Clock: c, Log: slog.New(slog.DiscardHandler), Kind: Production})
	if err != nil {
		return err
	}
	defer a.Close() //nolint:errcheck // what matters was committed
	of, err := a.Store.Shops().ShopByDomain(ctx, domain)
	if err != nil {
		return err
	}
	return a.Connections.Migrate(ctx, of)
}
