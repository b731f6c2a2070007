package doctor

import (
	"context"
	"errors"

	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// reconnect says how a store is connected once more.
func reconnect(s shop.Shop) string {
	return "open the app in the store's admin, or run perennial shops connect --shop " + s.Domain + " --token-file …"
}

// connection checks that the platform accepts the store's token.
func connection(ctx context.Context, c *checkup, s shop.Shop) Finding {
	facts, err := c.client.Store(ctx, s.At())
	switch {
	case errors.Is(err, platform.ErrDisconnected):
		return failed(reconnect(s), "the platform does not accept the token")
	case err != nil:
		return failed("try again; when it stays, check PERENNIAL_PLATFORM_URL and this machine's way to the internet", "%v", err)
	case facts.TimeZone != s.TimeZone:
		return warning("let the service run, which takes that over, and read its log when it does not", "the store's zone is now %s and was %s", facts.TimeZone, s.TimeZone)
	case !s.Connected:
		return failed(reconnect(s), "the store is known here as disconnected: nothing is charged")
	}
	return ok("the platform accepts the token")
}
