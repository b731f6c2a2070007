package loyalty

import (
	"context"
	"encoding/json"
	"reflect"
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

// MessageData is the type of the data of messages about members.
var MessageData = reflect.TypeFor[memberEvent]()

// memberEvent is the data of a message about a member: the member as the interface answers it, and
// what the message's type is about.
type memberEvent struct {
	Customer    member       `json:"customer" doc:"The member, as the loyalty interface answers it."`
	Transaction *transaction `json:"transaction" doc:"What changed the points; null when the type is about none."`
	Reward      *reward      `json:"reward" doc:"The reward that can be used; null when the type is about none."`
	StoreCredit *storeCredit `json:"storeCredit" doc:"The store credit that was given; null when the type is about none."`
}

// storeCredit is store credit that was given to a member.
type storeCredit struct {
	ID         int64        `json:"id" doc:"The service's number." example:"37"`
	Shop       string       `json:"shop" doc:"The store." example:"demo.myshopify.com"`
	CustomerID int64        `json:"customerId" doc:"The customer." example:"7001"`
	Amount     float64      `json:"amount" doc:"How much, in the store's currency." example:"5"`
	Activity   string       `json:"activity" doc:"What it was for: MANUAL or REWARD." example:"MANUAL"`
	Note       *string      `json:"note" doc:"What the store says about it." example:"For the delay"`
	ActivityBy *string      `json:"activityBy" doc:"Who gave it; null for the service itself." example:"API key Warehouse"`
	CreateAt   *web.Instant `json:"createAt" doc:"When it was given, in UTC." format:"date-time" example:"2026-01-31T08:00:00Z"`
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
	h := memberEvent{Customer: newMember(store.Domain, is)}
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
