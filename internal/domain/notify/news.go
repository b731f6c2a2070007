package notify

import (
	"context"
	"fmt"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

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
