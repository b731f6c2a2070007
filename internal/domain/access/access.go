// Package access decides who may call: API keys, their scopes and their life.
package access

import (
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Scope is a permission of a key. "x:write" includes "x:read"; All is all.
type Scope string

// The scopes.
const (
	All              Scope = "*"
	ContractsRead    Scope = "contracts:read"
	ContractsWrite   Scope = "contracts:write"
	BillingWrite     Scope = "billing:write"
	BillingCharge    Scope = "billing:charge"
	PlansRead        Scope = "plans:read"
	PlansWrite       Scope = "plans:write"
	ProductsWrite    Scope = "products:write"
	BundlesRead      Scope = "bundles:read"
	DeliveryWrite    Scope = "delivery:write"
	PortalLink       Scope = "portal:link"
	ActivityRead     Scope = "activity:read"
	LoyaltyRead      Scope = "loyalty:read"
	LoyaltyWrite     Scope = "loyalty:write"
	WebhooksManage   Scope = "webhooks:manage"
	MembershipsRead  Scope = "memberships:read"
	MembershipsWrite Scope = "memberships:write"
)

// Scopes lists every scope.
var Scopes = []Scope{
	All, ContractsRead, ContractsWrite, BillingWrite, BillingCharge, PlansRead, PlansWrite, ProductsWrite, BundlesRead,
	DeliveryWrite, PortalLink, ActivityRead, LoyaltyRead, LoyaltyWrite, WebhooksManage, MembershipsRead, MembershipsWrite,
}

// Required returns the scopes that an operation needs on a host, all of them. On
// the memberships host every operation needs memberships:read, or
// memberships:write when it changes something. There they stand in the place of
// contracts:read and contracts:write; any other scope is needed in addition.
func Required(own Scope, on shop.Line, changes bool) []Scope {
	if on != shop.Memberships {
		return []Scope{own}
	}
	side := MembershipsRead
	if changes {
		side = MembershipsWrite
	}
	switch own {
	case All:
		return []Scope{All}
	case ContractsRead, MembershipsRead:
		return []Scope{side}
	case ContractsWrite, MembershipsWrite:
		return []Scope{MembershipsWrite}
	}
	return []Scope{own, side}
}

// ParseScope reads one scope.
func ParseScope(s string) (Scope, error) {
	if slices.Contains(Scopes, Scope(s)) {
		return Scope(s), nil
	}
	names := make([]string, len(Scopes))
	for i, known := range Scopes {
		names[i] = string(known)
	}
	return "", fault.New(fault.Invalid, "%q is not a scope: use %s", s, strings.Join(names, ", ")).Code("scopeUnknown").Field("scopes")
}

// MaxKeys is how many keys of one shop may be active at a time.
const MaxKeys = 10

// ParseScopes reads scopes and leaves out what is named twice.
func ParseScopes(texts []string) ([]Scope, error) {
	var scopes []Scope
	for _, text := range texts {
		scope, err := ParseScope(text)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	return scopes, nil
}

// KeyID is the service's number of a key, unique within a shop.
type KeyID int64

// Hash is the SHA-256 of a key's full value.
type Hash [32]byte

// AppID names an application of a partner: a short word that never changes.
type AppID string

// Key is an API key as it is kept: its value is not among it. The token of a
// partner's connection is a key too, which names its application and connection.
type Key struct {
	ID           KeyID
	Shop         shop.ID
	Name         string
	Hint         string // the first characters of the value, to recognise it by
	Tail         string // the last ones; empty when they were not kept
	Hash         Hash
	Scopes       []Scope
	App          AppID  // of a partner's token; empty for a merchant's key
	Connection   int64  // of a partner's token; 0 for a merchant's key
	AppSuspended bool   // the partner's application may not be served; read along, never written
	CreatedBy    string // empty when it is not known
	CreatedAt    time.Time
	LastUsedAt   time.Time // zero when never used
	LastUsedFrom string    // IP address of the client then; empty when it is not known
	RevokedAt    time.Time // the instant from which it opens nothing, which may lie ahead; zero when there is none
	Version      int64
}

// Live reports whether the key opens its shop at an instant.
func (k Key) Live(now time.Time) bool { return k.RevokedAt.IsZero() || now.Before(k.RevokedAt) }

// Allows reports whether the key carries a scope.
func (k Key) Allows(want Scope) bool { return Allows(k.Scopes, want) }

// Allows reports whether some scopes include another.
func Allows(scopes []Scope, want Scope) bool {
	for _, have := range scopes {
		if have == All || have == want {
			return true
		}
		if area, ok := strings.CutSuffix(string(have), ":write"); ok && string(want) == area+":read" {
			return true
		}
	}
	return false
}
