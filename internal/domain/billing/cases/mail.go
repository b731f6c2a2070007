package cases

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// notify sends the customer a notice.
func (l *Cases) notify(a *billing.Attempt, slot dunning.ScheduledNotice, g dunning.Inputs) error {
	a.Dunning.NotifiedAt = slot.At
	kind := notify.TransactionFailed
	switch {
	case slot.What == dunning.Warning:
		kind = notify.SuspensionWarning
	case a.Dunning.Class == dunning.Auth:
		kind = notify.SecurityChallenge
	case a.Dunning.Class == dunning.Stock:
		kind = notify.OutOfStock
	}
	d := notify.Decline{Class: a.Dunning.Class, Action: g.Settings.Final(a.Dunning.Class), EndAt: slot.End}
	if d.Class == dunning.Auth {
		d.Confirm = a.ActionURL
	} else {
		d.RetryAt = a.Dunning.RetryAt
	}
	return l.mail(a, kind, d)
}

// AskToConfirm sends the customer the link for confirming a payment.
func (l *Cases) AskToConfirm(a *billing.Attempt) error {
	a.Dunning.NotifiedAt = l.Now
	return l.mail(a, notify.SecurityChallenge, notify.Decline{Class: dunning.Auth, Confirm: a.ActionURL})
}

func (l *Cases) mail(a *billing.Attempt, kind notify.Kind, d notify.Decline) error {
	messages, err := paymentMessages(a, *l.Contracts[a.Contract], l.Shop, kind, d, l.Now)
	l.Mails = append(l.Mails, messages...)
	return err
}

// paymentMessages returns the messages to a customer about an attempt and counts them as one; none if
// the customer has no valid address and the store sends no SMS.
func paymentMessages(a *billing.Attempt, c contract.Contract, of shop.Shop, kind notify.Kind, d notify.Decline, now time.Time) ([]notify.Message, error) {
	if notify.CheckAddress("", c.Customer.Email) != nil && !of.SendsSMS(kind) {
		return nil, nil //nolint:nilerr // no valid address, no e-mail
	}
	nth := int(a.Dunning.NotifiedAt.UnixMilli())
	switch kind {
	case notify.TransactionFailed:
		a.Dunning.DeclineMails++
		nth = a.Dunning.DeclineMails
	case notify.SecurityChallenge:
		a.Dunning.ConfirmationMails++
		nth = a.Dunning.ConfirmationMails
	}
	return notify.ForCustomer(notify.Message{
		Kind: kind, To: c.Customer.Email, Contract: c.ID, Attempt: int64(a.ID), Customer: c.Customer.ID, Facts: notify.Facts{Decline: &d}, Actor: activity.System,
		DedupeKey: billing.MailKey(kind, *a, nth), ExpiresAt: now.Add(notify.Life),
	}, of, now)
}
