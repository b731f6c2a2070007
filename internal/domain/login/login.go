// Package login lets subscribers into the portal without a password: by a link
// that works once, by their account at the store, or by a token that their store's server was given.
package login

import (
	"regexp"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/secret"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// entity is what failures are about.
const entity = "customer"

// How long what opens the portal does so.
const (
	linkLife    = 2 * time.Hour
	tokenLife   = 2 * time.Hour
	sessionLife = 30 * 24 * time.Hour
	idleLife    = 12 * time.Hour // of an unused session
	// lastUseResolution is how exactly the last use of a session is known.
	lastUseResolution = 5 * time.Minute
)

// What pages say: how long a session lasts at most, and how long a link works.
const (
	SessionLife = sessionLife
	LinkLife    = linkLife
)

// Hash is what is stored of the secret part of a link or a token.
type Hash = secret.Hash

// Subscriber is a customer who has a contract, in any state and of any line.
type Subscriber struct {
	Customer contract.Customer
	Contract contract.ID // the newest
}

// Link opens the portal once.
type Link struct {
	Hash      Hash
	Customer  int64
	Contract  contract.ID // the customer's newest when it was made
	OpenedBy  string      // the user of the dashboard who opens the portal as the customer; empty: the customer
	CreatedAt time.Time
	ExpiresAt time.Time
	UsedAt    time.Time // zero until it is used
}

// usable says why a link opens nothing, or nil.
func (l Link) usable(now time.Time) error {
	switch {
	case !l.UsedAt.IsZero():
		return fault.New(fault.FailedPrecondition, "this link was used already").Code("linkUsed")
	case !now.Before(l.ExpiresAt):
		return fault.New(fault.FailedPrecondition, "this link has expired").Code("linkExpired")
	}
	return nil
}

// Via says how a subscriber signed in.
type Via string

// The ways in.
const (
	ByLink    Via = "LINK"
	ByAccount Via = "ACCOUNT" // at the store, by the platform
	ByToken   Via = "TOKEN"
	ByProxy   Via = "PROXY" // through the store's own domain; there is no session
)

// Session is a subscriber who is in. One by token does not end by not being
// used.
type Session struct {
	Hash      Hash
	Customer  int64
	Via       Via
	OpenedBy  string         // as of Link
	IDToken   platform.Token // with which the customer signs out at the platform; empty: they did not sign in there
	CreatedAt time.Time
	SeenAt    time.Time // to within noteEvery
	ExpiresAt time.Time // at the latest
	Language  string    // that the customer has asked for, see portal.Preferences; only read, empty: none
}

func (s Session) alive(now time.Time) bool {
	return now.Before(s.ExpiresAt) && (s.Via == ByToken || now.Before(s.SeenAt.Add(idleLife)))
}

// byCookie reports whether a session is one of a browser, whose cookie was asked for.
func (s Session) byCookie() bool { return s.Via == ByLink || s.Via == ByAccount || s.Via == BySupport }

// Principal is who uses the portal.
type Principal struct {
	Shop     shop.ID
	Customer int64
	Via      Via
	OpenedBy string    // as of Link
	Until    time.Time // when a session of support ends; zero: it is none
	Language string    // BCP 47, of the customer's pages; empty: the browser's. Support reads in its own
}

// Actor returns the principal as an actor who may see only the subscriber's own
// records. What support does is the merchant's.
func (p Principal) Actor(clientIP string) activity.Actor {
	by := Actor(clientIP)
	if p.OpenedBy != "" {
		by.Source, by.By = activity.MerchantPortal, p.OpenedBy
	}
	by.Customer = p.Customer
	return by
}

// Actor returns a subscriber as entries of the activity log name one.
func Actor(clientIP string) activity.Actor {
	return activity.Actor{Source: activity.CustomerPortal, By: "customer", ClientIP: clientIP}
}

// platformDomain is what the domains of all stores end with.
const platformDomain = ".myshopify.com"

// Handle returns how a store is named in addresses of the portal.
func Handle(domain string) string { return strings.TrimSuffix(domain, platformDomain) }

// handles is how stores are named.
var handles = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,252}$`)

// IsHandle reports whether a text can name a store.
func IsHandle(text string) bool { return handles.MatchString(text) }

// Domain is the reverse of Handle.
func Domain(handle string) string {
	if strings.Contains(handle, ".") {
		return handle
	}
	return handle + platformDomain
}
