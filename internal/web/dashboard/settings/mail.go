package settings

import (
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// mail is a kind of e-mail as the page names it.
type mail struct {
	kind        notify.Kind
	name, about string
}

// mails are the kinds of e-mail, grouped by what they are about.
var mails = []struct {
	title string
	kinds []mail
}{
	{"Orders", []mail{
		{notify.UpcomingOrder, "Upcoming order", "Some days before an order."},
		{notify.TransactionSuccess, "Order placed", "When an order was paid."},
		{notify.OrderSkipped, "Order skipped", ""},
		{notify.NextDate, "Date changed", ""},
		{notify.OutOfStock, "Out of stock", "When a product holds an order up."},
	}},
	{"Payments", []mail{
		{notify.TransactionFailed, "Payment declined", "With a link to change the payment method."},
		{notify.SecurityChallenge, "Confirm the payment", "When the bank asks for it."},
		{notify.ExpiringCard, "Card expires", ""},
		{notify.SuspensionWarning, "Last retry", "Two days before the last retry."},
		{notify.Suspension, "Given up", "When no retry is left."},
	}},
	{"Subscriptions", []mail{
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
		{notify.ManagementLink, "Sign-in link", "Without it customers cannot sign in by e-mail."},
	}},
	{"To you", []mail{
		{notify.MerchantNotice, "Notices to the store's owner", "Failures that need you, requests for personal data, applications that wait, uninstallation."},
		{notify.FailureDigest, "Summary of declined charges", "How many there were, why, and what became of them."},
	}},
}

// mailForm returns the form of the kinds of e-mail.
func mailForm(s shop.Settings) formPage {
	p := formPage{Path: "/settings/mail"}
	for _, section := range mails {
		g := group{Title: section.title}
		for _, m := range section.kinds {
			g.Fields = append(g.Fields, dashboard.Field{Name: "mail-" + string(m.kind), Type: "checkbox", Label: m.name, Hint: m.about, Value: dashboard.Tick(s.Sends(m.kind))})
		}
		p.Groups = append(p.Groups, g)
	}
	often := dashboard.Field{Name: "failure-digest", Type: "select", Label: "How often the summary comes", Value: string(s.Digest())}
	for _, mode := range shop.DigestModes {
		often.Choices = append(often.Choices, dashboard.Choice{Value: string(mode), Name: digestNames[mode], Selected: mode == s.Digest()})
	}
	last := &p.Groups[len(p.Groups)-1]
	last.Fields = append(last.Fields, often)
	return p
}

var digestNames = map[shop.DigestMode]string{shop.DigestAtOnce: "Within 15 minutes", shop.DigestWeekly: "On Monday morning", shop.DigestMonthly: "On the first day of a month"}

const (
	mailTitle = "E-mails"
	mailLead  = "Which e-mails are sent. A kind that is not ticked is not sent to anybody."
)

func (m *room) mail(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return m.answer(w, r, v, mailTitle, mailLead, mailForm(v.Shop.Settings), nil)
}

func (m *room) saveMail(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	err := m.save(r, v, func(s *shop.Settings) error {
		for _, k := range notify.Kinds() {
			s.SetSends(k, ticked(r, "mail-"+string(k)))
		}
		s.FailureDigest = shop.DigestMode(r.PostFormValue("failure-digest"))
		return nil
	})
	if err != nil {
		return m.answer(w, r, v, mailTitle, mailLead, asEntered(mailForm(v.Shop.Settings), r), err)
	}
	return v.Go(w, "/settings/mail", "settings")
}
