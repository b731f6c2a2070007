package contract

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Customers reads customers, as their contracts describe them.
type Customers interface {
	// ContractIDs returns the numbers of a customer's contracts, ascending.
	ContractIDs(ctx context.Context, of shop.ID, line shop.Line, customer int64) ([]ID, error)
	// ContractsOf returns a customer's contracts, oldest first.
	ContractsOf(ctx context.Context, of shop.ID, line shop.Line, customer int64) ([]Contract, error)
	// Customers returns a page of the customers that pass the filter, by their
	// ids unless the page says otherwise, and how many there are.
	Customers(ctx context.Context, of shop.ID, f CustomerFilter, p page.Request) ([]CustomerSummary, int, error)
}

// CustomerFilter narrows a list of customers. Zero values do not narrow.
type CustomerFilter struct {
	Line     shop.Line // always set
	Email    string    // whole address, in any letter case
	NamePart string    // part of the name, in any letter case
	Several  bool      // more than one ACTIVE contract
}

// CustomerSortFields are the fields by which a list of customers can be sorted; id
// is the customer's, as customerId is.
var CustomerSortFields = []string{
	"customerId", "id", "name", "email", "activeSubscriptions", "inActiveSubscriptions", "nextOrderDate", "lifetimeValue",
}

// CustomerSummary is the sum of one customer's contracts.
type CustomerSummary struct {
	ID        int64
	Name      string // of the newest contract, as the rest of who the customer is
	Email     string
	Active    int       // contracts that are ACTIVE
	Inactive  int       // the others
	NextOrder time.Time // of the ACTIVE ones; zero when none is to come
	// Lifetime is the sum of all renewal orders. Amounts of several currencies
	// have no sum: Mixed is set then, and the amount says nothing.
	Lifetime money.Amount
	Mixed    bool
}

// CustomerStatus is a customer's status, as the interface names it.
type CustomerStatus string

// The statuses of customers that contracts do not have, or share.
const (
	CustomerActive  CustomerStatus = "ACTIVE"
	CustomerPaused  CustomerStatus = "PAUSED"
	NeverSubscribed CustomerStatus = "NEVER_SUBSCRIBED"
)

// CustomerStatusOf returns a customer's status: ACTIVE with an active contract, else
// PAUSED with a paused one, else the status of the newest contract. The contracts are
// sorted oldest first.
func CustomerStatusOf(contracts []Contract) CustomerStatus {
	status := NeverSubscribed
	for _, c := range contracts {
		switch {
		case c.Status == Active:
			return CustomerActive
		case c.Status == Paused:
			status = CustomerPaused
		case status != CustomerPaused:
			status = CustomerStatus(c.Status)
		}
	}
	return status
}

// PaidThrough returns when the paid period of a contract ends: with the term of the
// latest order, or with the next order if that is sooner, as after an order that was
// late. A cancellation does not change it, unless a charge in flight pays for more. It
// is zero without orders.
func (c Contract) PaidThrough(cal cadence.Calendar) time.Time {
	paid := c.paidAt()
	if paid.IsZero() {
		return time.Time{}
	}
	if c.endsPaid() {
		return c.Ending.At
	}
	days, n := c.from(paid, c.Billing, cal)
	ends := days.Nth(n + 1)
	if next := c.nextOrderDate(); next.After(paid) && next.Before(ends) {
		return next
	}
	return ends
}

// endsPaid reports whether a cancellation waits for the end of the paid period.
func (c Contract) endsPaid() bool { return c.Ending != nil && c.Ending.Paid.Equal(c.paidAt()) }

// nextOrderDate returns the date of the next order, or the one that a cancellation
// removed; zero when there is none.
func (c Contract) nextOrderDate() time.Time {
	switch {
	case c.endsPaid():
		return c.Ending.At
	case c.Status == Cancelled:
		return c.CancelledOrderDate
	}
	return c.NextBillingDate
}

// PaidThrough returns the latest paid period's end of the contracts; zero when none is
// paid.
func PaidThrough(contracts []Contract, cal cadence.Calendar) time.Time {
	var latest time.Time
	for _, c := range contracts {
		if until := c.PaidThrough(cal); until.After(latest) {
			latest = until
		}
	}
	return latest
}
