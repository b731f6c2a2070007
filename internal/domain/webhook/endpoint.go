// Package webhook publishes what happens in stores to merchants' servers. Messages are
// stored in the commit of the change that they report and are sent, with retry delays, until
// an endpoint acknowledges them. How a message reaches a server is left to others.
package webhook

import (
	"crypto/rand"
	"encoding/base64"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/network"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

const entity = "webhookEndpoint"

// EndpointID is the id of an endpoint.
type EndpointID int64

// Limits of endpoints.
const (
	MaxEndpoints = 20 // per store
	MaxURL       = 500
	minSecret    = 24 // bytes
	maxSecret    = 64
)

const (
	// secretOverlap is how long a rotated secret still signs in addition to the new one.
	secretOverlap = 24 * time.Hour
	// disableAfter is how long all tries may fail before the service disables the endpoint
	// (a circuit breaker that only the merchant closes).
	disableAfter = 5 * 24 * time.Hour
)

// Endpoint is a merchant's server that subscribes to types of messages.
type Endpoint struct {
	ID             EndpointID
	Shop           shop.ID
	URL            string
	Types          []Type
	Secret         string // whsec_ and base64; stored encrypted, like Old
	OldSecret      string // the secret before the last rotation
	OldSecretUntil time.Time
	Enabled        bool
	Reason         string    // why the service disabled it; empty when it did not
	FailingSince   time.Time // when tries began to fail; zero while they succeed
	Resend         Resend
	Created        time.Time
	Updated        time.Time
	Version        int64
}

// Resend is what is left to do of sending an endpoint its messages again: the deliveries after a
// cursor, from the oldest on, whose events happened up to an instant. The zero Resend is none.
type Resend struct {
	After page.Cursor
	Until time.Time
}

func (r Resend) pending() bool { return !r.Until.IsZero() }

// secretPrefix begins a secret; the rest is base64.
const secretPrefix = "whsec_"

func newSecret() string {
	raw := make([]byte, 32)
	rand.Read(raw) //nolint:errcheck // it never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(raw)
}

// checkSecret validates a secret that the merchant supplies.
func checkSecret(s string) error {
	text, prefixed := strings.CutPrefix(s, secretPrefix)
	raw, err := base64.StdEncoding.DecodeString(text)
	if !prefixed || err != nil || len(raw) < minSecret || len(raw) > maxSecret {
		return fault.New(fault.Invalid, "a secret is %s and the base64 of %d to %d bytes", secretPrefix, minSecret, maxSecret).Entity(entity).Code("webhookSecret").Field("secret")
	}
	return nil
}

// checkURL validates the URL of an endpoint. Private addresses and plain HTTP are for
// installations that call into their own network.
func checkURL(address string, plainHTTP bool) error {
	u, err := url.Parse(address)
	if err == nil && u.Port() != "" {
		if port, err := strconv.ParseUint(u.Port(), 10, 16); err != nil || port == 0 {
			return fault.New(fault.Invalid, "%q has the port %s: it must be from 1 to 65535", address, u.Port()).Entity(entity).Code("webhookURL").Field("url")
		}
	}
	if err == nil && !plainHTTP && private(u.Hostname()) {
		return fault.New(fault.Invalid, "%q is not a public address: webhooks are sent over the internet", address).Entity(entity).Code("webhookURL").Field("url")
	}
	if err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "" || len(address) > MaxURL || u.Scheme != "https" && (u.Scheme != "http" || !plainHTTP) {
		return fault.New(fault.Invalid, "%q is not an address such as https://shop.example.com/webhooks: https, at most %d characters, without a name, a password or a fragment", address, MaxURL).
			Entity(entity).Code("webhookURL").Field("url")
	}
	return nil
}

// private reports whether a host is a literal private address or localhost. The address that
// a name resolves to is checked at each delivery.
func private(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return !network.Public(ip)
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// Wants reports whether the endpoint is enabled and subscribes to a type.
func (e Endpoint) Wants(t Type) bool { return e.Enabled && slices.Contains(e.Types, t) }

// secrets returns the secrets that sign a message.
func (e Endpoint) secrets(now time.Time) []string {
	if e.OldSecret != "" && now.Before(e.OldSecretUntil) {
		return []string{e.Secret, e.OldSecret}
	}
	return []string{e.Secret}
}

// rotate replaces the secret.
func (e *Endpoint) rotate(now time.Time) {
	e.OldSecret, e.OldSecretUntil = e.Secret, now.Add(secretOverlap)
	e.Secret, e.Updated = newSecret(), now
}

// recordResult records the result of a try and reports whether it disables the endpoint.
func (e *Endpoint) recordResult(failed, gone bool, now time.Time) (disabled bool) {
	if !failed {
		e.FailingSince = time.Time{}
		return false
	}
	if e.FailingSince.IsZero() {
		e.FailingSince = now
	}
	switch {
	case !e.Enabled:
		return false
	case gone:
		e.Reason = "it answered 410: it is gone"
	case now.Sub(e.FailingSince) >= disableAfter:
		e.Reason = "nothing arrived for 5 days"
	default:
		return false
	}
	e.Enabled, e.Resend, e.Updated = false, Resend{}, now
	return true
}

// note is the additional information of an entry about an endpoint.
type note struct {
	Endpoint EndpointID `json:"webhookEndpointId"`
	URL      string     `json:"url"`
	Change   change     `json:"change"`
	Reason   string     `json:"reason,omitempty"`
}

// change says what happened to an endpoint.
type change string

const (
	endpointAdded    change = "webhook endpoint added"
	endpointChanged  change = "webhook endpoint changed"
	endpointRotated  change = "webhook secret rotated"
	endpointDisabled change = "webhook endpoint disabled"
	endpointRemoved  change = "webhook endpoint removed"
)

func (e Endpoint) entry(how change, by activity.Actor, at time.Time) activity.Entry {
	return activity.Entry{
		EntityID: int64(e.Shop), EntityType: activity.EntityShopInfo, Event: activity.Updated, Status: activity.Success, Actor: by, At: at,
		Info: activity.Details(note{e.ID, e.URL, how, e.Reason}),
	}
}
