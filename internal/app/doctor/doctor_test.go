package doctor_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/app/doctor"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

func TestHealthyInstallationPassesEveryCheck(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.options.Doctor.Backups = filepath.Join(w.folder, "backups")
	w.must(os.Mkdir(w.options.Doctor.Backups, 0o700))
	w.must(os.WriteFile(filepath.Join(w.options.Doctor.Backups, "copy.db"), []byte("x"), 0o600))
	for _, f := range doctor.Run(t.Context(), w.options) {
		if f.State != doctor.OK {
			t.Errorf("%s: %s, %s → %s", f.Check, f.State, f.Found, f.Do)
		}
	}
}

func TestBrokenInstallationFailsItsCheck(t *testing.T) {
	t.Parallel()
	run(t, []row{
		{"a setting is missing", func(w *world) { w.options.Settings.AppSecret = "" }, "settings", doctor.Failed, "PERENNIAL_APP_SECRET"},
		{"the database is not there", func(w *world) { w.options.Settings.Database.Data.Database += "x" }, "database", doctor.Failed, "perennial migrate"},
		{"without a database what needs it is not checked", func(w *world) { w.options.Settings.Database.Data.Database += "x" }, "queue", doctor.NotChecked, "could not be opened"},
		{"a migration is missing", func(w *world) {
			w.raw("DELETE FROM schema_versions WHERE version_id = (SELECT MAX(version_id) FROM schema_versions)")
		}, "database schema", doctor.Failed, "run perennial migrate"},
		{"the database takes no row", func(w *world) {
			w.raw("CREATE TRIGGER no_probe BEFORE INSERT ON probes BEGIN SELECT RAISE(ABORT, 'read-only'); END")
			w.raw("CREATE TRIGGER no_probe2 BEFORE UPDATE ON probes BEGIN SELECT RAISE(ABORT, 'read-only'); END")
		}, "database writing", doctor.Failed, "read-only"},
		{"the files are damaged", damage, "database files", doctor.Failed, "restore the last backup"},
		{"there is no backup", func(w *world) { w.options.Doctor.Backups = filepath.Join(w.folder, "none") }, "backups", doctor.Failed, "no backup"},
		{"the backup is old", func(w *world) { w.backup(time.Now().Add(-48*time.Hour), "x") }, "backups", doctor.Failed, "48h0m0s old"},
		{"the backup is empty", func(w *world) { w.backup(time.Now(), "") }, "backups", doctor.Failed, "empty"},
		{"no folder of backups is named", func(*world) {}, "backups", doctor.NotChecked, "PERENNIAL_BACKUPS"},
		{"the queue is paused", func(w *world) {
			w.raw("INSERT INTO river_queue (name, created_at, metadata, paused_at, updated_at) VALUES ('default', CURRENT_TIMESTAMP, '{}', CURRENT_TIMESTAMP, CURRENT_TIMESTAMP) ON CONFLICT (name) DO UPDATE SET paused_at = CURRENT_TIMESTAMP")
		}, "queue", doctor.Failed, "paused"},
		{"no worker takes the tasks", func(w *world) { w.later(20 * time.Minute) }, "queue", doctor.Failed, "no worker takes it"},
		{"the workers are slow", func(w *world) { w.later(5 * time.Minute) }, "queue", doctor.Warning, "PERENNIAL_WORKERS"},
		{"a task is stuck", func(w *world) {
			w.raw("UPDATE river_job SET state = 'running', attempted_at = datetime('now', '-1 hour'), scheduled_at = datetime('now', '-1 hour')")
		}, "queue", doctor.Failed, "marked as running"},
		{"a webhook was given up", func(w *world) {
			w.raw("INSERT INTO inbox (shop_id, id, topic, triggered_at, api_version, contract_id, revision, attempt, key, cycle, payment_method, customer_id, received_at, failures, reason, kept_customer_id) VALUES (1, 'x', 'shop/update', 1, '', 0, 0, '', '', 0, '', 0, 1, 9, 'broken', 0)")
		}, "webhook inbox", doctor.Warning, "could not be worked"},
		{"this machine's clock is ahead", func(w *world) { w.options.Clock = clock.NewManual(time.Now().Add(5 * time.Minute)) }, "clock and platform", doctor.Failed, "ahead of"},
		{"this machine's clock is a little behind", func(w *world) { w.options.Clock = clock.NewManual(time.Now().Add(-10 * time.Second)) }, "clock and platform", doctor.Warning, "behind"},
	})
}

// The clock of PostgreSQL's machine is compared too.
func TestDatabaseClockIsCompared(t *testing.T) {
	t.Parallel()
	o := storetest.PostgresOptions(t)
	w := &world{T: t, folder: t.TempDir()}
	w.begin(o.URL)
	w.want("clock", doctor.OK, "agrees with the database's clock")
	w.want("database separation", doctor.OK, "")
	w.want("queue", doctor.OK, "")
	w.options.Clock = clock.NewManual(time.Now().Add(-5 * time.Minute))
	w.want("clock", doctor.Failed, "behind the database's clock")
}

