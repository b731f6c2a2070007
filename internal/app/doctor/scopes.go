package doctor

import (
	"context"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

// scopes checks that the store has granted what the service needs.
func scopes(ctx context.Context, c *checkup, s shop.Shop) Finding {
	if c.Missing == nil {
		return notChecked("this version has no list of the scopes that it needs")
	}
	granted, err := c.client.GrantedScopes(ctx, s.At())
	if err != nil {
		return notChecked("the platform does not say what the store has granted: %v", err)
	}
	missing := c.Missing(granted)
	if len(missing) == 0 {
		return ok("all are granted")
	}
	var texts []string
	required := false
	for _, m := range missing {
		texts = append(texts, m.Name+" ("+m.Without+")")
		required = required || m.Required
	}
	do := "add them to the app's configuration, deploy it, and have the merchant open the app and agree"
	if required {
		return failed(do, "not granted: %s", strings.Join(texts, ", "))
	}
	return warning(do, "not granted: %s", strings.Join(texts, ", "))
}
