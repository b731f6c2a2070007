// Package contractedit edits contracts: line items, discounts, terms, delivery, payment
// method and the products of the next order.
package contractedit

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Rescheduler moves orders to other dates.
type Rescheduler interface {
	Reschedule(ctx context.Context, of shop.ID, cmd command.Reschedule) (billing.Record, error)
}

// Service edits contracts. Each edit returns the contract as it is afterwards.
type Service struct {
	*terms.Pricer
	Orders  Rescheduler
	OneOffs OneOffs
}

// OneOffs keeps products that only one order of a contract has.
type OneOffs interface {
	AddOneOff(ctx context.Context, of shop.Shop, cmd command.OneOff) error
	RemoveOneOff(ctx context.Context, of shop.Shop, cmd command.OneOff) error
	RemoveOneOffLine(ctx context.Context, of shop.Shop, cmd command.OneOff, id billing.OneOffID) error
}
