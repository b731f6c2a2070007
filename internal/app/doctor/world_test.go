package doctor_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/app/doctor"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/deliver"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// TestMain has this process trust the certificate of the mail server.
func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "doctor")
	if err != nil {
		panic(err)
	}
	file := filepath.Join(folder, "roots.pem")
	trusted := httptest.NewTLSServer(http.NotFoundHandler())
	err = os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: trusted.Certificate().Raw}), 0o600)
	if err == nil {
		err = os.Setenv("SSL_CERT_FILE", file)
	}
	if err != nil {
		panic(err)
	}
	mailCertificate = trusted.TLS.Certificates
	trusted.Close()
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

// mailCertificate is that of the mail server, for 127.0.0.1.
var mailCertificate []tls.Certificate

const (
	domain = "demo.myshopify.com"
	secret = "app-secret"
)

// world is an installation in which every check passes: the service behind TLS, a
// simulated platform with a store that forwards shoppers, a mail server and a name server.
type world struct {
	*testing.T
	options doctor.Options
	app     *app.App
	sim     *simulator.Simulator
	shop    shop.ID
	folder  string
	names   *names
	mails   *mailbox

	// storefront answers at the store's own domain. A test may exchange it.
	storefront http.HandlerFunc
}

func begin(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, folder: t.TempDir()}
	database := filepath.Join(w.folder, "perennial.db")
	storetest.SQLiteFile(t, database)
	w.begin(database)
	return w
}

func (w *world) begin(database string) {
	w.Helper()
	var err error
	w.sim, err = simulator.New(simulator.Options{Clock: clock.System{}})
	w.must(err)
	w.must(w.sim.AddShop(simulator.ShopSpec{Domain: domain, Token: "shpat_demo"}))
	public := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.app.Subscriptions.ServeHTTP(rw, r) }))
	w.storefront = w.forward
	mux := http.NewServeMux()
	mux.Handle("/admin/", w.sim.Handler())
	mux.HandleFunc("/apps/", func(rw http.ResponseWriter, r *http.Request) { w.storefront(rw, r) })
	there := httptest.NewServer(mux)
	w.Cleanup(func() {
		public.Close()
		there.Close()
		w.must(w.sim.Close())
	})
	w.mails, w.names = serveMail(w.T), serveNames(w.T)

	s := config.Server{
		Database: config.Database{Data: config.Data{Database: database}, SecretKey: config.Secret(base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef")))},
		Platform: config.Platform{PlatformURL: there.URL, APIVersion: "2026-10", AppSecret: secret, PublicURL: public.URL, CallTimeout: 5 * time.Second},
		Mail:     config.Mail{MailHost: "127.0.0.1", MailPort: w.mails.port, MailUser: "subs", MailPassword: mailPassword, MailFrom: "subs@shop.example", MailTLS: "starttls", DKIMSelector: "mail", MailTimeout: 2 * time.Second},
		Workers:  1, SweepEvery: time.Second, ReconcileEvery: time.Hour, RatePerSecond: 100, RateBurst: 100, WaitsScale: 1,
	}
	w.app, err = app.New(w.Context(), app.Options{Settings: s, Clock: clock.System{}, Log: slog.New(slog.DiscardHandler), Kind: app.Production, Migrate: true, Relaxed: true, BuildLate: true})
	w.must(err)
	w.Cleanup(func() { w.must(w.app.Close()) })
	connected, err := w.app.Intake.Connect(w.Context(), platform.Shop{Domain: domain, Token: "shpat_demo"}, 9, 0, shop.Settings{})
	w.must(err)
	_, err = w.app.Confirm.ConfirmUnseen(w.Context(), connected.ID, activity.Operator)
	w.must(err)
	w.shop = connected.ID
	w.must(w.app.Repair.Check(w.Context(), w.shop))

	s.PlatformURL = "http://{shop}" // the store's own domain, which the client below finds
	client := public.Client()
	client.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if strings.HasPrefix(address, domain) {
			address = there.Listener.Addr().String()
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	w.options = doctor.Options{
		Settings: s, Doctor: config.Doctor{BackupAge: 26 * time.Hour}, Clock: clock.System{}, HTTP: client, Resolver: w.names.resolver(),
		Open: func(ctx context.Context) (*store.DB, error) {
			return store.Open(ctx, store.Options{URL: w.options.Settings.Database.Data.Database, SecretKey: []byte("0123456789abcdef0123456789abcdef")})
		},
		Missing: func(granted []string) []doctor.Scope {
			if slices.Contains(granted, "write_own_subscription_contracts") {
				return nil
			}
			return []doctor.Scope{{Name: "write_own_subscription_contracts", Without: "contracts and charges", Required: true}}
		},
		TokenOf: func(context.Context, *store.DB, shop.Shop) (doctor.Token, error) {
			return doctor.Token{IssuedAt: time.Now().Add(-time.Minute), ExpiresAt: time.Now().Add(time.Hour), Renewable: true, RenewableUntil: time.Now().AddDate(0, 3, 0)}, nil
		},
	}
	w.options.MailServer = func() (*deliver.SMTP, error) {
		m := w.options.Settings.Mail
		return deliver.NewSMTP(deliver.SMTPOptions{
			Host: m.MailHost, Port: m.MailPort, User: m.MailUser, Password: string(m.MailPassword), From: m.MailFrom, TLS: deliver.TLS(m.MailTLS), Timeout: m.MailTimeout,
		})
	}
}

// forward is the platform's app proxy: it signs a request and hands it to the service.
func (w *world) forward(rw http.ResponseWriter, r *http.Request) { w.forwardWith(secret)(rw, r) }

func (w *world) forwardWith(secret string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		stamp := fmt.Sprint(time.Now().Unix())
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte("logged_in_customer_id=path_prefix=/apps/subscriptionsshop=" + domain + "timestamp=" + stamp))
		r.URL.RawQuery = "logged_in_customer_id=&path_prefix=/apps/subscriptions&shop=" + domain + "&timestamp=" + stamp + "&signature=" + hex.EncodeToString(mac.Sum(nil))
		w.app.Subscriptions.ServeHTTP(rw, r)
	}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// change changes the store that is connected.
func (w *world) change(fn func(*shop.Shop)) {
	w.Helper()
	w.must(w.app.Store.Update(w.Context(), w.shop, func(tx *store.Tx) error {
		s, err := tx.Shop(w.Context())
		if err != nil {
			return err
		}
		fn(&s)
		return tx.PutShop(w.Context(), s)
	}))
}

// want fails the test unless a check ends in a state and says something.
func (w *world) want(check string, state doctor.State, says string) {
	w.Helper()
	for _, f := range doctor.Run(w.Context(), w.options) {
		if f.Check != check {
			continue
		}
		if f.State != state || !strings.Contains(f.Found+" → "+f.Do, says) {
			w.Errorf("%s: %s, %q → %q; want %s and %q", check, f.State, f.Found, f.Do, state, says)
		}
		if (f.State == doctor.Failed || f.State == doctor.Warning) && f.Do == "" {
			w.Errorf("%s is %s and does not say what to do", check, f.State)
		}
		return
	}
	w.Errorf("there is no check %q", check)
}

// row is a way in which an installation is broken, and what the check says then.
type row struct {
	name  string
	wreck func(w *world)
	check string
	state doctor.State
	says  string
}

func run(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			w := begin(t)
			r.wreck(w)
			w.want(r.check, r.state, r.says)
		})
	}
}
