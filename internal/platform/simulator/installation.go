package simulator

import "github.com/perennialhq/perennial/internal/base/gid"

// commonScopes are the access scopes of a store whose scopes were not set.
var commonScopes = []string{
	"read_all_orders", "read_customer_merge", "read_customer_payment_methods", "read_locations", "read_merchant_managed_fulfillment_orders",
	"write_app_proxy", "write_customers", "write_discounts",
	"write_orders", "write_own_subscription_contracts", "write_products", "write_shipping",
}

// scopes returns the access scopes that the store has granted to the app.
func (i installation) scopes() []string {
	if i.grants.Scopes == nil {
		return commonScopes
	}
	return i.grants.Scopes
}

func (r registry) installationFields() {
	r["AppInstallation"] = fields{
		"id": get(func(i installation) any { return gid.Of("AppInstallation", i.sh.ID) }),
		"accessScopes": get(func(i installation) any {
			list := make([]object, len(i.scopes()))
			for n, name := range i.scopes() {
				list[n] = object{"AccessScope", name}
			}
			return list
		}),
	}
	r["AccessScope"] = fields{
		"handle":      get(func(name string) any { return name }),
		"description": get(func(name string) any { return name }),
	}
}
