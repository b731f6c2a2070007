package main

import (
	"bytes"
	"encoding/base64"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

// Every setting that a merchant may choose can be changed by the operator, and
// what makes no sense is refused with its reason and changes nothing.
func TestSettingsCommandChangesStoreSettings(t *testing.T) {
	key := []byte("0123456789abcdef0123456789abcdef")
	file := filepath.Join(t.TempDir(), "perennial.db")
	t.Setenv("PERENNIAL_DATABASE", file)
	t.Setenv("PERENNIAL_SECRET_KEY", base64.StdEncoding.EncodeToString(key))
	const domain = "demo.myshopify.com"
	var out, errs bytes.Buffer
	if got := run([]string{"migrate"}, &out, &errs); got != 0 {
		t.Fatalf("migrate ended with %d: %s", got, &errs)
	}
	db, err := store.Open(t.Context(), store.Options{URL: file, SecretKey: key, Relaxed: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	now := time.Now().UTC().Truncate(time.Millisecond)
	s := shop.Shop{Domain: domain, Token: "token", TimeZone: "UTC", Currency: "USD", Connected: true, CreatedAt: now, ReconciledAt: now, ReconcileAt: now.Add(time.Hour)}
	if err := db.Shops().AddShop(t.Context(), &s); err != nil {
		t.Fatal(err)
	}
	is := func() (found shop.Shop) {
		t.Helper()
		err := db.Update(t.Context(), s.ID, func(tx *store.Tx) (err error) {
			found, err = tx.Shop(t.Context())
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	for _, row := range []struct {
		name, flags string
		code        int
		says        string
	}{
		{"immediate orders are permitted", "--immediate-orders", 0, "immediate orders true"},
		{"subscribers are held to what they committed to", "--freeze-until-min-cycles", 0, "held to what they committed to true"},
		{"and are not", "--no-freeze-until-min-cycles", 0, "held to what they committed to false"},
		{"mails are switched off", "--disable-mails=paused,management_link --disable-mails=paused", 0, "e-mails not sent birthday, management_link, paused, points_earned"},
		{"one of them is switched on", "--enable-mails=paused", 0, "e-mails not sent birthday, management_link, points_earned, transaction_success, SMS sent none, declined charges summed up WEEKLY, membership plans none"},
		{"an unknown kind of mail", "--disable-mails=newsletter", 1, `"newsletter" is not a kind of e-mail: use address,`},
		{"nor can it be switched on", "--enable-mails=newsletter", 1, `"newsletter" is not a kind of e-mail`},
		{"plans become memberships", "--add-memberships=12,11,12", 0, "membership plans 11, 12"},
		{"and others again", "--remove-memberships=12", 0, "membership plans 11"},
		{"a plan is a number", "--add-memberships=gold", 2, "gold"},
		{"too many requests", "--rate=100000000", 1, "requests per second"},
	} {
		out.Reset()
		errs.Reset()
		got := run(append([]string{"shops", "set", "--shop", domain}, strings.Fields(row.flags)...), &out, &errs)
		if got != row.code || !strings.Contains(out.String()+errs.String(), row.says) {
			t.Errorf("%s: ended with %d and says %s%s, want %d and %q", row.name, got, &out, &errs, row.code, row.says)
		}
		if after := is(); strings.Contains(row.flags, "memberships") != after.ReconciledAt.IsZero() && row.code == 0 {
			t.Errorf("%s: contracts are read again from %v", row.name, after.ReconciledAt)
		}
	}
	settings := is().Settings
	if !settings.ImmediateOrders || settings.Sends("management_link") || !settings.Sends("paused") || len(settings.Memberships) != 1 || settings.RatePerSecond != 0 {
		t.Errorf("in the end the settings are %+v", settings)
	}
}
