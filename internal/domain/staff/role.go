// Package staff lets the people of a store into its dashboard: who they are, what they may
// do, and how they sign in. It leaves pages and cookies to package dashboard.
package staff

import (
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// Role says what a person may do in a store.
type Role string

// The roles.
const (
	Owner     Role = "OWNER"
	Admin     Role = "ADMIN"
	Support   Role = "SUPPORT"
	Analyst   Role = "ANALYST"
	Developer Role = "DEVELOPER"
)

// Roles lists the roles, the one that may do most first.
var Roles = []Role{Owner, Admin, Support, Analyst, Developer}

// Permission is something that a role may do.
type Permission string

// The permissions.
const (
	ReadStore       Permission = "READ_STORE"       // read contracts, orders, plans and figures
	ManageContracts Permission = "MANAGE_CONTRACTS" // change contracts and send portal links
	ManageStore     Permission = "MANAGE_STORE"     // change plans, settings, templates
	ManageKeys      Permission = "MANAGE_KEYS"      // API keys, webhooks, logs of requests
	ManageUsers     Permission = "MANAGE_USERS"     // invite, change and remove all but owners
	ManageOwners    Permission = "MANAGE_OWNERS"    // the same for owners
)

// Permissions lists the permissions, in the order in which they are shown.
var Permissions = []Permission{ReadStore, ManageContracts, ManageStore, ManageKeys, ManageUsers, ManageOwners}

// granted says what each role may do.
var granted = map[Role][]Permission{
	Owner:     {ReadStore, ManageContracts, ManageStore, ManageKeys, ManageUsers, ManageOwners},
	Admin:     {ReadStore, ManageContracts, ManageStore, ManageKeys, ManageUsers},
	Support:   {ReadStore, ManageContracts},
	Analyst:   {ReadStore},
	Developer: {ReadStore, ManageKeys},
}

// May reports whether a role has a permission.
func (r Role) May(p Permission) bool { return slices.Contains(granted[r], p) }

// mayManage reports whether one role may give, change or take another.
func (r Role) mayManage(other Role) bool {
	if other == Owner {
		return r.May(ManageOwners)
	}
	return r.May(ManageUsers)
}

// Manages lists the roles that a role may give.
func (r Role) Manages() []Role {
	return slices.DeleteFunc(slices.Clone(Roles), func(other Role) bool { return !r.mayManage(other) })
}

// ParseRole returns the role of a name, in any letter case.
func ParseRole(name string) (Role, error) {
	role := Role(strings.ToUpper(strings.TrimSpace(name)))
	if !slices.Contains(Roles, role) {
		return "", fault.New(fault.Invalid, "%.40q is not a role: use OWNER, ADMIN, SUPPORT, ANALYST or DEVELOPER", name).Entity(entity).Code("roleInvalid").Field("role")
	}
	return role, nil
}
