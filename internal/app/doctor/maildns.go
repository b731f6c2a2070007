package doctor

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/maildns"
)

// dns checks a record of the sender's domain.
func dns(check maildns.Check) func(context.Context, *checkup) Finding {
	return func(ctx context.Context, c *checkup) Finding {
		m := c.Settings.Mail
		sender := maildns.SenderOf(m.MailFrom, m.DKIMSelector)
		if m.MailHost == "" || sender.Domain == "" {
			return notChecked("no mail server is set")
		}
		r := check(ctx, c.Resolver, sender)
		return Finding{State: State(r.State), Found: r.Found, Do: r.Do}
	}
}
