// Package terms computes the terms of a contract as edits of the platform: line items,
// their prices, attributes and how often the contract bills and delivers.
package terms

import (
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/plan"
)

// Pricer computes prices from the platform's catalogue and the store's selling plans.
type Pricer struct {
	*amend.Editor
	Plans plan.Offers
}
