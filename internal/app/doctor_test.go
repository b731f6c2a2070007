package app

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/connection"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

func TestDoctorNamesScopesThatAreNotGranted(t *testing.T) {
	t.Parallel()
	if got := missingScopes(platform.ScopeNames(platform.Scopes())); len(got) != 0 {
		t.Errorf("with all granted: %v", got)
	}
	got := missingScopes([]string{"read_products"})
	if len(got) != len(platform.Scopes())-1 || got[0].Name != "write_own_subscription_contracts" || !got[0].Required || got[0].Without == "" {
		t.Errorf("with one granted: %v", got)
	}
}

func TestDoctorReadsTokenOfStore(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	s := shop.Shop{Domain: "demo.myshopify.com", Token: "shpat_demo", TimeZone: "UTC", Currency: "USD", Connected: true, CreatedAt: now, ReconcileAt: now}
	if err := db.Shops().AddShop(t.Context(), &s); err != nil {
		t.Fatal(err)
	}
	if got, err := tokenOf(t.Context(), db, s); err != nil || !got.IssuedAt.IsZero() {
		t.Errorf("of a token that an operator gave: %+v, %v", got, err)
	}
	err := db.Update(t.Context(), s.ID, func(tx *store.Tx) error {
		c, err := tx.PlatformConnection(t.Context(), connection.Primary)
		if err != nil {
			return err
		}
		c.Access, c.ExpiresAt, c.Refresh, c.RefreshExpiresAt, c.RenewedAt, c.Failures = "shpat_a", now.Add(time.Hour), "shprt_a", now.AddDate(0, 0, 90), now, 2
		return tx.PutPlatformConnection(t.Context(), c)
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := tokenOf(t.Context(), db, s)
	if err != nil || !got.IssuedAt.Equal(now) || got.Fixed || !got.Renewable || got.RenewalsFailed != 2 || !got.RenewableUntil.Equal(now.AddDate(0, 0, 90)) {
		t.Errorf("of a token that is renewed: %+v, %v", got, err)
	}
}
