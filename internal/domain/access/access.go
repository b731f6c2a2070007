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

// ParseScope reads one scope.
func ParseScope(s string) (Scope, error) {
	if slices.Contains(Scopes, Scope(s)) {
		return Scope(s), nil
	}
	return "", fault.New(fault.Invalid, "%q is not a scope", s).At("scopes")
}

// MaxKeys is how many keys of one shop may be active at a time.
const MaxKeys = 10

// KeyID is the service's number of a key, unique within a shop.
type KeyID int64

// Hash is the SHA-256 of a key's full value.
type Hash [32]byte

// Key is an API key as it is kept: its value is not among it.
type Key struct {
	ID         KeyID
	Shop       shop.ID
	Name       string
	Hint       string // the first characters of the value, to recognise it by
	Hash       Hash
	Scopes     []Scope
	CreatedAt  time.Time
	LastUsedAt time.Time // zero when never used
	RevokedAt  time.Time // zero while active
	Version    int64
}

// Allows reports whether the key carries a scope.
func (k Key) Allows(want Scope) bool {
	for _, have := range k.Scopes {
		if have == All || have == want {
			return true
		}
		if area, ok := strings.CutSuffix(string(have), ":write"); ok && string(want) == area+":read" {
			return true
		}
	}
	return false
}
