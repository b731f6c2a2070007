package simulator

import "github.com/perennialhq/perennial/internal/base/gid"

// commonScopes are the access scopes of a store whose scopes were not set.
var commonScopes = []string{
	"read_all_orders", "read_customer_merge", "read_customer_payment_methods", "read_locations", "read_merchant_managed_fulfillment_orders",
	"write_app_proxy", "write_customers", "write_discounts",
	"write_orders", "write_own_subscription_contracts", "write_products", "write_shipping",
}

// scopes returns the access scopes that the store has granted to the app.
func (sh *store) scopes() []string {
	if sh.Grants.Scopes == nil {
		return commonScopes
	}
	return sh.Grants.Scopes
}

func (r registry) installationFields() {
	r["AppInstallation"] = fields{
		"id": get(func(s *store) any { return gid.Of("AppInstallation", s.ID) }),
		"accessScopes": get(func(s *store) any {
			list := make([]object, len(s.scopes()))
			for i, name := range s.scopes() {
				list[i] = object{"AccessScope", name}
			}
			return list
		}),
	}
	r["AccessScope"] = fields{
		"handle":      get(func(name string) any { return name }),
		"description": get(func(name string) any { return name }),
	}
}
