// Package config holds every setting of the service in one struct. A flag
// outranks the environment, which outranks the file, which outranks the default.
package config

import (
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/mail"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Secret is a setting that is never shown. It prints as dots.
type Secret string

// String hides the secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "•••"
}

// GoString hides the secret from %#v.
func (s Secret) GoString() string { return s.String() }

// LogValue hides the secret from structured logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Data says where the data are.
type Data struct {
	Database string `help:"Database: a SQLite file or a postgres:// URL." default:"perennial.db" env:"PERENNIAL_DATABASE"`
}

// Database says where the data are and what opens the secrets among them.
type Database struct {
	Data      `embed:""`
	SecretKey Secret `help:"Encryption key for store tokens: 32 bytes in base64 (openssl rand -base64 32)." env:"PERENNIAL_SECRET_KEY"`
	OtherKeys Secret `help:"Previous encryption keys, comma-separated, used only to decrypt while the secret key is rotated." name:"other-secret-keys" env:"PERENNIAL_OTHER_SECRET_KEYS"`
}

// Key returns the encryption key.
func (d Database) Key() ([32]byte, error) {
	key, ok := keyOf(string(d.SecretKey))
	if !ok {
		return key, errors.New("secret key: set PERENNIAL_SECRET_KEY to 32 bytes in base64, for example from: openssl rand -base64 32")
	}
	return key, nil
}

// Others returns the keys that only open.
func (d Database) Others() ([][]byte, error) {
	var keys [][]byte
	for text := range strings.SplitSeq(string(d.OtherKeys), ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		key, ok := keyOf(text)
		if !ok {
			return nil, errors.New("other secret keys: each of PERENNIAL_OTHER_SECRET_KEYS must be 32 bytes in base64")
		}
		keys = append(keys, key[:])
	}
	return keys, nil
}

func keyOf(text string) (key [32]byte, ok bool) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw) != len(key) {
		return key, false
	}
	return [32]byte(raw), true
}

// Platform says how the commerce platform is reached.
type Platform struct {
	PlatformURL string `help:"URL of a store's API; {shop} is replaced by its domain." default:"https://{shop}" env:"PERENNIAL_PLATFORM_URL"`
	APIVersion  string `help:"Version of the platform's API." default:"2026-10" env:"PERENNIAL_API_VERSION"`
	ClientID    string `help:"Client id of the app. Leave empty when stores are connected by a token of their own (shops connect)." name:"client-id" env:"PERENNIAL_CLIENT_ID"`
	AppSecret   Secret `help:"Client secret of the app. It signs the platform's webhooks and app proxy requests." env:"PERENNIAL_APP_SECRET"`
	// An app has one path at a store's domain, so memberships may have an app of their own there.
	MembershipsAppSecret Secret        `help:"Client secret of a separate app whose app proxy serves memberships. Leave empty to use the same app." env:"PERENNIAL_MEMBERSHIPS_APP_SECRET"`
	MembershipsClientID  string        `help:"Client id of the separate app for memberships." name:"memberships-client-id" env:"PERENNIAL_MEMBERSHIPS_CLIENT_ID"`
	AppBridge            string        `help:"URL of the platform's script for pages in its admin." name:"app-bridge" default:"https://cdn.shopify.com/shopifycloud/app-bridge.js" hidden:"" env:"PERENNIAL_APP_BRIDGE"`
	PublicURL            string        `help:"Public URL of this service. The platform delivers webhooks to its /webhooks. Leave empty to create no webhook subscriptions." env:"PERENNIAL_PUBLIC_URL"`
	CallTimeout          time.Duration `help:"Timeout of a request to the platform." default:"15s" env:"PERENNIAL_CALL_TIMEOUT"`
}

// Callback returns the address to which webhooks are delivered, or "".
func (p Platform) Callback() string {
	if p.PublicURL == "" {
		return ""
	}
	return strings.TrimSuffix(p.PublicURL, "/") + "/webhooks"
}

// Mail says how e-mails leave. Without a host they wait.
type Mail struct {
	MailHost     string        `help:"SMTP host. Leave empty to keep e-mails queued." env:"PERENNIAL_MAIL_HOST"`
	MailPort     int           `help:"SMTP port." default:"587" env:"PERENNIAL_MAIL_PORT"`
	MailUser     string        `help:"SMTP username. Leave empty for no authentication." env:"PERENNIAL_MAIL_USER"`
	MailPassword Secret        `help:"SMTP password." env:"PERENNIAL_MAIL_PASSWORD"`
	MailFrom     string        `help:"Sender address of e-mails." env:"PERENNIAL_MAIL_FROM"`
	MailTLS      string        `help:"SMTP encryption: starttls, tls (implicit), or none." name:"mail-tls" default:"starttls" enum:"starttls,tls,none" env:"PERENNIAL_MAIL_TLS"`
	DKIMSelector string        `help:"Selector of the DKIM key with which the mail server signs. perennial doctor and the dashboard look the key up." name:"mail-dkim-selector" env:"PERENNIAL_MAIL_DKIM_SELECTOR"`
	MailgunKey   Secret        `help:"Webhook signing key of Mailgun: with it POST /hooks/mail/mailgun takes bounces and complaints." env:"PERENNIAL_MAILGUN_KEY"`
	MailTimeout  time.Duration `help:"SMTP timeout of a response." default:"15s" env:"PERENNIAL_MAIL_TIMEOUT"`
}

