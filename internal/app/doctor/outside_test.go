package doctor_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/app/doctor"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/store"

	_ "modernc.org/sqlite"
)

func TestAddressAndMailAreChecked(t *testing.T) {
	t.Parallel()
	run(t, []row{
		{"no public address is set", func(w *world) { w.options.Settings.PublicURL = "" }, "public address", doctor.Failed, "PERENNIAL_PUBLIC_URL"},
		{"the public address leads elsewhere", func(w *world) { w.options.Settings.PublicURL = serveTLS(w, teapot) }, "public address", doctor.Failed, "answers 418"},
		{"a page of another program answers", func(w *world) { w.options.Settings.PublicURL = serveTLS(w, welcome) }, "public address", doctor.Failed, "not as this service does"},
		{"nothing answers", func(w *world) { w.options.Settings.PublicURL = "https://127.0.0.1:1" }, "public address", doctor.Failed, "firewall"},
		{"the certificate is not trusted", func(w *world) {
			w.options.HTTP.Transport.(*http.Transport).TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
		}, "public address", doctor.Failed, "public authority"},
		{"there is no TLS", func(w *world) {
			plain := httptest.NewServer(w.app.Subscriptions)
			w.Cleanup(plain.Close)
			w.options.Settings.PublicURL = plain.URL
		}, "public address", doctor.Failed, "without TLS"},
		{"the certificate ends soon", func(w *world) {
			w.options.Clock = clock.NewManual(time.Date(2084, 1, 25, 0, 0, 0, 0, time.UTC)) // the test server's ends four days later
		}, "public address", doctor.Warning, "renew the certificate"},

		{"no mail server is set", func(w *world) { w.options.Settings.Mail.MailHost = "" }, "mail server", doctor.Failed, "PERENNIAL_MAIL_HOST"},
		{"no mail server answers", func(w *world) { w.options.Settings.Mail.MailPort = 1 }, "mail server", doctor.Failed, "refused"},
		{"the mail server's certificate is for another name", func(w *world) { w.options.Settings.Mail.MailHost = "localhost" }, "mail server", doctor.Failed, "certificate"},
		{"the mail server offers no TLS from the start", func(w *world) { w.options.Settings.Mail.MailTLS = "tls" }, "mail server", doctor.Failed, "PERENNIAL_MAIL_HOST, _PORT, _TLS"},
		{"the password is wrong", func(w *world) {
			w.options.Settings.Mail.MailUser, w.options.Settings.Mail.MailPassword = "subs", "wrong"
		}, "mail server", doctor.Failed, "_PASSWORD"},

		{"the domain has no SPF record", func(w *world) { w.names.set("shop.example.") }, "mail SPF", doctor.Warning, "no SPF record"},
		{"it has two", func(w *world) { w.names.set("shop.example.", "v=spf1 -all", "v=spf1 mx -all") }, "mail SPF", doctor.Failed, "2 SPF records"},
		{"it lets everybody send", func(w *world) { w.names.set("shop.example.", "v=spf1 +all") }, "mail SPF", doctor.Warning, "every server"},
		{"it lets no server send", func(w *world) { w.names.set("shop.example.", "v=spf1 -all") }, "mail SPF", doctor.Failed, "no server"},
		{"DNS does not answer for SPF", func(w *world) { w.names.broken = true }, "mail SPF", doctor.NotChecked, "DNS does not answer"},
		{"the key is not published", func(w *world) { w.names.set("mail._domainkey.shop.example.") }, "mail DKIM", doctor.Failed, "has no DKIM key"},
		{"the key is revoked", func(w *world) { w.names.set("mail._domainkey.shop.example.", "v=DKIM1; p=") }, "mail DKIM", doctor.Failed, "revoked"},
		{"no selector is named", func(w *world) { w.options.Settings.Mail.DKIMSelector = "" }, "mail DKIM", doctor.NotChecked, "PERENNIAL_MAIL_DKIM_SELECTOR"},
		{"DNS does not answer for DKIM", func(w *world) { w.names.broken = true }, "mail DKIM", doctor.NotChecked, "DNS does not answer"},
		{"the domain has no DMARC record", func(w *world) { w.names.set("_dmarc.shop.example.") }, "mail DMARC", doctor.Warning, "_dmarc.shop.example"},
		{"the domain above has one", func(w *world) {
			w.options.Settings.Mail.MailFrom = "subs@mail.shop.example"
		}, "mail DMARC", doctor.OK, "shop.example has"},
		{"it has two DMARC records", func(w *world) { w.names.set("_dmarc.shop.example.", "v=DMARC1; p=none", "v=DMARC1; p=reject") }, "mail DMARC", doctor.Failed, "2 DMARC records"},
		{"it names no policy", func(w *world) { w.names.set("_dmarc.shop.example.", "v=DMARC1; rua=mailto:x@shop.example") }, "mail DMARC", doctor.Failed, "no policy"},
		{"the domain takes no e-mails", func(w *world) { w.names.set("mx shop.example.") }, "mail MX", doctor.Warning, "no MX record"},
		{"DNS does not answer for MX", func(w *world) { w.names.broken = true }, "mail MX", doctor.NotChecked, "DNS does not answer"},
		{"DNS does not answer for DMARC", func(w *world) { w.names.broken = true }, "mail DMARC", doctor.NotChecked, "DNS does not answer"},
	})
}

