package doctor

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

// renewSoon is how long before the end of its renewal a token should have been renewed.
const renewSoon = 14 * 24 * time.Hour

// token checks how old the store's token is and that it is renewed in time.
func token(ctx context.Context, c *checkup, s shop.Shop) Finding {
	if c.TokenOf == nil {
		return notChecked("nothing is known of the token's age: it was given by hand")
	}
	t, err := c.TokenOf(ctx, c.db, s)
	if err != nil {
		return failed("repair the database, then run perennial doctor again", "%v", err)
	}
	now := c.Clock.Now()
	switch {
	case t.RenewalsRefused != "":
		return failed(reconnect(s), "the platform does not renew the token: %s", t.RenewalsRefused)
	case !t.ExpiresAt.IsZero() && !now.Before(t.ExpiresAt):
		return failed(reconnect(s), "the token expired at %s", t.ExpiresAt.Format(time.RFC3339))
	case t.Fixed:
		return failed("run perennial shops migrate-token --shop "+s.Domain, "the token never expires: the platform ends such tokens of public apps on 2027-01-01")
	case t.Renewable && !t.RenewableUntil.IsZero() && t.RenewableUntil.Sub(now) < renewSoon:
		return warning("see that a perennial serve with PERENNIAL_WORK=true runs, and read its log", "the token can be renewed until %s only", t.RenewableUntil.Format(time.RFC3339))
	case t.RenewalsFailed > 0:
		return warning("read the log of perennial serve for why", "the last %d renewals of the token failed", t.RenewalsFailed)
	case !t.ExpiresAt.IsZero() && !t.Renewable:
		return warning(reconnect(s), "the token expires at %s and cannot be renewed", t.ExpiresAt.Format(time.RFC3339))
	case t.IssuedAt.IsZero():
		return notChecked("nothing is known of the token's age: it was given by hand")
	case t.ExpiresAt.IsZero():
		return ok("issued %s ago; it does not expire", since(now, t.IssuedAt))
	}
	return ok("issued %s ago, expires in %s and is renewed before", since(now, t.IssuedAt), t.ExpiresAt.Sub(now).Round(time.Second))
}
