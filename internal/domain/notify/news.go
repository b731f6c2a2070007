package notify

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// The most characters of what a merchant writes.
const (
	MaxNewsSubject = 150
	MaxNewsText    = 5000
)

// News is what a merchant writes to customers. A blank line begins a paragraph.
type News struct {
	Subject string `json:"subject"`
	Text    string `json:"text"`
}

// Check refuses news without words, or with too many, as Invalid.
func (n News) Check() error {
	for _, part := range []struct {
		field, is string
		most      int
	}{{"subject", n.Subject, MaxNewsSubject}, {"text", n.Text, MaxNewsText}} {
		if count := utf8.RuneCountInString(strings.TrimSpace(part.is)); count < 1 || count > part.most || !utf8.ValidString(part.is) {
			return fault.New(fault.Invalid, "%s has %d characters and must have 1 to %d", part.field, count, part.most).Entity("message").Code("newsInvalid").Field(part.field)
		}
	}
	if strings.ContainsAny(strings.TrimSpace(n.Subject), "\r\n") {
		return fault.New(fault.Invalid, "subject is one line").Entity("message").Code("newsInvalid").Field("subject")
	}
	return nil
}

// Mailing is news to the customer of a contract.
type Mailing struct {
	ID       int64 // the same for all customers who are written to at once: each gets one e-mail
	Contract contract.ID
	Customer contract.Customer
	News     News
	Actor    activity.Actor
}

// SendNews queues news to a customer. Repeating it, also for another contract of the customer, sends no
// second e-mail. It is Invalid for a customer without a valid address.
func (s *Service) SendNews(ctx context.Context, of shop.ID, m Mailing) error {
	now := s.Clock.Now()
	message, err := New(Message{
		Kind: StoreNews, To: m.Customer.Email, Contract: m.Contract, Customer: m.Customer.ID, Facts: Facts{News: &m.News}, Actor: m.Actor,
		DedupeKey: fmt.Sprintf("%s:%d:%s", StoreNews, m.ID, strings.ToLower(m.Customer.Email)), ExpiresAt: now.Add(Life),
	}, now)
	if err != nil {
		return err
	}
	return s.Store.Update(ctx, of, func(tx Tx) error { return Queue(ctx, tx, of, message) })
}
