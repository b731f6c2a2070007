package doctor

import "context"

// inbox checks that the platform's webhooks are worked.
func inbox(ctx context.Context, c *checkup) Finding {
	b, err := c.db.Shops().Backlog(ctx, c.Clock.Now())
	switch {
	case err != nil:
		return failed("repair the database, then run perennial doctor again", "%v", err)
	case b.GivenUp > 0:
		return warning("read perennial stuck for each store, and the log for why they failed", "%d webhooks of the platform could not be worked", b.GivenUp)
	}
	return ok("%d webhooks wait, %d billing attempts are due, %d are in flight", b.Waiting, b.Due, b.InFlight)
}
