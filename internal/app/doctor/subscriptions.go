package doctor

import (
	"context"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// subscriptions checks that the platform reports every topic, and here.
func subscriptions(ctx context.Context, c *checkup, s shop.Shop) Finding {
	const do = "let perennial serve run: it subscribes with every comparison of the store (PERENNIAL_RECONCILE_EVERY)"
	ours := c.Settings.Callback()
	if ours == "" {
		return failed("set PERENNIAL_PUBLIC_URL", "no public address is set, so that nothing is subscribed to")
	}
	if s.SubscribeError != "" {
		return failed("grant the scopes that the topics need, then let perennial serve run", "the platform refuses: %s", s.SubscribeError)
	}
	addresses, err := c.client.Subscriptions(ctx, s.At(), platform.Topics)
	if err != nil {
		return notChecked("the platform does not list them: %v", err)
	}
	var missing, elsewhere []string
	for _, t := range platform.Topics {
		switch at := addresses[t]; {
		case len(at) == 0:
			missing = append(missing, string(t))
		case !slices.Contains(at, ours):
			elsewhere = append(elsewhere, string(t)+" → "+at[0])
		}
	}
	switch {
	case len(missing) > 0:
		return failed(do, "not subscribed to: %s", strings.Join(missing, ", "))
	case len(elsewhere) > 0:
		return failed(do+"; an other installation with this app would take them back", "delivered to another address: %s", strings.Join(elsewhere, ", "))
	}
	return ok("%d topics are delivered to %s", len(platform.Topics), ours)
}
