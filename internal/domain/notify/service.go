package notify

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// batchSize is how many messages go over one connection.
const batchSize = 20

// Service sends messages.
type Service struct {
	Store     Store
	Transport Transport    // nil: there is no mail server, and e-mails wait
	SMS       SMSTransport // nil: there is no provider, and no SMS is sent
	Write     Write
	Clock     clock.Clock
	Log       *slog.Logger
	Policy    Policy
}

// Work is the task of sending a shop's messages.
type Work struct {
	Shop shop.ID `json:"shop"`
}

// Kind names the task.
func (Work) Kind() string { return "notify_work" }

// Work leaves the reminders of a shop that are due, and sends the messages that are, batch by
// batch, until none is. Any number of nodes may do so at once, and any may die at any point: what
// was taken up falls due again after its lease, and may then be sent a second time, under the
// same Message-ID.
func (s *Service) Work(ctx context.Context, of shop.ID) error {
	if err := s.remind(ctx, of); err != nil {
		return err
	}
	for ctx.Err() == nil {
		b, err := s.claim(ctx, of)
		if err != nil {
			return fmt.Errorf("take up due messages: %w", err)
		}
		if b.found == 0 {
			return nil
		}
		if len(b.bundles) == 0 {
			continue
		}
		if err := s.Write.writeAll(ctx, of, b.bundles); err != nil {
			return fmt.Errorf("write %d letters: %w", len(b.bundles), err)
		}
		receipts, sent := s.send(ctx, b)
		if !sent {
			continue
		}
		if err := s.settle(context.WithoutCancel(ctx), of, b.bundles, receipts); err != nil {
			return fmt.Errorf("settle %d letters: %w", len(b.bundles), err)
		}
	}
	return ctx.Err()
}

// remind leaves the messages about orders that come soon and about cards that expire. Of the
// instants that have passed one counts: an order that moves close is announced once.
func (s *Service) remind(ctx context.Context, of shop.ID) error {
	for ctx.Err() == nil {
		n := 0
		err := s.Store.Update(ctx, of, func(tx Tx) error {
			store, err := tx.Shop(ctx)
			if err != nil {
				return err
			}
			now := s.Clock.Now()
			if !store.Connected || store.Guard.BlockReason(now) != "" {
				return nil
			}
			due, err := tx.DueReminders(ctx, now, batchSize)
			if err != nil {
				return err
			}
			n = len(due)
			var list []Message
			var entries []activity.Entry
			for _, r := range due {
				messages, err := r.messages(store, now)
				if err != nil {
					return err
				}
				list = append(list, messages...)
				if r.Card && len(messages) > 0 {
					entries = append(entries, r.entry(messages, now))
				}
			}
			if err := tx.PutMessages(ctx, list); err != nil {
				return err
			}
			if err := tx.Record(ctx, entries...); err != nil {
				return err
			}
			return tx.MarkReminded(ctx, due)
		})
		if err != nil {
			return fmt.Errorf("remind customers of orders: %w", err)
		}
		if n < batchSize {
			return nil
		}
	}
	return ctx.Err()
}

// SendTest sends a letter to a user of the dashboard, as a customer would get it.
func (s *Service) SendTest(ctx context.Context, of shop.ID, to string, l Letter, by activity.Actor) error {
	m, err := New(Message{Kind: Test, To: to, Content: l.Content, FromName: l.FromName, Actor: by, DedupeKey: "test:" + rand.Text()}, s.Clock.Now())
	if err != nil {
		return err
	}
	return s.Store.Update(ctx, of, func(tx Tx) error { return Queue(ctx, tx, of, m) })
}

// batch is what one transaction took up.
type batch struct {
	shop    shop.Shop
	found   int
	bundles []*bundle          // to be sent
	again   map[MessageID]bool // an earlier try may have arrived
}

// claim claims the messages that are due, with those that are reported together with them. It
// suppresses those no longer needed, and puts off those that are not to be sent at this time.
func (s *Service) claim(ctx context.Context, of shop.ID) (batch, error) {
	var b batch
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		b = batch{again: map[MessageID]bool{}}
		now := s.Clock.Now()
		due, err := tx.DueMessages(ctx, now, batchSize)
		if err != nil || len(due) == 0 {
			return err
		}
		b.found = len(due)
		if due, err = withSiblings(ctx, tx, due, now); err != nil {
			return err
		}
		if b.shop, err = tx.Shop(ctx); err != nil {
			return err
		}
		b.shop.SMS = b.shop.SMS && s.SMS != nil
		check, err := newChecker(ctx, tx, b.shop, due, now)
		if err != nil {
			return err
		}
		var entries []activity.Entry
		var taken []int
		for i := range due {
			m := &due[i]
			why, later := check.verdict(*m)
			switch {
			case why != "":
				if err = m.suppress(why); err == nil {
					entries = append(entries, *m.entry(int64(of), now))
				}
			case s.Transport == nil && m.Channel == ByMail:
				m.DueAt = now.Add(s.Policy.Unsent)
			case !later.IsZero():
				m.DueAt = later
			default:
				b.again[m.ID] = m.Status == Sending || m.Tries > 0
				m.DueAt = now.Add(s.Policy.Lease)
				err = m.move(Sending)
				taken = append(taken, i)
			}
			if err != nil {
				return err
			}
		}
		if err := tx.PutMessages(ctx, due); err != nil {
			return err
		}
		var messages []Message // with the versions that they have now
		for _, i := range taken {
			messages = append(messages, due[i])
		}
		b.bundles = bundled(messages)
		return tx.Record(ctx, entries...)
	})
	return b, err
}

