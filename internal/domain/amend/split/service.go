// Package split moves lines of a contract into a contract of their own.
package split

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Charger charges an upcoming order at once.
type Charger interface {
	Trigger(ctx context.Context, of shop.ID, cmd command.Trigger) error
}

// Service splits contracts.
type Service struct {
	*terms.Pricer
	Orders Charger
}
