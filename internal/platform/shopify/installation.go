package shopify

import (
	"context"
	"fmt"
	"strings"

	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/admin"
)

var _ platform.Installations = (*Client)(nil)

// GrantedScopes returns the access scopes that the store has granted to the app.
func (c *Client) GrantedScopes(ctx context.Context, shop platform.Shop) ([]string, error) {
	got, err := admin.Installation(ctx, c.session(shop))
	if err != nil {
		return nil, about(err, "read the access scopes")
	}
	names := make([]string, len(got.CurrentAppInstallation.AccessScopes))
	for i, s := range got.CurrentAppInstallation.AccessScopes {
		names[i] = s.Handle
	}
	return names, nil
}

// Subscriptions returns the web addresses to which the platform delivers each topic.
func (c *Client) Subscriptions(ctx context.Context, shop platform.Shop, topics []platform.Topic) (map[platform.Topic][]string, error) {
	words := make([]string, len(topics))
	for i, t := range topics {
		words[i] = topicWord(t)
	}
	found, err := c.session(shop).subscriptions(ctx, words)
	if err != nil {
		return nil, fmt.Errorf("read the webhook subscriptions: %w", err)
	}
	addresses := map[platform.Topic][]string{}
	for i, t := range topics {
		for _, s := range found[words[i]] {
			addresses[t] = append(addresses[t], strings.TrimSuffix(s.Uri, "/"))
		}
	}
	return addresses, nil
}
