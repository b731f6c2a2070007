package notify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// SuppressionReason is why an address gets no e-mails.
type SuppressionReason string

// The reasons.
const (
	HardBounce SuppressionReason = "HARD_BOUNCE" // there is no such mailbox
	Complaint  SuppressionReason = "COMPLAINT"   // its reader has reported an e-mail as spam
)

// Suppression is an address to which a store sends no e-mails any more.
type Suppression struct {
	Hash   string // of the address, see AddressHash
	Hint   string // the address, masked: a…@example.com
	Reason SuppressionReason
	Source string // what reported it: the mail server, or a provider
	At     time.Time
}

// AddressHash is by what a store finds a suppressed address, here and in an installation to which it
// moves. Addresses differ in case for no mail server that matters.
func AddressHash(address string) string {
	sum := sha256.Sum256([]byte(strings.ToLower(strings.TrimSpace(address))))
	return hex.EncodeToString(sum[:])
}

// masked returns an address that a person recognises, without the name.
func masked(address string) string {
	name, host, found := strings.Cut(address, "@")
	if !found || name == "" {
		return "…"
	}
	return string([]rune(name)[:1]) + "…@" + host
}

// SuppressionTx reads and writes suppressions.
type SuppressionTx interface {
	// Suppressed returns the suppressions among addresses, by address.
	Suppressed(ctx context.Context, addresses []string) (map[string]Suppression, error)
	// PutSuppression adds a suppression. One that there is stays, but a complaint takes the place of
	// a bounce.
	PutSuppression(ctx context.Context, s Suppression) error
	// LiftSuppression has e-mails sent to an address again. A complaint stays, and is a Conflict.
	LiftSuppression(ctx context.Context, hash string) error
	// MailedAs returns the messages that one letter reported, locked.
	MailedAs(ctx context.Context, mailID string) ([]Message, error)
}

// ErrNoMailbox marks the failure of a letter whose recipient does not exist.
var ErrNoMailbox = errors.New("there is no such mailbox")

// Return is what a provider reports of a letter that a mail server had accepted.
type Return struct {
	MailID string // the local part of its Message-ID
	To     string
	Reason SuppressionReason // empty: it was not delivered, and the next one may be
	Text   string            // what the recipient's server said
	Source string            // the provider
}

// Lift has e-mails sent to an address again, which a user has found to work. A complaint stays, and is a
// Conflict.
func (s *Service) Lift(ctx context.Context, of shop.ID, hash string, by activity.Actor) error {
	return s.Store.Update(ctx, of, func(tx Tx) error {
		if err := tx.LiftSuppression(ctx, hash); err != nil {
			return err
		}
		return tx.Record(ctx, activity.Entry{
			EntityID: int64(of), EntityType: activity.EntityShopInfo, Event: activity.Updated, Status: activity.Success, Actor: by, At: s.Clock.Now(),
			Info: activity.Details(map[string]string{"change": "e-mails are sent to an address again"}),
		})
	})
}

// Returned takes over what a provider reports: the letter's messages have failed, and after a bounce
// or a complaint the store sends nothing more to the address. Reporting it again changes nothing. It
// fails with NotFound when the letter is not ours, or went to another address.
func (s *Service) Returned(ctx context.Context, r Return) error {
	unknown := fault.New(fault.NotFound, "no e-mail was sent under this Message-ID to this address").Entity("mail").Code("mailUnknown")
	of, err := s.Store.ShopOfMail(ctx, r.MailID)
	if err != nil {
		return err
	}
	return s.Store.Update(ctx, of, func(tx Tx) error {
		now := s.Clock.Now()
		messages, err := tx.MailedAs(ctx, r.MailID)
		if err != nil {
			return err
		}
		var changed []Message
		var entries []activity.Entry
		known := false
		for _, m := range messages {
			if !strings.EqualFold(m.To, r.To) {
				continue
			}
			known = true
			if m.Status != Sent || r.Reason == Complaint {
				continue
			}
			if err := m.move(Failed); err != nil {
				return err
			}
			m.LastError = "it came back: " + oneLine(r.Text)
			changed = append(changed, m)
			entries = append(entries, *m.entry(int64(of), now))
		}
		if !known {
			return unknown
		}
		if r.Reason != "" {
			if err := tx.PutSuppression(ctx, Suppression{AddressHash(r.To), masked(r.To), r.Reason, r.Source, now}); err != nil {
				return err
			}
		}
		if err := tx.PutMessages(ctx, changed); err != nil {
			return err
		}
		return tx.Record(ctx, entries...)
	})
}
