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

// mailLife is how long after its creation an e-mail about a payment may still be sent.
const mailLife = 3 * 24 * time.Hour

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
	p := notify.Payment{Kind: kind, Class: a.Dunning.Class, Action: g.Settings.Final(a.Dunning.Class)}
	if p.Class == dunning.Auth {
		p.Confirm = a.ActionURL
	}
	if p.Class != dunning.Auth && !a.Dunning.RetryAt.IsZero() {
		p.NextTry = a.Dunning.RetryAt.In(g.Calendar.Zone)
	}
	if !slot.End.IsZero() {
		p.End = slot.End.In(g.Calendar.Zone)
	}
	return l.mail(a, p)
}

// AskToConfirm sends the customer the link for confirming a payment.
func (l *Cases) AskToConfirm(a *billing.Attempt) error {
	a.Dunning.NotifiedAt = l.Now
	return l.mail(a, notify.Payment{Kind: notify.SecurityChallenge, Class: dunning.Auth, Confirm: a.ActionURL})
}

func (l *Cases) mail(a *billing.Attempt, p notify.Payment) error {
	m, err := paymentMail(a, *l.Contracts[a.Contract], l.Shop, p, l.Now)
	if m != nil {
		l.Mails = append(l.Mails, *m)
	}
	return err
}

// paymentMail returns an e-mail about an attempt and counts it; nil if the customer has no
// valid address.
func paymentMail(a *billing.Attempt, c contract.Contract, of shop.Shop, p notify.Payment, now time.Time) (*notify.Message, error) {
	if notify.CheckAddress("", c.Customer.Email) != nil {
		return nil, nil //nolint:nilerr // no valid address, no e-mail
	}
	p.Shop, p.Name = of.Domain, c.Customer.FirstName
	p.Amount, p.Account = billing.Record{Attempt: *a, Of: c}.Cost(), "https://"+of.Domain+"/account"
	words, err := p.Content()
	if err != nil {
		return nil, err
	}
	nth := int(a.Dunning.NotifiedAt.UnixMilli())
	switch p.Kind {
	case notify.TransactionFailed:
		a.Dunning.DeclineMails++
		nth = a.Dunning.DeclineMails
	case notify.SecurityChallenge:
		a.Dunning.ConfirmationMails++
		nth = a.Dunning.ConfirmationMails
	}
	m, err := notify.New(notify.Message{
		Kind: p.Kind, To: c.Customer.Email, FromName: of.Domain, Content: words, Contract: c.ID, Actor: activity.System,
		DedupeKey: billing.MailKey(p.Kind, *a, nth), ExpiresAt: now.Add(mailLife),
	}, now)
	return &m, err
}
