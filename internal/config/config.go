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
	Database string `help:"SQLite file, or postgres:// address." default:"perennial.db" env:"PERENNIAL_DATABASE"`
}

// Database says where the data are and what opens the secrets among them.
type Database struct {
	Data      `embed:""`
	SecretKey Secret `help:"Key that encrypts stores' tokens: 32 bytes in base64 (openssl rand -base64 32)." env:"PERENNIAL_SECRET_KEY"`
	OtherKeys Secret `help:"Keys that open what they have encrypted, and encrypt nothing, with commas between: for the time in which the secret key is rotated." name:"other-secret-keys" env:"PERENNIAL_OTHER_SECRET_KEYS"`
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
	PlatformURL string `help:"Address of a store's API; {shop} stands for its domain." default:"https://{shop}" env:"PERENNIAL_PLATFORM_URL"`
	APIVersion  string `help:"Version of the platform's API." default:"2026-10" env:"PERENNIAL_API_VERSION"`
	AppSecret   Secret `help:"The app's client secret, which signs webhooks and what shoppers ask at a store's own domain." env:"PERENNIAL_APP_SECRET"`
	// An app has one path at a store's domain, so memberships may have an app of their own there.
	MembershipsAppSecret Secret        `help:"Client secret of the app through which shoppers reach memberships at a store's own domain. Empty: the same app's." env:"PERENNIAL_MEMBERSHIPS_APP_SECRET"`
	PublicURL            string        `help:"Address under which the platform reaches this service; webhooks are delivered to its /webhooks. Empty: no subscriptions are made." env:"PERENNIAL_PUBLIC_URL"`
	CallTimeout          time.Duration `help:"Longest wait for one answer of the platform." default:"15s" env:"PERENNIAL_CALL_TIMEOUT"`
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
	MailHost     string        `help:"Mail server. Empty: e-mails wait." env:"PERENNIAL_MAIL_HOST"`
	MailPort     int           `help:"Port of the mail server." default:"587" env:"PERENNIAL_MAIL_PORT"`
	MailUser     string        `help:"SMTP username. Leave empty for no authentication." env:"PERENNIAL_MAIL_USER"`
	MailPassword Secret        `help:"SMTP password." env:"PERENNIAL_MAIL_PASSWORD"`
	MailFrom     string        `help:"Address from which e-mails are sent." env:"PERENNIAL_MAIL_FROM"`
	MailTLS      string        `help:"How the connection is encrypted: starttls, tls from the start, or none." name:"mail-tls" default:"starttls" enum:"starttls,tls,none" env:"PERENNIAL_MAIL_TLS"`
	MailTimeout  time.Duration `help:"Longest wait for one answer of the mail server." default:"15s" env:"PERENNIAL_MAIL_TIMEOUT"`
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

	Listen            string         `help:"Address of the subscriptions interface and of webhooks." default:"127.0.0.1:8080" env:"PERENNIAL_LISTEN"`
	MembershipsListen string         `help:"Address of the memberships interface. Empty: only by host name." default:"127.0.0.1:8081" env:"PERENNIAL_MEMBERSHIPS_LISTEN"`
	MembershipsHost   string         `help:"Host name under which the first address answers as memberships." env:"PERENNIAL_MEMBERSHIPS_HOST"`
	OpsListen         string         `help:"Address of /healthz, /readyz and /metrics. Empty: on the first address." env:"PERENNIAL_OPS_LISTEN"`
	Web               bool           `help:"Answer requests on this node." default:"true" negatable:"" env:"PERENNIAL_WEB"`
	Work              bool           `help:"Sweep and work jobs on this node." default:"true" negatable:"" env:"PERENNIAL_WORK"`
	Workers           int            `help:"Jobs worked at once." default:"8" env:"PERENNIAL_WORKERS"`
	PollOnly          bool           `help:"Ask the queue for jobs instead of being notified (connection poolers)." env:"PERENNIAL_POLL_ONLY"`
	JobPoll           time.Duration  `help:"How often the queue is asked for jobs." default:"500ms" env:"PERENNIAL_JOB_POLL"`
	SweepEvery        time.Duration  `help:"How often a sweep looks for what is due." default:"2s" env:"PERENNIAL_SWEEP_EVERY"`
	ReconcileEvery    time.Duration  `help:"How often each store is compared with the platform." default:"1h" env:"PERENNIAL_RECONCILE_EVERY"`
	RatePerSecond     float64        `help:"Requests per second that a key, and a shop, may make." default:"10" env:"PERENNIAL_RATE"`
	PrivatePartners   bool           `help:"Allow private addresses and plain HTTP for partners' applications and webhook endpoints. For installations that only call their own network." env:"PERENNIAL_PRIVATE_PARTNERS"`
	RateBurst         int            `help:"Requests that a key, and a shop, may make at once." default:"40" env:"PERENNIAL_RATE_BURST"`
	TrustedProxies    []netip.Prefix `help:"Networks of proxies whose X-Forwarded-For is believed." placeholder:"CIDR" env:"PERENNIAL_TRUSTED_PROXIES"`
	DrainTimeout      time.Duration  `help:"Longest wait for running work after SIGTERM." default:"30s" env:"PERENNIAL_DRAIN_TIMEOUT"`
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
	if s.PublicURL != "" {
		if u, err := url.Parse(s.PublicURL); err != nil || u.Host == "" {
			return fmt.Errorf("public URL: %q is not an address such as https://subscriptions.example.com", s.PublicURL)
		}
	}
	if err := s.Mail.check(); err != nil {
		return err
	}
	if s.Workers < 1 || s.SweepEvery <= 0 || s.ReconcileEvery <= 0 || s.RatePerSecond <= 0 || s.RateBurst < 1 || s.WaitsScale <= 0 {
		return errors.New("workers, sweep, reconcile, rate and waits settings must be positive")
	}
	return nil
}
