package doctor

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

// books checks that the store has been compared with the platform lately.
func books(_ context.Context, c *checkup, s shop.Shop) Finding {
	if why := s.OverdueComparison(c.Clock.Now()); why != "" {
		return failed("let perennial serve run, and read its log for what puts the comparison of the store off", "%s", why)
	}
	return ok("compared with the platform within a day")
}