// withSiblings adds to messages that are due those that are reported together with them.
func withSiblings(ctx context.Context, tx Tx, due []Message, now time.Time) ([]Message, error) {
	var to []string
	has := map[MessageID]bool{}
	contracts := map[contract.ID]bool{}
	for _, m := range due {
		has[m.ID] = true
		if group := m.group(); group != alone && m.Channel == ByMail {
			to = append(to, m.To)
			contracts[m.Contract] = group == ofChanges || contracts[m.Contract]
		}
	}
	if len(to) == 0 {
		return due, nil
	}
	waiting, err := tx.WaitingMessages(ctx, to)
	if err != nil {
		return nil, err
	}
	for _, m := range waiting {
		group := m.group()
		if !has[m.ID] && m.Channel == ByMail && (group == ofChanges && contracts[m.Contract] || group == ofOrders && !m.DueAt.After(now)) {
			due = append(due, m)
		}
	}
	slices.SortFunc(due, func(a, b Message) int { return cmp.Compare(a.ID, b.ID) })
	return due, nil
}

// send passes the letters of a batch to the mail server, and its SMS to their provider. A worker whose
// lease has ended sends nothing: another worker does.
func (s *Service) send(ctx context.Context, b batch) (receipts []Receipt, sent bool) {
	now := s.Clock.Now()
	var letters []Email
	var texts []SMS
	var ofLetters, ofTexts []int
	for i, l := range b.bundles {
		first := l.messages[0]
		if !now.Before(first.DueAt) {
			return nil, false
		}
		switch {
		case !l.sent():
		case first.Channel == BySMS:
			again := slices.ContainsFunc(l.messages, func(m Message) bool { return b.again[m.ID] })
			texts, ofTexts = append(texts, first.sms(b.shop.ID, l.letter, again)), append(ofTexts, i)
		default:
			email := first.email(b.shop.Domain, l.letter, now)
			l.mailID = email.ID
			letters, ofLetters = append(letters, email), append(ofLetters, i)
		}
	}
	receipts = make([]Receipt, len(b.bundles))
	if len(letters) > 0 {
		for i, failure := range s.Transport.Send(ctx, letters) {
			receipts[ofLetters[i]].Failure = failure
		}
	}
	if len(texts) > 0 {
		for i, r := range s.SMS.SendSMS(ctx, texts) {
			receipts[ofTexts[i]] = r
		}
	}
	return receipts, true
}

// settle stores the results, except of messages that another worker has claimed since.
func (s *Service) settle(ctx context.Context, of shop.ID, list []*bundle, receipts []Receipt) error {
	var ids []MessageID
	for i, b := range list {
		for _, m := range b.messages {
			ids = append(ids, m.ID)
			if failure := receipts[i].Failure; failure != nil {
				s.Log.WarnContext(ctx, "a message was not sent", "shop", of, "message", m.ID, "kind", m.Kind, "channel", cmp.Or(m.Channel, "mail"), "tries", m.Tries+1, "error", failure)
			}
		}
	}
	slices.Sort(ids)
	return s.Store.Update(ctx, of, func(tx Tx) error {
		now := s.Clock.Now()
		current, err := tx.Messages(ctx, ids)
		if err != nil {
			return err
		}
		byID := make(map[MessageID]Message, len(current))
		for _, m := range current {
			byID[m.ID] = m
		}
		var changed []Message
		var entries []activity.Entry
		for i, b := range list {
			if to := b.messages[0].To; errors.Is(receipts[i].Failure, ErrNoMailbox) {
				if err := tx.PutSuppression(ctx, Suppression{AddressHash(to), masked(to), HardBounce, "mail server", now}); err != nil {
					return err
				}
			}
			for _, was := range b.messages {
				m := byID[was.ID]
				if m.Version != was.Version {
					continue
				}
				if err := m.conclude(b.letter, b.mailID, receipts[i].Failure, s.Policy, now); err != nil {
					return err
				}
				m.ProviderID = receipts[i].ID
				if err := stop(ctx, tx, m, receipts[i].Failure, now); err != nil {
					return err
				}
				changed = append(changed, m)
				if e := m.entry(int64(of), now); e != nil {
					entries = append(entries, *e)
				}
			}
		}
		if err := tx.PutMessages(ctx, changed); err != nil {
			return err
		}
		return tx.Record(ctx, entries...)
	})
}
