package admin

import (
	"context"
	"encoding/json"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/web/record"
)

// Bodies renders webhook payloads in the shapes of this interface.
type Bodies struct {
	Contracts interface {
		DetailOrStored(ctx context.Context, of shop.ID, line shop.Line, id contract.ID) (contract.Detail, error)
	}
	Book    billing.Book
	Members interface { // renders messages about members
		Data(ctx context.Context, m webhook.Message) ([]byte, error)
	}
	Stores interface {
		DomainOf(ctx context.Context, of shop.ID) (string, error)
	}
}

// Data returns the contract object or the attempt's record that a message is about,
// or what happened to a member, as JSON. It returns NotFound when the record no longer
// exists.
func (b Bodies) Data(ctx context.Context, m webhook.Message) ([]byte, error) {
	if m.Type.AboutMember() {
		return b.Members.Data(ctx, m)
	}
	if m.Type.AboutContract() {
		d, err := b.Contracts.DetailOrStored(ctx, m.Shop, m.Line, m.Contract)
		if err != nil {
			return nil, err
		}
		return json.Marshal(record.NewContractObject(d))
	}
	domain, err := b.Stores.DomainOf(ctx, m.Shop)
	if err != nil {
		return nil, err
	}
	r, err := b.Book.Attempt(ctx, m.Shop, m.Line, billing.AttemptID(m.Attempt))
	if err != nil {
		return nil, err
	}
	return json.Marshal(record.NewBillingAttempt(domain, r))
}
