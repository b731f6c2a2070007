package loyalty

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/web"
)

// Bodies renders webhook payloads about members in the shapes of this interface.
type Bodies struct {
	Points interface {
		Member(ctx context.Context, of shop.Shop, who loyalty.CustomerRef, rewards loyalty.RewardStatus) (loyalty.Member, error)
	}
	Book interface {
		LoyaltyEntry(ctx context.Context, of shop.ID, id loyalty.EntryID) (loyalty.Entry, error)
		LoyaltyCredit(ctx context.Context, of shop.ID, id loyalty.CreditID) (loyalty.Credit, error)
	}
	Stores interface {
		Shop(ctx context.Context, id shop.ID) (shop.Shop, error)
	}
}

// happening is a payload about a member: the member as the interface answers
// it, and what the message's type is about.
type happening struct {
	Customer    member       `json:"customer"`
	Transaction *transaction `json:"transaction"`
	Reward      *reward      `json:"reward"`
	StoreCredit *storeCredit `json:"storeCredit"`
}

// storeCredit is store credit that was given to a member.
type storeCredit struct {
	ID         int64        `json:"id"`
	Shop       string       `json:"shop"`
	CustomerID int64        `json:"customerId"`
	Amount     float64      `json:"amount"`
	Activity   string       `json:"activity"`
	Note       *string      `json:"note"`
	ActivityBy *string      `json:"activityBy"`
	CreateAt   *web.Instant `json:"createAt"`
}

// Data returns what happened to the member that a message is about.
func (b Bodies) Data(ctx context.Context, m webhook.Message) ([]byte, error) {
	store, err := b.Stores.Shop(ctx, m.Shop)
	if err != nil {
		return nil, err
	}
	is, err := b.Points.Member(ctx, store, loyalty.CustomerRef{Customer: m.Customer}, "")
	if err != nil {
		return nil, err
	}
	h := happening{Customer: newMember(store.Domain, is)}
	entry := loyalty.EntryID(m.Record)
	switch m.Type {
	case webhook.CreditsEarned:
		c, err := b.Book.LoyaltyCredit(ctx, m.Shop, loyalty.CreditID(m.Record))
		if err != nil {
			return nil, err
		}
		h.StoreCredit = &storeCredit{
			ID: int64(c.ID), Shop: store.Domain, CustomerID: m.Customer, Amount: c.Amount.Float(), Activity: string(c.Source.Type), Note: web.Some(c.Note),
			ActivityBy: web.Some(c.Actor), CreateAt: web.At(c.At),
		}
	case webhook.Redeemed:
		i := slices.IndexFunc(is.Rewards, func(r loyalty.Reward) bool { return int64(r.ID) == m.Record })
		if i < 0 {
			return nil, fault.New(fault.NotFound, "reward %d of the customer does not exist", m.Record)
		}
		h.Reward, entry = &h.Customer.Rewards[i], is.Rewards[i].Entry
	}
	if m.Type != webhook.SignUp && m.Type != webhook.CreditsEarned {
		e, err := b.Book.LoyaltyEntry(ctx, m.Shop, entry)
		if err != nil {
			return nil, err
		}
		t := newTransaction(store.Domain, m.Customer, e)
		h.Transaction = &t
	}
	return json.Marshal(h)
}
