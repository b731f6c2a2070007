package words

import (
	"strings"

	"github.com/perennialhq/perennial/internal/domain/access"
)

// Permission is a scope in words.
type Permission struct {
	Scope access.Scope
	Name  string // verb and noun: "Read contracts"
	About string // examples of what it opens
}

// Permissions are the scopes in words, in the order of the interface.
var Permissions = []Permission{
	{access.All, "Full access", "everything the API offers"},
	{access.ContractsRead, "Read contracts", "contracts, orders, customers"},
	{access.ContractsWrite, "Change contracts", "pause, resume, cancel, products, addresses"},
	{access.BillingWrite, "Change orders", "skip, move, one-time products"},
	{access.BillingCharge, "Charge orders", "charges a customer at once"},
	{access.PlansRead, "Read plans", "plan groups and their options"},
	{access.PlansWrite, "Change plans", "create, change and delete plan groups"},
	{access.ProductsWrite, "Change product swaps", "swap rules"},
	{access.BundlesRead, "Read bundles", "boxes that customers fill"},
	{access.DeliveryWrite, "Change delivery profiles", "where and how orders are delivered"},
	{access.PortalLink, "Make portal links", "signs a customer in"},
	{access.ActivityRead, "Read the activity log", "what was changed, and who did it"},
	{access.LoyaltyRead, "Read loyalty", "members, points and rewards"},
	{access.LoyaltyWrite, "Change loyalty", "gives and takes points"},
	{access.WebhooksManage, "Manage webhooks", "endpoints and deliveries"},
	{access.MembershipsRead, "Read memberships", "on the memberships address"},
	{access.MembershipsWrite, "Change memberships", "on the memberships address"},
}

// Scope returns a scope in words.
func Scope(s access.Scope) Permission {
	for _, p := range Permissions {
		if p.Scope == s {
			return p
		}
	}
	return Permission{s, string(s), ""}
}

// Scopes returns scopes in words, as one sentence: "Read contracts, make portal links".
func Scopes(list []access.Scope) string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = Scope(s).Name
		if i > 0 {
			names[i] = lower(names[i])
		}
	}
	return strings.Join(names, ", ")
}
