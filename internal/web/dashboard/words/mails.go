package words

import (
	"cmp"

	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// Mail is a kind of e-mail as pages name it.
type Mail struct {
	Kind        notify.Kind
	Name, About string
}

// Mails are the kinds of e-mail, grouped by what they are about.
var Mails = []struct {
	Title string
	Kinds []Mail
}{
	{"Orders", []Mail{
		{notify.UpcomingOrder, "Upcoming order", "Some days before an order."},
		{notify.TransactionSuccess, "Order placed", "When an order was paid."},
		{notify.OrderSkipped, "Order skipped", ""},
		{notify.NextDate, "Date changed", ""},
		{notify.OutOfStock, "Out of stock", "When a product holds an order up."},
	}},
	{"Payments", []Mail{
		{notify.TransactionFailed, "Payment declined", "With a link to change the payment method."},
		{notify.SecurityChallenge, "Confirm the payment", "When the bank asks for it."},
		{notify.ExpiringCard, "Card expires", ""},
		{notify.SuspensionWarning, "Last retry", "Two days before the last retry."},
		{notify.Suspension, "Given up", "When no retry is left."},
	}},
	{"Subscriptions", []Mail{
		{notify.SubscriptionCreated, "Subscription created", ""},
		{notify.Paused, "Paused", ""},
		{notify.Resumed, "Resumed", ""},
		{notify.Canceled, "Cancelled", ""},
		{notify.Frequency, "Frequency changed", ""},
		{notify.Address, "Address changed", ""},
		{notify.ProductAdded, "Product added", ""},
		{notify.ProductRemoved, "Product removed", ""},
		{notify.ProductReplaced, "Product replaced", ""},
		{notify.PriceUpdated, "Price changed", ""},
	}},
	{"Loyalty", []Mail{
		{notify.PointsEarned, "Points earned", "In the morning, about the day before."},
		{notify.PointsExpiring, "Points expire", "30 and 3 days before."},
		{notify.TierReached, "Tier reached", ""},
		{notify.RewardIssued, "Reward issued", "With its discount code."},
		{notify.Birthday, "Birthday", "When points were given for it."},
	}},
	{"News", []Mail{
		{notify.StoreNews, "News from you", "What you write to many customers at once, from the list of contracts."},
	}},
	{"Signing in", []Mail{
		{notify.ManagementLink, "Sign-in link", "Without it customers cannot sign in by e-mail."},
	}},
	{"To you", []Mail{
		{notify.MerchantNotice, "Notices to the store's owner", "Failures that need you, requests for personal data, applications that wait, uninstallation."},
		{notify.FailureDigest, "Summary of declined charges", "How many there were, why, and what became of them."},
	}},
}

// MailName returns the name of a kind of e-mail.
func MailName(k notify.Kind) string {
	for _, section := range Mails {
		for _, m := range section.Kinds {
			if m.Kind == k {
				return m.Name
			}
		}
	}
	return string(k)
}

// MessageTitle returns the subject of a message, or the name of its kind before it is written. An SMS
// has no subject.
func MessageTitle(m notify.Message) string {
	if m.Channel == notify.BySMS {
		return "SMS: " + MailName(m.Kind)
	}
	return cmp.Or(m.Subject, MailName(m.Kind))
}

// MailBadges say where a message stands.
var MailBadges = map[notify.Status]dashboard.Badge{
	notify.Queued: {Tone: dashboard.Info, Text: "Waits"}, notify.Sending: {Tone: dashboard.Info, Text: "Being sent"}, notify.Sent: {Tone: dashboard.Good, Text: "Sent"},
	notify.Failed: {Tone: dashboard.Bad, Text: "Failed"}, notify.Suppressed: {Tone: dashboard.Neutral, Text: "Not sent", Hollow: true},
}