func TestBrokenStoreFailsItsCheck(t *testing.T) {
	t.Parallel()
	tokenOf := func(k doctor.Token) func(*world) {
		return func(w *world) {
			w.options.TokenOf = func(context.Context, *store.DB, shop.Shop) (doctor.Token, error) { return k, nil }
		}
	}
	now := time.Now()
	run(t, []row{
		{"the token is not accepted", func(w *world) { w.must(w.sim.Uninstall(domain)) }, "connection", doctor.Failed, "perennial shops connect"},
		{"the store is known as disconnected", func(w *world) { w.change(func(s *shop.Shop) { s.Connected = false }) }, "connection", doctor.Failed, "disconnected"},
		{"the store has moved", func(w *world) { w.change(func(s *shop.Shop) { s.TimeZone = "Asia/Tokyo" }) }, "connection", doctor.Warning, "was Asia/Tokyo"},
		{"the token has expired", tokenOf(doctor.Token{IssuedAt: now, ExpiresAt: now.Add(-time.Minute), Renewable: true}), "token", doctor.Failed, "expired"},
		{"the token is not renewed", tokenOf(doctor.Token{IssuedAt: now, ExpiresAt: now.Add(time.Hour), RenewalsRefused: "invalid_grant"}), "token", doctor.Failed, "invalid_grant"},
		{"the token can soon be renewed no more", tokenOf(doctor.Token{IssuedAt: now, ExpiresAt: now.Add(time.Hour), Renewable: true, RenewableUntil: now.Add(24 * time.Hour)}), "token", doctor.Warning, "until"},
		{"renewals fail", tokenOf(doctor.Token{IssuedAt: now, ExpiresAt: now.Add(time.Hour), Renewable: true, RenewalsFailed: 3}), "token", doctor.Warning, "last 3"},
		{"the token cannot be renewed", tokenOf(doctor.Token{IssuedAt: now, ExpiresAt: now.Add(time.Hour)}), "token", doctor.Warning, "cannot be renewed"},
		{"the token never expires", tokenOf(doctor.Token{IssuedAt: now, Fixed: true}), "token", doctor.Failed, "migrate-token"},
		{"nothing is known of the token", tokenOf(doctor.Token{}), "token", doctor.NotChecked, "by hand"},
		{"a scope is missing", func(w *world) { w.must(w.sim.SetScopes(domain, []string{"read_products"})) }, "scopes", doctor.Failed, "write_own_subscription_contracts (contracts and charges)"},
		{"webhooks go elsewhere", func(w *world) { w.options.Settings.PublicURL = "https://other.example" }, "webhooks", doctor.Failed, "delivered to another address"},
		{"the platform refuses a subscription", func(w *world) { w.change(func(s *shop.Shop) { s.SubscribeError = "no scope" }) }, "webhooks", doctor.Failed, "no scope"},
		{"the platform has dropped the subscriptions", func(w *world) {
			w.must(w.sim.Uninstall(domain))
			w.must(w.sim.Install(domain, "shpat_new"))
			w.change(func(s *shop.Shop) { s.Token = "shpat_new" })
		}, "webhooks", doctor.Failed, "not subscribed to: subscription_contracts/create"},
		{"the proxy signs with another secret", func(w *world) { w.storefront = w.forwardWith("another") }, "portal proxy", doctor.Failed, "PERENNIAL_APP_SECRET"},
		{"there is no proxy", func(w *world) { w.storefront = notFound }, "portal proxy", doctor.Warning, "leads nowhere"},
		{"the proxy leads to something else", func(w *world) { w.storefront = teapot }, "portal proxy", doctor.Failed, "answers 418"},
		{"the storefront is closed", func(w *world) { w.storefront = toPassword }, "portal proxy", doctor.NotChecked, "password"},
		{"the store is frozen", func(w *world) { w.change(func(s *shop.Shop) { s.Freeze("a copy", now) }) }, "charges", doctor.Failed, "perennial unfreeze"},
		{"everything is declined", func(w *world) { w.change(func(s *shop.Shop) { s.Guard.Hold.Since = now }) }, "charges", doctor.Failed, "payment provider"},
		{"the merchant has not confirmed", func(w *world) { w.change(func(s *shop.Shop) { s.Guard.Await(now) }) }, "charges", doctor.Warning, "perennial shops confirm"},
		{"the app was uninstalled", func(w *world) { w.change(func(s *shop.Shop) { s.Disconnect(now) }) }, "charges", doctor.Failed, "install the app again"},
		{"the books were not compared", func(w *world) { w.later(50 * time.Hour) }, "books", doctor.Failed, "comparison"},
	})
}

// What is printed or sent to a program names no secret.
func TestFindingsHoldNoSecrets(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.options.Settings.Mail.MailUser, w.options.Settings.Mail.MailPassword = "subs", "wrong-password"
	w.must(w.sim.Uninstall(domain))
	text, err := json.Marshal(doctor.Run(t.Context(), w.options))
	w.must(err)
	for _, secret := range []string{secret, "wrong-password", "shpat_demo", string(w.options.Settings.SecretKey)} {
		if strings.Contains(string(text), secret) {
			t.Errorf("findings hold %q: %s", secret, text)
		}
	}
}
