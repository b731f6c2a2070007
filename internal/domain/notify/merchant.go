package notify

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// notice is what an e-mail to the merchant says.
type notice struct {
	Subject    string
	Paragraphs []string
}

const noticeText = `Hello,
{{range .Paragraphs}}
{{.}}
{{end}}`

const noticeHTML = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>{{.Subject}}</title></head>
<body style="margin:0;padding:24px;background:#f5f4f0;color:#1f2421;font-family:system-ui,-apple-system,'Segoe UI',sans-serif;font-size:16px;line-height:1.5">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td align="center">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:520px;background:#ffffff;border-radius:8px"><tr><td style="padding:32px">
<p style="margin:0 0 16px">Hello,</p>
{{range .Paragraphs}}<p style="margin:0 0 16px">{{.}}</p>
{{end}}</td></tr></table>
</td></tr></table>
</body>
</html>
`

// toOwner leaves an e-mail to the owner of a store in a transaction, which is sent at an
// instant. Without an address there is none.
func toOwner(ctx context.Context, tx Outbox, of shop.Shop, key string, n notice, at, expires, now time.Time) error {
	if invalid := CheckAddress("", of.OwnerEmail); invalid != nil {
		return nil //nolint:nilerr // a store without a usable address gets no e-mail
	}
	words, err := written(n.Subject, noticeText, noticeHTML, n)
	if err != nil {
		return fmt.Errorf("write an e-mail to the merchant: %w", err)
	}
	m, err := New(Message{Kind: MerchantNotice, To: of.OwnerEmail, Content: words, Actor: activity.System, DedupeKey: key, DueAt: at, ExpiresAt: expires}, now)
	if err != nil {
		return err
	}
	return Queue(ctx, tx, of.ID, m)
}

// instantOf writes an instant in the store's time zone.
func instantOf(of shop.Shop, at time.Time) string {
	if zone, err := time.LoadLocation(of.TimeZone); err == nil {
		at = at.In(zone)
	}
	return at.Format("15:04 MST on 2 January 2006")
}

// lastCall is how long before the platform cancels the contracts of a store that has
// uninstalled the app its merchant is reminded.
const lastCall = 6 * time.Hour

// Disconnected tells the merchant that the app was removed from the store: what that
// means, and until when it can be avoided. Shortly before, a second e-mail says so again,
// unless the app is installed then. The store is as it is after it was disconnected.
func Disconnected(ctx context.Context, tx Outbox, of shop.Shop, now time.Time) error {
	until := instantOf(of, of.CancelsAt())
	err := toOwner(ctx, tx, of, fmt.Sprintf("disconnected-%d", of.Guard.DisconnectedAt.UnixMilli()), notice{
		Subject: "Subscriptions of " + of.Domain + " end soon",
		Paragraphs: []string{
			"the subscription app was removed from " + of.Domain + ", or its access was withdrawn. Since then no order of a subscription is charged.",
			"If this was not intended, install the app again before " + until + ". Then every subscription goes on where it stopped.",
			"After that the platform cancels the subscriptions of the store. They do not come back with the app: subscribers have to subscribe again.",
		},
	}, now, of.CancelsAt(), now)
	if err != nil {
		return err
	}
	return toOwner(ctx, tx, of, lastCallKey(of), notice{
		Subject: "Subscriptions of " + of.Domain + " end in " + fmt.Sprint(lastCall.Hours()) + " hours",
		Paragraphs: []string{
			"the subscription app is still missing from " + of.Domain + ". The platform cancels the subscriptions of the store at " + until + ".",
			"If this is not intended, install the app again before. Then every subscription goes on where it stopped. You get no further reminder.",
		},
	}, of.CancelsAt().Add(-lastCall), of.CancelsAt(), now)
}

const lastCallPrefix = "last-call-"

// lastCallKey names the reminder of an absence.
func lastCallKey(of shop.Shop) string {
	return fmt.Sprintf("%s%d", lastCallPrefix, of.Guard.DisconnectedAt.UnixMilli())
}

// returned reports whether a message is the reminder of an absence that has ended.
func returned(m Message, of shop.Shop) bool {
	return strings.HasPrefix(m.DedupeKey, lastCallPrefix) && (of.Connected || m.DedupeKey != lastCallKey(of))
}

// PrivacyReminder tells the merchant that requests for personal data are open, and by when
// the first one has to be done.
func PrivacyReminder(ctx context.Context, tx Outbox, of shop.Shop, open int, dueBy, now time.Time) error {
	return toOwner(ctx, tx, of, fmt.Sprintf("privacy-%d", now.UnixMilli()), notice{
		Subject: "Customers of " + of.Domain + " wait for an answer",
		Paragraphs: []string{
			fmt.Sprintf("%d requests for personal data of customers of %s are still open. The first one has to be answered by %s.", open, of.Domain, instantOf(of, dueBy)),
			"Download each export in the dashboard of the subscription app, and pass it on to the customer.",
		},
	}, now, time.Time{}, now)
}
