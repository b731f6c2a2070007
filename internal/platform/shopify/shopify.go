// Package shopify is the real client of the commerce platform: it keeps the
// promises of package platform with the Admin GraphQL API and with signed
// webhooks.
package shopify

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/admin"
)

//go:generate go run ./generate

// What an Options field means when it is left empty.
const (
	DefaultBaseURL    = "https://{shop}"
	DefaultAPIVersion = "2026-10"
	DefaultTimeout    = 15 * time.Second
)

// maxIdlePerHost is the number of connections to one host that are kept for the
// next request. In production a host is a store; in the sandbox, all of them.
const maxIdlePerHost = 32

// Options are what a Client needs to know. The zero value is for production.
type Options struct {
	BaseURL    string        // where a store answers; {shop} stands for its domain
	APIVersion string        // such as "2026-10"
	HTTP       *http.Client  // nil: one with kept connections. Its redirects are never followed
	Timeout    time.Duration // of one request, from connecting to the last byte of the answer
	Log        *slog.Logger  // nil: the default logger
	Clock      clock.Clock   // by which a store's limit refills; nil: the machine's
	// Wait waits for some time between two durations, or fails when ctx ends
	// first; nil: as the machine's time passes. A simulation has its own time.
	Wait func(ctx context.Context, least, most time.Duration) error
	// Observe is given each call that has ended; nil: none is.
	Observe func(Call)
	// Tokens knows the access tokens that stores have now. nil: those that callers give.
	Tokens platform.Tokens
}

// Client asks the platform. It implements platform.Platform and is safe for
// concurrent use.
//
// Calls wait for the store's rate limit instead of running into it: those of an
// interactive context first. A call whose context ends while it waits fails
// with platform.ErrThrottled and has done nothing. A read whose answer is lost is
// made up to three times more in an interactive context, and fails with
// platform.ErrUnknown then, like a change does.
type Client struct {
	baseURL string
	version string
	timeout time.Duration
	http    *http.Client
	log     *slog.Logger
	clock   clock.Clock
	tokens  platform.Tokens
	wait    func(ctx context.Context, least, most time.Duration) error
	virtual bool // wait is not the machine's
	report  func(Call)

	questions [platform.MaxCharges + 1]*document // CycleState, repeated
	charges   [platform.MaxCharges + 1]*document // Charge, repeated
	documents sync.Map                           // operation name → *document
	stores    sync.Map                           // domain → *store
	buffers   sync.Pool                          // *bytes.Buffer
	versions  sync.Map                           // version that answered instead of ours → true
}

// New returns a client.
func New(o Options) *Client {
	c := &Client{baseURL: o.BaseURL, version: o.APIVersion, timeout: o.Timeout, log: o.Log, clock: o.Clock, tokens: o.Tokens, wait: o.Wait, virtual: o.Wait != nil, report: o.Observe}
	if c.clock == nil {
		c.clock = clock.System{}
	}
	if c.wait == nil {
		c.wait = pause
	}
	if c.baseURL == "" {
		c.baseURL = DefaultBaseURL
	}
	if c.version == "" {
		c.version = DefaultAPIVersion
	}
	if c.timeout == 0 {
		c.timeout = DefaultTimeout
	}
	if c.log == nil {
		c.log = slog.Default()
	}
	if o.HTTP == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxIdleConns = 0 // as many as there are hosts
		t.MaxIdleConnsPerHost = maxIdlePerHost
		o.HTTP = &http.Client{Transport: t}
	}
	own := *o.HTTP
	// A redirect would carry the token to whatever host it names.
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.http = &own
	texts := repeated()
	for n := 1; n <= platform.MaxCharges; n++ {
		c.questions[n] = newDocument("CycleState", texts.questions[n], n*guessQuestion)
		c.charges[n] = newDocument("Charge", texts.charges[n], n*guessCharge)
	}
	return c
}

// CloseIdleConnections closes the connections that no call uses now.
func (c *Client) CloseIdleConnections() { c.http.CloseIdleConnections() }

// batches are the texts of documents that ask for several things at once.
type batches struct {
	questions, charges [platform.MaxCharges + 1]string
}

// repeated returns the texts, which are the same for every client.
var repeated = sync.OnceValue(func() *batches {
	var b batches
	for n := 1; n <= platform.MaxCharges; n++ {
		b.questions[n] = repeat(admin.CycleState_Operation, n)
		b.charges[n] = repeat(admin.Charge_Operation, n)
	}
	return &b
})

// store is what the client keeps of one store between calls.
type store struct {
	endpoint string
	bucket   *bucket
}

// store returns the state of the store with the given domain.
func (c *Client) store(domain string) (*store, error) {
	if s, ok := c.stores.Load(domain); ok {
		return s.(*store), nil
	}
	if !validDomain(domain) {
		return nil, fault.New(fault.Invalid, "%q is not the domain of a store", domain)
	}
	s := &store{
		endpoint: strings.ReplaceAll(c.baseURL, "{shop}", domain) + "/admin/api/" + c.version + "/graphql.json",
		bucket:   newBucket(c.clock),
	}
	if c.virtual {
		s.bucket.sleep = c.wait
	}
	kept, _ := c.stores.LoadOrStore(domain, s)
	return kept.(*store), nil
}

// validDomain reports whether s is a store's address at the platform.
func validDomain(s string) bool { return platform.ValidDomain(s) }
