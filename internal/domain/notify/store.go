package notify

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/optin"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Outbox stores messages in the transaction of the change that they report.
type Outbox interface {
	// PutMessages inserts messages whose ID is 0, giving them one, and writes
	// the others if their versions are still what was read: else it is a
	// Conflict. A new message whose key is taken is dropped, and its ID stays 0.
	PutMessages(ctx context.Context, messages []Message) error
	Enqueue(ctx context.Context, tasks ...task.Task) error
}

// Tx is one transaction on one shop's messages.
type Tx interface {
	Outbox
	shop.Reader
	// DueMessages returns at most limit messages that are due, earliest first,
	// locked, passing over those that another transaction holds.
	DueMessages(ctx context.Context, now time.Time, limit int) ([]Message, error)
	RefusalTx
	// WaitingMessages returns the messages to people that are queued, locked, earliest first,
	// passing over those that another transaction holds.
	WaitingMessages(ctx context.Context, to []string) ([]Message, error)
	// LettersSince says how many letters people got from an instant on, by address.
	LettersSince(ctx context.Context, to []string, since time.Time) (map[string]int, error)
	// DueReminders returns at most limit contracts whose customers must be reminded now.
	// MarkReminded makes them not due for that date.
	DueReminders(ctx context.Context, now time.Time, limit int) ([]Reminder, error)
	MarkReminded(ctx context.Context, list []Reminder) error
	// Messages returns messages, locked, in the order of their ids.
	Messages(ctx context.Context, ids []MessageID) ([]Message, error)
	SMSTx
	activity.Recorder
	SuppressionTx
}

// SMSTx is what sending SMS needs of a transaction.
type SMSTx interface {
	// PutDelivery writes what a provider reported of a message. The version stays.
	PutDelivery(ctx context.Context, m Message) error
	// SMSConsents returns the consent of each of some customers to SMS that holds, else the last one.
	// EndSMSConsent ends the one that holds, if there is one.
	SMSConsents(ctx context.Context, customers []int64) (map[int64]optin.Consent, error)
	EndSMSConsent(ctx context.Context, customer int64, at time.Time, by optin.End) error
}

// Store runs transactions.
type Store interface {
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
	// ShopOfMail returns the shop that has sent a letter, or NotFound.
	ShopOfMail(ctx context.Context, mailID string) (shop.ID, error)
}

// Transport hands letters to a mail server.
type Transport interface {
	// Send sends letters over one connection. It returns an error for each, in
	// their order: nil when the server took it, and ErrRejected when it never
	// will. A message may be sent twice: when an answer is lost, it is unknown whether
	// the message arrived.
	Send(ctx context.Context, letters []Email) []error
}

// Queue leaves messages in a transaction and asks for them to be sent.
func Queue(ctx context.Context, tx Outbox, of shop.ID, messages ...Message) error {
	if len(messages) == 0 {
		return nil
	}
	if err := tx.PutMessages(ctx, messages); err != nil {
		return err
	}
	return tx.Enqueue(ctx, Work{Shop: of})
}