func (m Mail) check() error {
	if m.MailHost == "" {
		return nil
	}
	if from, err := mail.ParseAddress(m.MailFrom); err != nil || from.Address != m.MailFrom {
		return fmt.Errorf("mail from: set PERENNIAL_MAIL_FROM to the bare address of the sender; %q is none", m.MailFrom)
	}
	if m.MailPort < 1 || m.MailPort > 65535 || m.MailTimeout <= 0 {
		return errors.New("mail port and mail timeout must be positive, and the port at most 65535")
	}
	return nil
}

// Server holds the settings of `perennial serve`.
type Server struct {
	Database `embed:""`
	Platform `embed:""`
	Mail     `embed:""`
	SMS      `embed:""`

	Listen            string         `help:"Listen address of the subscriptions interface and webhooks." default:"127.0.0.1:8080" env:"PERENNIAL_LISTEN"`
	MembershipsListen string         `help:"Listen address of the memberships interface. Leave empty to serve it by host name only." default:"127.0.0.1:8081" env:"PERENNIAL_MEMBERSHIPS_LISTEN"`
	MembershipsHost   string         `help:"Host name that selects the memberships interface on the first listen address." env:"PERENNIAL_MEMBERSHIPS_HOST"`
	OpsListen         string         `help:"Listen address of /healthz, /readyz and /metrics. Leave empty to use the first listen address." env:"PERENNIAL_OPS_LISTEN"`
	Web               bool           `help:"Serve HTTP requests on this node." default:"true" negatable:"" env:"PERENNIAL_WEB"`
	Work              bool           `help:"Run the sweep and background jobs on this node." default:"true" negatable:"" env:"PERENNIAL_WORK"`
	Workers           int            `help:"Number of workers: jobs that run at the same time." default:"8" env:"PERENNIAL_WORKERS"`
	PollOnly          bool           `help:"Poll the queue for jobs instead of using LISTEN (for connection poolers)." env:"PERENNIAL_POLL_ONLY"`
	JobPoll           time.Duration  `help:"Poll interval of the queue." default:"500ms" env:"PERENNIAL_JOB_POLL"`
	SweepEvery        time.Duration  `help:"Interval of the sweep for due work." default:"2s" env:"PERENNIAL_SWEEP_EVERY"`
	ReconcileEvery    time.Duration  `help:"Interval at which each store is reconciled with the platform." default:"1h" env:"PERENNIAL_RECONCILE_EVERY"`
	RatePerSecond     float64        `help:"Rate limit of an API key and of a shop, in requests per second." default:"10" env:"PERENNIAL_RATE"`
	PrivatePartners   bool           `help:"Allow private addresses and plain HTTP for partners' applications and webhook endpoints. For installations that only call their own network." env:"PERENNIAL_PRIVATE_PARTNERS"`
	RateBurst         int            `help:"Burst size of the rate limit." default:"40" env:"PERENNIAL_RATE_BURST"`
	TrustedProxies    []netip.Prefix `help:"Networks of trusted proxies, whose X-Forwarded-For header is used." placeholder:"CIDR" env:"PERENNIAL_TRUSTED_PROXIES"`
	DrainTimeout      time.Duration  `help:"Graceful shutdown timeout after SIGTERM." default:"30s" env:"PERENNIAL_DRAIN_TIMEOUT"`
	WaitsScale        float64        `help:"For tests of failures: divides every wait." default:"1" hidden:""`
	LogLevel          slog.Level     `help:"DEBUG, INFO, WARN or ERROR." default:"INFO" env:"PERENNIAL_LOG_LEVEL"`
}

// Check says what is wrong with the settings, and what to do about it.
func (s Server) Check() error {
	if _, err := s.Key(); err != nil {
		return err
	}
	if _, err := s.Others(); err != nil {
		return err
	}
	if s.AppSecret == "" {
		return errors.New("app secret: set PERENNIAL_APP_SECRET to the app's client secret, which signs webhooks")
	}
	if s.ClientID != "" && s.PublicURL == "" {
		return errors.New("public URL: set PERENNIAL_PUBLIC_URL; the platform sends merchants who install the app there")
	}
	if s.MembershipsClientID != "" && (s.MembershipsAppSecret == "" || s.ClientID == "") {
		return errors.New("memberships client id: it needs PERENNIAL_MEMBERSHIPS_APP_SECRET, and PERENNIAL_CLIENT_ID for the app of the subscriptions")
	}
	if s.PublicURL != "" {
		if u, err := url.Parse(s.PublicURL); err != nil || u.Host == "" {
			return fmt.Errorf("public URL: %q is not an address such as https://subscriptions.example.com", s.PublicURL)
		}
	}
	if err := s.Mail.check(); err != nil {
		return err
	}
	if err := s.SMS.check(s.PublicURL); err != nil {
		return err
	}
	if s.Workers < 1 || s.SweepEvery <= 0 || s.ReconcileEvery <= 0 || s.RatePerSecond <= 0 || s.RateBurst < 1 || s.WaitsScale <= 0 {
		return errors.New("workers, sweep, reconcile, rate and waits settings must be positive")
	}
	return nil
}
