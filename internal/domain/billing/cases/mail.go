package cases

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/notify"
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
	m, err := paymentMail(a, *l.Contracts[a.Contract], kind, d, l.Now)
	if m != nil {
		l.Mails = append(l.Mails, *m)
	}
	return err
}

// paymentMail returns an e-mail about an attempt and counts it; nil if the customer has no
// valid address.
func paymentMail(a *billing.Attempt, c contract.Contract, kind notify.Kind, d notify.Decline, now time.Time) (*notify.Message, error) {
	if notify.CheckAddress("", c.Customer.Email) != nil {
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
	m, err := notify.New(notify.Message{
		Kind: kind, To: c.Customer.Email, Contract: c.ID, Attempt: int64(a.ID), Customer: c.Customer.ID, Facts: notify.Facts{Decline: &d}, Actor: activity.System,
		DedupeKey: billing.MailKey(kind, *a, nth), ExpiresAt: now.Add(notify.Life),
	}, now)
	return &m, err
}
