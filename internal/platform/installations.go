package platform

import "context"

// Installations reads what a store has permitted the app to do, and what the platform
// reports to it. Nothing is changed.
type Installations interface {
	// GrantedScopes returns the access scopes that the store has granted to the app.
	GrantedScopes(ctx context.Context, shop Shop) ([]string, error)
	// Subscriptions returns the web addresses to which the platform delivers each of the
	// topics. A topic without a subscription is left out.
	Subscriptions(ctx context.Context, shop Shop, topics []Topic) (map[Topic][]string, error)
}
