package doctor

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/deliver"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify"
	"github.com/perennialhq/perennial/internal/store"
)

// Scope is an access scope that a store has not granted.
type Scope struct {
	Name     string
	Without  string // what does not work without it
	Required bool   // nothing works without it
}

// Token is what is known of a store's access token. Zero instants are not known, or never.
type Token struct {
	IssuedAt        time.Time
	ExpiresAt       time.Time
	Fixed           bool      // it never expires, and the platform stops accepting such tokens of public apps
	Renewable       bool      // the service gets the next token before this one expires
	RenewableUntil  time.Time // by then the next token must have been got
	RenewalsRefused string    // why the platform does not renew it; empty: it does
	RenewalsFailed  int       // in a row
}

// Options say what is checked.
type Options struct {
	Settings config.Server
	Doctor   config.Doctor
	Clock    clock.Clock
	// Open opens the database of the settings.
	Open func(ctx context.Context) (*store.DB, error)
	// MailServer returns the mail server of the settings, when they name one.
	MailServer func() (*deliver.SMTP, error)
	// SMSProvider returns the provider of SMS of the settings, which name one.
	SMSProvider func() *deliver.Twilio
	// Tokens returns what knows the stores' access tokens; nil: those that are stored with them.
	Tokens func(db *store.DB) platform.Tokens
	// HTTP asks the public address and the stores' own domains; nil: the default client.
	HTTP *http.Client
	// Resolver asks DNS about the sender's domain; nil: the machine's.
	Resolver *net.Resolver
	// Missing returns the access scopes that the service needs beyond those granted; nil:
	// scopes are not checked.
	Missing func(granted []string) []Scope
	// TokenOf returns what is known of a store's access token; nil: nothing is.
	TokenOf func(ctx context.Context, db *store.DB, of shop.Shop) (Token, error)
}

// checkup is one run of all checks.
type checkup struct {
	Options
	db     *store.DB // nil: it could not be opened
	client client
	web    *http.Client // follows no redirects
}

// client is what is asked of the platform.
type client interface {
	platform.Stores
	platform.Installations
}

func newCheckup(o Options) *checkup {
	if o.HTTP == nil {
		o.HTTP = http.DefaultClient
	}
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	web := *o.HTTP
	web.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &checkup{Options: o, web: &web}
}

// opened takes over the database that was opened.
func (c *checkup) opened(db *store.DB) {
	c.db = db
	o := shopify.Options{
		BaseURL: c.Settings.PlatformURL, APIVersion: c.Settings.APIVersion, Timeout: c.Settings.CallTimeout, HTTP: c.HTTP, Log: slog.New(slog.DiscardHandler),
	}
	if c.Tokens != nil {
		o.Tokens = c.Tokens(db)
	}
	c.client = shopify.New(o)
}
