// Package lifecycle changes the status of contracts: on request, and when the date of a
// scheduled change has come.
package lifecycle

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Splits finishes splits that were left undone.
type Splits interface {
	Resume(ctx context.Context, of shop.ID, c contract.Contract) error
}

// PendingChanges carries out changes that wait for the contract's next order.
type PendingChanges interface {
	ApplyPendingChange(ctx context.Context, of shop.ID, c contract.Contract) error
}

// Creations tells contracts that were created twice.
type Creations interface {
	// Claim decides whether a contract is the one that its request has created.
	Claim(ctx context.Context, of shop.ID, c contract.Contract) (unwanted bool, err error)
}

// Service changes the status of contracts.
type Service struct {
	*amend.Editor
	Splits    Splits
	Pending   PendingChanges
	Creations Creations
	Due       Finder
}

// Finder finds contracts with due changes.
type Finder interface {
	// ContractsToAmend returns at most limit contracts of the shop whose AmendAt
	// is at or before now, earliest first.
	ContractsToAmend(ctx context.Context, of shop.ID, now time.Time, limit int) ([]contract.Contract, error)
}
