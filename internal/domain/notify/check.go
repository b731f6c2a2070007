package notify

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/optin"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Optional messages are sent within these hours of the store's zone.
const (
	opens  = 8
	closes = 20
)

// smsOpens is the hour from which SMS of every kind are sent, until closes: a phone wakes people up.
const smsOpens = 9

// Of a person's letters within a day no more than so many are followed by an optional one.
const (
	mostLetters = 6
	capWindow   = 24 * time.Hour
	capDelay    = time.Hour // after which it is looked at again
)

// checker decides which messages of a batch are sent now.
type checker struct {
	shop     shop.Shop
	now      time.Time
	opensAt  time.Time // when optional messages may be sent; zero: now
	refused  refusals
	received map[string]int         // letters of the last day, by address or phone number
	gone     map[string]Suppression // by address

	smsOpensAt time.Time               // as opensAt
	consents   map[int64]optin.Consent // to SMS, by customer
}

func newChecker(ctx context.Context, tx Tx, of shop.Shop, messages []Message, now time.Time) (checker, error) {
	c := checker{shop: of, now: now}
	calendar, err := of.Calendar()
	if err != nil {
		return c, err
	}
	c.opensAt, c.smsOpensAt = nextOpening(now.In(calendar.Zone), opens), nextOpening(now.In(calendar.Zone), smsOpens)
	if c.consents, err = addressed(ctx, tx, messages); err != nil {
		return c, err
	}
	if c.refused, err = readRefusals(ctx, tx, messages); err != nil {
		return c, err
	}
	var all, to []string
	for _, m := range messages {
		if m.Channel == ByMail {
			all = append(all, m.To)
		}
		if !Required(m.Kind) && m.To != "" {
			to = append(to, m.To)
		}
	}
	if c.gone, err = tx.Suppressed(ctx, all); err != nil {
		return c, err
	}
	if len(to) > 0 {
		c.received, err = tx.LettersSince(ctx, to, now.Add(-capWindow))
	}
	return c, err
}

// nextOpening returns when messages that are sent from an hour on may be sent next; zero when they may
// be now.
func nextOpening(local time.Time, opens int) time.Time {
	at := time.Date(local.Year(), local.Month(), local.Day(), opens, 0, 0, 0, local.Location())
	switch {
	case local.Hour() < opens:
		return at
	case local.Hour() >= closes:
		return at.AddDate(0, 0, 1)
	}
	return time.Time{}
}

// verdict says why a message is never sent, or until when it waits. Neither: it is sent now.
func (c checker) verdict(m Message) (why string, later time.Time) {
	optional := !Required(m.Kind)
	gone := c.gone[m.To]
	switch {
	case !m.ExpiresAt.IsZero() && !c.now.Before(m.ExpiresAt):
		return NoLongerTrue, later
	case returned(m, c.shop):
		return "the app is installed again", later
	case m.Channel == BySMS:
		return c.smsVerdict(m)
	case !c.shop.Settings.Sends(m.Kind):
		return Disabled, later
	case gone.Reason == HardBounce && !traits[m.Kind].secret:
		return Bounced, later
	case gone.Reason == Complaint && !traits[m.Kind].secret:
		return Complained, later
	case c.refused.of(m):
		return Refused, later
	case optional && !c.opensAt.IsZero():
		return "", c.opensAt
	case optional && c.received[m.To] >= mostLetters:
		return "", c.now.Add(capDelay)
	}
	return "", later
}

// Why messages are suppressed.
const (
	Disabled          = "the store does not send e-mails of this kind"
	Refused           = "the subscriber does not want e-mails of this kind"
	Bounced           = "an earlier e-mail came back: there is no such mailbox"
	Complained        = "the reader has reported an earlier e-mail as spam"
	NoLongerTrue      = "what it says holds no longer"
	ContractCancelled = "the contract has ended"
	ContractPaused    = "the contract is paused"
	NoPayment         = "the contract has no payment method"
)
