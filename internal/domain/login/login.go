// Package login lets subscribers into the portal without a password: by a link
// that works once, or by a token that their store's server was given.
package login

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
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

// SessionLife is how long a session lasts at most.
const SessionLife = sessionLife

// secretBytes is how much chance is in a link or a token.
const secretBytes = 32

// secretLength is how long it is in writing.
const secretLength = 43

// Hash is the SHA-256 of a link's or a token's secret part. The part itself is
// not kept.
type Hash [32]byte

// newSecret returns a secret and what is kept of it.
func newSecret() (string, Hash) {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) // never fails: it ends the process instead
	value := base64.RawURLEncoding.EncodeToString(b)
	return value, hashOf(value)
}

func hashOf(value string) Hash { return sha256.Sum256([]byte(value)) }

// wellFormed reports whether a value can be a secret at all.
func wellFormed(value string) bool {
	if len(value) != secretLength {
		return false
	}
	_, err := base64.RawURLEncoding.DecodeString(value)
	return err == nil
}

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
	ByLink  Via = "LINK"
	ByToken Via = "TOKEN"
	ByProxy Via = "PROXY" // through the store's own domain; there is no session
)

// Session is a subscriber who is in. One by token does not end by not being
// used.
type Session struct {
	Hash      Hash
	Customer  int64
	Via       Via
	CreatedAt time.Time
	SeenAt    time.Time // to within noteEvery
	ExpiresAt time.Time // at the latest
}

func (s Session) alive(now time.Time) bool {
	return now.Before(s.ExpiresAt) && (s.Via == ByToken || now.Before(s.SeenAt.Add(idleLife)))
}

// Principal is who uses the portal.
type Principal struct {
	Shop     shop.ID
	Customer int64
	Via      Via
}

// Actor returns the principal as an actor who may see only the subscriber's own
// records.
func (p Principal) Actor(clientIP string) activity.Actor {
	by := Actor(clientIP)
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

// Domain is the reverse of Handle.
func Domain(handle string) string {
	if strings.Contains(handle, ".") {
		return handle
	}
	return handle + platformDomain
}
