package contract

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Page sizes of the search.
const (
	DefaultPage = 20
	MaxPage     = 2000
)

// Filter narrows a search. Zero values do not narrow.
type Filter struct {
	Line                   shop.Line // always set
	CreatedFrom, CreatedTo time.Time // inclusive
	UpdatedFrom, UpdatedTo time.Time
	NextFrom, NextTo       time.Time
	IDPart                 string // part of the contract's decimal id
	CustomerPart           string // part of the customer's name or e-mail, in any letter case
	OrderPart              string // part of the name of the origin order or of any renewal order
	Status                 Status
	DeliveryInterval       *cadence.Interval
	DeliveryCount          int
	Prepaid                *bool // as PrepaidByCount says
	Imported               *bool
	ProductID              int64
	VariantID              int64
	SellingPlanID          int64
	MinAmount, MaxAmount   *int64 // of the sum of the lines, in thousandths of the currency's main unit
	CustomerID             int64
	CustomerEmail          string // whole address, in any letter case
	Failing                bool   // an order could not be charged and is not given up
	Ending                 bool   // runs or is paused, and is about to be cancelled or to expire
}

// SortFields are the fields by which a search can be sorted, as database column
// names.
var SortFields = []string{
	"id", "subscription_contract_id", "created_at", "updated_at", "next_billing_date", "status", "customer_id",
	"customer_name", "customer_email", "order_name", "order_amount",
}

// Directory finds contracts.
type Directory interface {
	// Search returns the page of a shop's contracts that pass the filter,
	// oldest first unless the page says otherwise, and how many there are.
	Search(ctx context.Context, of shop.ID, f Filter, p page.Request) ([]Contract, int, error)
}
