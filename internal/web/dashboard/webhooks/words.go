package webhooks

import (
	"strings"

	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// happened are the events in words, by the part of their types that lines share.
var happened = map[string]string{
	"created": "A contract was created", "updated": "A contract was changed", "activated": "A contract was activated", "paused": "A contract was paused",
	"cancelled": "A contract was cancelled", "expired": "A contract ended", "next-order-date-changed": "The date of the next order was changed",
	"billing-interval-changed": "The frequency was changed", "billing-success": "An order was paid", "billing-failure": "An order was declined",
	"billing-skipped": "An order was skipped", "upcoming-order-notification": "An order comes up",
	"sign-up": "A member joined", "earned": "Points were earned", "redeemed": "Points were redeemed", "credits-earned": "Store credit was earned",
	"vip-tier-achieved": "A tier was reached", "birthday-trigger": "A member has a birthday", "referral-reward": "A referral was rewarded", "referred-reward": "A referred friend was rewarded",
}

// typeName returns a type in words.
func typeName(t webhook.Type) string {
	switch t {
	case webhook.ImmediateSuccess:
		return "An order at once was paid"
	case webhook.ImmediateFailure:
		return "An order at once was declined"
	case webhook.Test:
		return "A test event"
	}
	_, topic, _ := strings.Cut(string(t), ".")
	if text := happened[topic]; text != "" {
		return text
	}
	return string(t)
}

// groupName returns the heading that a type is listed under.
func groupName(t webhook.Type) string {
	line, _, found := strings.Cut(string(t), ".")
	if !found {
		return "Orders at once"
	}
	return strings.ToUpper(line[:1]) + line[1:]
}

// badges are the states of deliveries as pages name them.
var badges = map[webhook.Status]dashboard.Badge{
	webhook.Pending: {Tone: dashboard.Info, Text: "Waits"}, webhook.Sending: {Tone: dashboard.Info, Text: "Being sent"},
	webhook.Delivered: {Tone: dashboard.Good, Text: "Delivered"}, webhook.Failed: {Tone: dashboard.Bad, Text: "Failed", Hollow: true},
}

// badgeOf returns the state of an endpoint.
func badgeOf(e webhook.Endpoint) dashboard.Badge {
	switch {
	case !e.Enabled && e.Reason != "":
		return dashboard.Badge{Tone: dashboard.Bad, Text: "Disabled", Hollow: true}
	case !e.Enabled:
		return dashboard.Badge{Tone: dashboard.Neutral, Text: "Disabled", Hollow: true}
	case !e.FailingSince.IsZero():
		return dashboard.Badge{Tone: dashboard.Warning, Text: "Failing"}
	}
	return dashboard.Badge{Tone: dashboard.Good, Text: "Enabled"}
}
