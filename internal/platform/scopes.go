package platform

import (
	"slices"
	"strings"
)

// Feature is what an access scope is for.
type Feature string

// The features that need access scopes.
const (
	FeatureContracts  Feature = "subscription contracts and charges"
	FeatureSubscriber Feature = "names, addresses and e-mails of subscribers"
	FeaturePayment    Feature = "payment methods"
	FeatureCardLink   Feature = "links with which subscribers replace a card"
	FeatureProducts   Feature = "products and prices"
	FeaturePlans      Feature = "selling plans"
	FeatureOrders     Feature = "tags, notes and prices of renewal orders"
	FeatureShipments  Feature = "fulfillment orders of subscriptions"
	FeatureDelivery   Feature = "delivery profiles of selling plans"
	FeatureDiscounts  Feature = "discount codes and loyalty rewards"
	FeatureLocations  Feature = "pickup and shipping locations"
	FeaturePortal     Feature = "the portal at the store's own domain"
)

// Scope is an access scope that the service asks merchants for.
type Scope struct {
	Name    string
	Feature Feature
	Why     string // a sentence for merchants
	// Required scopes are those without which nothing works. Without one that is not, only
	// its feature is missing.
	Required bool
}

// Scopes lists the access scopes of an app that serves subscriptions, each with its reason.
// A scope is added here with the feature that needs it; merchants are then asked again.
func Scopes() []Scope {
	return []Scope{
		{"write_own_subscription_contracts", FeatureContracts, "Create, change and charge the subscriptions that customers buy.", true},
		{"read_customers", FeatureSubscriber, "Send e-mails to subscribers and show who a subscription belongs to.", true},
		{"read_customer_payment_methods", FeaturePayment, "See which card a subscription is charged to and when it expires.", true},
		{"read_products", FeatureProducts, "Show the products of a subscription and compute its price.", true},
		{"write_customers", FeatureCardLink, "Have the platform e-mail a subscriber a link for a new card.", false},
		{"write_products", FeaturePlans, "Create selling plans and put products on them.", false},
		{"write_orders", FeatureOrders, "Read renewal orders, and write their tags and notes.", true},
		{"read_merchant_managed_fulfillment_orders", FeatureShipments, "Show the fulfillment orders of the order with which a subscription began.", false},
		{"write_shipping", FeatureDelivery, "Set shipping rates of their own for subscriptions.", false},
		{"read_locations", FeatureLocations, "Offer the pickup locations of the store.", false},
		{"write_discounts", FeatureDiscounts, "Apply discount codes to subscriptions and create those of loyalty rewards.", false},
		{"write_app_proxy", FeaturePortal, "Show subscribers their subscriptions at the store's own domain.", false},
	}
}

// ProxyScopes lists the access scopes of an app that only serves a second path at the
// store's domain.
func ProxyScopes() []Scope {
	list := Scopes()
	return slices.DeleteFunc(list, func(s Scope) bool { return s.Feature != FeaturePortal })
}

// ScopeNames returns the names in the order of the list.
func ScopeNames(list []Scope) []string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.Name
	}
	return names
}

// ParseScopes reads the platform's list, whose names are separated by commas. It returns
// them sorted and each once.
func ParseScopes(text string) []string {
	var names []string
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// MissingScopes returns the scopes of a list that were not granted. One that permits
// writing includes the one that permits reading.
func MissingScopes(list []Scope, granted []string) []Scope {
	return slices.DeleteFunc(slices.Clone(list), func(s Scope) bool { return grants(granted, s.Name) })
}

func grants(granted []string, name string) bool {
	if slices.Contains(granted, name) {
		return true
	}
	prefix, subject, ok := cutRead(name)
	return ok && slices.Contains(granted, prefix+"write_"+subject)
}

// cutRead splits the name of a scope that permits reading.
func cutRead(name string) (prefix, subject string, ok bool) {
	const shoppers = "unauthenticated_"
	rest, unauthenticated := strings.CutPrefix(name, shoppers)
	if unauthenticated {
		prefix = shoppers
	}
	subject, ok = strings.CutPrefix(rest, "read_")
	return prefix, subject, ok
}
