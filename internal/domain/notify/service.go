package notify

import (
	"context"
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

// Policy is how long sending waits for what, in the domain's time.
type Policy struct {
	// Lease is how long a worker owns the messages that it claimed.
	Lease time.Duration
	// Retries are the waits after the first, second and every further failure.
	// After one failure more the message has failed.
	Retries []time.Duration
	// Unsent is how long messages wait while there is no mail server.
	Unsent time.Duration
}

// DefaultPolicy returns the waits of the service in earnest.
func DefaultPolicy() Policy {
	return Policy{
		Lease: 10 * time.Minute, Retries: []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour}, Unsent: time.Minute,
	}
}

// Divided returns the policy with every wait divided by n, which is positive.
func (p Policy) Divided(n float64) Policy {
	one := func(d time.Duration) time.Duration { return time.Duration(float64(d) / n) }
	q := Policy{Lease: one(p.Lease), Unsent: one(p.Unsent)}
	for _, d := range p.Retries {
		q.Retries = append(q.Retries, one(d))
	}
	return q
}

// Service sends messages.
type Service struct {
	Store     Store
	Transport Transport // nil: there is no mail server, and messages wait
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

// Work sends the messages of a shop that are due, batch by batch, until none is.
// Any number of nodes may do so at once, and any may die at any point: what was
// taken up falls due again after its lease, and may then be sent a second time,
// under the same Message-ID.
func (s *Service) Work(ctx context.Context, of shop.ID) error {
	for ctx.Err() == nil {
		b, err := s.claim(ctx, of)
		if err != nil {
			return fmt.Errorf("take up due messages: %w", err)
		}
		if b.found == 0 {
			return nil
		}
		if len(b.messages) == 0 {
			continue
		}
		failures := s.send(ctx, b)
		if err := s.settle(context.WithoutCancel(ctx), of, b.messages, failures); err != nil {
			return fmt.Errorf("settle %d messages: %w", len(b.messages), err)
		}
	}
	return ctx.Err()
}

// batch is what one transaction took up.
type batch struct {
	shop     shop.Shop
	found    int
	messages []Message // to be sent
}

// claim claims the messages that are due, and suppresses those no longer needed.
func (s *Service) claim(ctx context.Context, of shop.ID) (batch, error) {
	var b batch
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		b = batch{}
		now := s.Clock.Now()
		due, err := tx.DueMessages(ctx, now, batchSize)
		if err != nil || len(due) == 0 {
			return err
		}
		b.found = len(due)
		if b.shop, err = tx.Shop(ctx); err != nil {
			return err
		}
		refused, err := refusedKinds(ctx, tx, due)
		if err != nil {
			return err
		}
		var entries []activity.Entry
		var taken []int
		for i := range due {
			m := &due[i]
			why := suppressReason(*m, b.shop, now)
			if why == "" && slices.Contains(refused[m.Contract], m.Kind) {
				why = "the subscriber does not want e-mails of this kind"
			}
			switch {
			case why != "":
				if err = m.suppress(why); err == nil {
					entries = append(entries, *m.entry(int64(of), now))
				}
			case s.Transport == nil:
				m.DueAt = now.Add(s.Policy.Unsent)
			default:
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
		for _, i := range taken { // with the versions that they have now
			b.messages = append(b.messages, due[i])
		}
		return tx.Record(ctx, entries...)
	})
	return b, err
}

// refusedKinds returns the kinds that subscribers do not want, by contract, as far as messages are of
// optional kinds.
func refusedKinds(ctx context.Context, tx Tx, messages []Message) (map[contract.ID][]Kind, error) {
	var about []contract.ID
	for _, m := range messages {
		if m.Contract != 0 && slices.Contains(OptionalKinds, m.Kind) {
			about = append(about, m.Contract)
		}
	}
	if len(about) == 0 {
		return nil, nil
	}
	refused, err := tx.RefusedKinds(ctx, about)
	for c, kinds := range refused { // what may not be refused is sent, whatever is stored
		refused[c] = slices.DeleteFunc(kinds, func(k Kind) bool { return !slices.Contains(OptionalKinds, k) })
	}
	return refused, err
}

// suppressReason says why a message need not be sent any more, or "".
func suppressReason(m Message, of shop.Shop, now time.Time) string {
	switch {
	case !m.ExpiresAt.IsZero() && !now.Before(m.ExpiresAt):
		return "what it says holds no longer"
	case returned(m, of):
		return "the app is installed again"
	case !of.Settings.Sends(m.Kind):
		return "the store does not send e-mails of this kind"
	}
	return ""
}

// send passes a batch to the mail server. A worker whose lease has ended sends nothing:
// another worker does.
func (s *Service) send(ctx context.Context, b batch) []error {
	now := s.Clock.Now()
	letters := make([]Email, len(b.messages))
	for i, m := range b.messages {
		if !now.Before(m.DueAt) {
			return nil
		}
		letters[i] = m.email(b.shop.Domain, now)
	}
	return s.Transport.Send(ctx, letters)
}

// settle stores the results, except of messages that another worker has claimed since.
func (s *Service) settle(ctx context.Context, of shop.ID, sent []Message, failures []error) error {
	if len(failures) != len(sent) {
		return nil
	}
	ids := make([]MessageID, len(sent))
	for i, m := range sent {
		ids[i] = m.ID
		if failures[i] != nil {
			s.Log.WarnContext(ctx, "an e-mail was not sent", "shop", of, "message", m.ID, "kind", m.Kind, "tries", m.Tries+1, "error", failures[i])
		}
	}
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
		for i, was := range sent {
			m := byID[was.ID]
			if m.Version != was.Version {
				continue
			}
			if err := m.settle(failures[i], s.Policy, now); err != nil {
				return err
			}
			changed = append(changed, m)
			if e := m.entry(int64(of), now); e != nil {
				entries = append(entries, *e)
			}
		}
		if err := tx.PutMessages(ctx, changed); err != nil {
			return err
		}
		return tx.Record(ctx, entries...)
	})
}