func notFound(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }
func teapot(w http.ResponseWriter, _ *http.Request)   { w.WriteHeader(http.StatusTeapot) }
func welcome(w http.ResponseWriter, _ *http.Request)  { _, _ = w.Write([]byte("It works!")) }
func toPassword(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/password", http.StatusFound)
}

// serveTLS returns the address of another program. The certificate is accepted.
func serveTLS(w *world, h http.HandlerFunc) string {
	server := httptest.NewTLSServer(h)
	w.Cleanup(server.Close)
	return server.URL
}

// raw changes the SQLite file behind the service's back.
func (w *world) raw(statement string) {
	w.Helper()
	db, err := sql.Open("sqlite", w.options.Settings.Database.Data.Database+"?_pragma=busy_timeout(5000)")
	w.must(err)
	defer db.Close()
	_, err = db.ExecContext(w.Context(), statement)
	w.must(err)
}

// later makes doctor look at the installation later than it is; a task waits.
func (w *world) later(by time.Duration) {
	w.Helper()
	w.must(w.app.Store.Update(w.Context(), w.shop, func(tx *store.Tx) error { return tx.Enqueue(w.Context(), billing.Task{Shop: w.shop}) }))
	w.options.Clock = clock.NewManual(time.Now().Add(by))
}

// backup writes a backup of some age.
func (w *world) backup(at time.Time, content string) {
	w.Helper()
	w.options.Doctor.Backups = filepath.Join(w.folder, "backups")
	w.must(os.Mkdir(w.options.Doctor.Backups, 0o700))
	file := filepath.Join(w.options.Doctor.Backups, "copy.db")
	w.must(os.WriteFile(file, []byte(content), 0o600))
	w.must(os.Chtimes(file, at, at))
}

// damage copies the database and overwrites a page of an index in the copy.
func damage(w *world) {
	copied := filepath.Join(w.folder, "damaged.db")
	w.raw("VACUUM INTO '" + copied + "'")
	w.options.Settings.Database.Data.Database = copied
	db, err := sql.Open("sqlite", copied)
	w.must(err)
	defer db.Close()
	var page, size int64
	w.must(db.QueryRowContext(w.Context(), "SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_schema WHERE name = 'inbox'").Scan(&page, &size))
	f, err := os.OpenFile(copied, os.O_RDWR, 0)
	w.must(err)
	defer f.Close()
	_, err = f.WriteAt(bytes.Repeat([]byte{0x5a}, int(size)), (page-1)*size)
	w.must(err)
}
