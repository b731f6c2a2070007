package billing

import (
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// mailLife is how long an e-mail about a payment is worth sending.
const mailLife = 3 * 24 * time.Hour

// MailKey is the key under which the nth e-mail of a kind about an attempt is
// kept.
func MailKey(kind notify.Kind, a Attempt, nth int) string {
	return fmt.Sprintf("%s:%d:%d:%d", kind, a.Contract, a.Cycle, nth)
}

// LastMails returns the keys of the last e-mails about an attempt's declines, by
// kind.
func (a Attempt) LastMails() map[notify.Kind]string {
	keys := make(map[notify.Kind]string)
	if n := a.Dunning.DeclineMails; n > 0 {
		keys[notify.TransactionFailed] = MailKey(notify.TransactionFailed, a, n)
	}
	if n := a.Dunning.ConfirmationMails; n > 0 {
		keys[notify.SecurityChallenge] = MailKey(notify.SecurityChallenge, a, n)
	}
	return keys
}

// Mailed tells the record what became of e-mails, which are given by their keys.
func (r *Record) Mailed(status map[string]notify.Status) {
	r.Mails = nil
	for kind, key := range r.LastMails() {
		if is, ok := status[key]; ok {
			if r.Mails == nil {
				r.Mails = make(map[notify.Kind]notify.Status)
			}
			r.Mails[kind] = is
		}
	}
}

// notify tells the customer what a notice says.
func (l *settlement) notify(a *Attempt, slot dunning.ScheduledNotice, g dunning.Inputs) error {
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

// askToConfirm tells the customer where to confirm a payment.
func (l *settlement) askToConfirm(a *Attempt) error {
	a.Dunning.NotifiedAt = l.now
	return l.mail(a, notify.Payment{Kind: notify.SecurityChallenge, Class: dunning.Auth, Confirm: a.ActionURL})
}

func (l *settlement) mail(a *Attempt, p notify.Payment) error {
	m, err := paymentMail(a, *l.contracts[a.Contract], l.shop, p, l.now)
	if m != nil {
		l.mails = append(l.mails, *m)
	}
	return err
}

// paymentMail writes an e-mail about an attempt, and counts it; nil when there is
// nobody to write to.
func paymentMail(a *Attempt, c contract.Contract, of shop.Shop, p notify.Payment, now time.Time) (*notify.Message, error) {
	if notify.CheckAddress("", c.Customer.Email) != nil {
		return nil, nil //nolint:nilerr // there is nobody to write to
	}
	p.Shop, p.Name = of.Domain, c.Customer.FirstName
	p.Amount, p.Account = Record{Attempt: *a, Of: c}.Cost(), "https://"+of.Domain+"/account"
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
		DedupeKey: MailKey(p.Kind, *a, nth), ExpiresAt: now.Add(mailLife),
	}, now)
	return &m, err
}
