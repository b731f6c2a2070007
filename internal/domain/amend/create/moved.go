package create

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Moved is a contract that another service had.
type Moved struct {
	Line          shop.Line
	New           platform.NewContract
	PaymentMethod string // preferred one; the customer's newest takes its place when it cannot be charged
	ImportedID    string
	RequestKey    string

	// What the customer has had there.
	Orders      int
	LastOrder   int64
	LastOrderAt time.Time
	LastAmount  money.Amount
}

// setFields sets what only Perennial stores of a contract that another service had.
func (m Moved) setFields(c *contract.Contract) {
	c.EarlierOrders = m.Orders
	if c.LastOrderAt.IsZero() {
		c.LastOrderID, c.LastOrderAt, c.LastOrderAmount = m.LastOrder, m.LastOrderAt, m.LastAmount
	}
}

// CreateMoved creates a contract as another service had it: with its prices, discounts and dates as
// they are. Under the same RequestKey it is the same contract.
func (s *Service) CreateMoved(ctx context.Context, of shop.ID, by activity.Actor, m Moved) (contract.Detail, error) {
	begun, err := s.recorded(ctx, of, m.RequestKey)
	if err != nil {
		return contract.Detail{}, err
	}
	store, err := s.ConnectedShop(ctx, of)
	if err != nil {
		return contract.Detail{}, err
	}
	if begun.Contract != 0 {
		return s.showCreated(ctx, store, amend.Command{Line: m.Line, Contract: begun.Contract, Actor: by})
	}
	method, err := s.chargeablePaymentMethod(ctx, store, m.New.Customer, m.PaymentMethod)
	if err != nil {
		return contract.Detail{}, err
	}
	m.New.PaymentMethod = &method
	return s.createOnce(ctx, store, m.Line, by, creation{NewContract: m.New, imported: m.ImportedID, moved: &m}, begun)
}
