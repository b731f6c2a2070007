package notify

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// NoticeTx is what notices to the merchant need of a transaction.
type NoticeTx interface {
	Outbox
	shop.Reader
}

// NotifyMerchant leaves the e-mails to the owner of a store that entries ask for, in the transaction
// of the entries: one about an application that waits to be approved, and one for a period in which
// charges are declined.
func NotifyMerchant(ctx context.Context, tx NoticeTx, entries []activity.Entry) error {
	var asked []activity.Entry
	decided := map[int64]bool{}
	var declined time.Time
	for _, e := range entries {
		switch {
		case e.Event == activity.PartnerConnectionRequested:
			asked = append(asked, e)
		case e.Event == activity.PartnerConnectionApproved:
			decided[e.EntityID] = true // the merchant asked
		case e.Event == activity.BillingAttemptTriggered && e.Status == activity.Failure:
			declined = e.At
		}
	}
	asked = slices.DeleteFunc(asked, func(e activity.Entry) bool { return decided[e.EntityID] })
	if len(asked) == 0 && declined.IsZero() {
		return nil
	}
	of, err := tx.Shop(ctx)
	if err != nil {
		return err
	}
	for _, e := range asked {
		if err := applicationWaits(ctx, tx, of, e); err != nil {
			return err
		}
	}
	if declined.IsZero() || !of.Settings.Sends(FailureDigest) || CheckAddress("", of.OwnerEmail) != nil {
		return nil //nolint:nilerr // a store without a usable address gets no e-mail
	}
	return digestOf(ctx, tx, of, declined)
}

// applicationWaits tells the merchant that an application asks for access.
func applicationWaits(ctx context.Context, tx Outbox, of shop.Shop, e activity.Entry) error {
	var request struct{ App string }
	if json.Unmarshal([]byte(e.Info), &request) != nil || request.App == "" {
		request.App = "an application"
	}
	return toOwner(ctx, tx, of, fmt.Sprintf("partner-%d", e.ID), notice{
		Subject: request.App + " asks for access to " + of.Domain,
		Paragraphs: []string{
			request.App + " asks to work with the subscriptions of " + of.Domain + ". It can do nothing before you approve it.",
			"Open Partners in the dashboard of the subscription app to see what it asks for, and approve or reject it there. If you do not know it, reject it.",
		},
	}, e.At, time.Time{}, e.At)
}

// EndpointDisabled tells the merchant that an endpoint gets no webhooks any more.
func EndpointDisabled(ctx context.Context, tx Outbox, of shop.Shop, url, reason, key string, now time.Time) error {
	return toOwner(ctx, tx, of, "endpoint-"+key, notice{
		Subject: "Webhooks to " + url + " have stopped",
		Paragraphs: []string{
			"the webhook endpoint " + url + " of " + of.Domain + " was disabled: " + reason + ". It gets no messages any more.",
			"When it works again, enable it in the dashboard of the subscription app under Webhooks, and replay what it missed: messages are kept for 30 days.",
		},
	}, now, time.Time{}, now)
}

// atOnce is how long charges that are declined together wait for each other.
const atOnce = 15 * time.Minute

// digestHour is the hour of the store's day at which digests are sent.
const digestHour = 8

// digestOf leaves the e-mail about the period in which a charge was declined, unless it was left
// already. Its words are written when it is sent.
func digestOf(ctx context.Context, tx Outbox, of shop.Shop, declined time.Time) error {
	calendar, err := of.Calendar()
	if err != nil {
		return err
	}
	since, due := period(of.Settings.FailureDigest, declined.In(calendar.Zone))
	m, err := New(Message{
		Kind: FailureDigest, To: of.OwnerEmail, Facts: Facts{Digest: &Digest{since.UTC()}}, Actor: activity.System,
		DedupeKey: fmt.Sprintf("%s:%d", FailureDigest, due.Unix()), DueAt: due.UTC(), ExpiresAt: due.Add(Life),
	}, declined)
	if err != nil {
		return err
	}
	return Queue(ctx, tx, of.ID, m)
}

// period returns the period of a digest that an instant of the store's zone is in.
func period(how shop.DigestMode, at time.Time) (since, due time.Time) {
	morning := time.Date(at.Year(), at.Month(), at.Day(), digestHour, 0, 0, 0, at.Location())
	switch how {
	case shop.DigestAtOnce:
		since = at.Truncate(atOnce)
		return since, since.Add(atOnce)
	case shop.DigestMonthly:
		due = morning.AddDate(0, 0, 1-at.Day())
		if !at.Before(due) {
			due = due.AddDate(0, 1, 0)
		}
		return due.AddDate(0, -1, 0), due
	}
	due = morning.AddDate(0, 0, -int((at.Weekday()+6)%7)) // Monday
	if !at.Before(due) {
		due = due.AddDate(0, 0, 7)
	}
	return due.AddDate(0, 0, -7), due
}

// declines say in words why charges were declined.
var declines = map[dunning.Class]string{
	dunning.Funds: "not enough money", dunning.Issuer: "the bank declined without a reason", dunning.Transient: "a system failed on the way to the bank",
	dunning.Auth: "the customer has to confirm the payment", dunning.Card: "the payment method cannot be charged", dunning.Address: "the address cannot be delivered to",
	dunning.Stock: "a product is out of stock", dunning.Fraud: "the bank suspects fraud: they are not charged again", dunning.Merchant: "your store cannot take the payment: this needs you",
	dunning.Gone: "the customer is gone", dunning.Done: "paid before",
}

// WriteDigest writes the digest of a store from the cases that were opened since its period began.
// The dashboard has an address, or "".
func WriteDigest(d Digest, of shop.Shop, cases []dunning.Case, dashboard string) (Content, error) {
	calendar, err := of.Calendar()
	if err != nil {
		return Content{}, err
	}
	reasons, states := map[dunning.Class]int{}, map[dunning.State]int{}
	for _, c := range cases {
		reasons[c.Class]++
		states[c.State]++
	}
	n := notice{Subject: fmt.Sprintf("%s of %s could not be charged", orders(len(cases)), of.Domain)}
	n.Paragraphs = append(n.Paragraphs, fmt.Sprintf("since %s, %s of %s could not be charged at the first try. The reasons:",
		d.Since.In(calendar.Zone).Format("Monday, 2 January, 15:04"), orders(len(cases)), of.Domain))
	classes := slices.SortedFunc(maps.Keys(reasons), func(a, b dunning.Class) int {
		return cmp.Or(reasons[b]-reasons[a], slices.Index(dunning.Classes, a)-slices.Index(dunning.Classes, b))
	})
	for _, c := range classes {
		n.Paragraphs = append(n.Paragraphs, fmt.Sprintf("%d: %s", reasons[c], cmp.Or(declines[c], "the bank declined")))
	}
	n.Paragraphs = append(n.Paragraphs, fmt.Sprintf("What became of them: %d paid since, %d tried again or waiting for the customer, %d waiting for you, %d given up.",
		states[dunning.Recovered], states[dunning.Open], states[dunning.Held], states[dunning.Lost]))
	n.Paragraphs = append(n.Paragraphs, "Failed payments in the dashboard of the subscription app lists them, with what helps each. Settings, E-mails, says how often you get this e-mail.")
	if dashboard != "" {
		n.Paragraphs = append(n.Paragraphs, dashboard)
	}
	return written(n.Subject, noticeText, noticeHTML, n)
}

func orders(n int) string {
	if n == 1 {
		return "1 order"
	}
	return fmt.Sprintf("%d orders", n)
}
