package doctor

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

// charges checks that nothing keeps the store from being charged.
func charges(_ context.Context, c *checkup, s shop.Shop) Finding {
	switch g := s.Guard; {
	case !s.CancelsAt().IsZero():
		return failed("install the app again before, or let the contracts end", "the store is disconnected since %s, and the platform cancels the contracts of an app that was uninstalled at %s",
			g.DisconnectedAt.Format(time.RFC3339), s.CancelsAt().Format(time.RFC3339))
	case !g.FrozenAt.IsZero():
		return failed("make sure that no other installation charges the store, then run perennial unfreeze --shop "+s.Domain+" --reason …", "%s", g.BlockReason(c.Clock.Now()))
	case !g.AwaitsSince.IsZero():
		return warning("run perennial shops confirm "+s.Domain, "%s", g.BlockReason(c.Clock.Now()))
	case !g.Hold.Since.IsZero():
		return failed("ask the payment provider", "nearly all charges have been declined since %s; a few are tried at %s", g.Hold.Since.Format(time.RFC3339), g.Hold.Until.Format(time.RFC3339))
	case g.BlockReason(c.Clock.Now()) != "":
		return warning("let perennial serve run: it asks the platform", "%s", g.BlockReason(c.Clock.Now()))
	}
	return ok("charged when they are due")
}
