package contract

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Customers reads what is known of customers, which is what their contracts say.
type Customers interface {
	// ContractIDs returns the numbers of a customer's contracts, ascending.
	ContractIDs(ctx context.Context, of shop.ID, line shop.Line, customer int64) ([]ID, error)
	// ContractsOf returns a customer's contracts, oldest first.
	ContractsOf(ctx context.Context, of shop.ID, line shop.Line, customer int64) ([]Contract, error)
	// Customers returns a page of the customers that pass the filter, by their
	// numbers unless the page says otherwise, and how many there are.
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

// CustomerSummary is what the contracts of one customer come to.
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

// CustomerStatus is what a customer is by their contracts, in the platform's words.
type CustomerStatus string

// The standings.
const (
	CustomerActive  CustomerStatus = "ACTIVE"
	CustomerPaused  CustomerStatus = "PAUSED"
	NeverSubscribed CustomerStatus = "NEVER_SUBSCRIBED"
)

// CustomerStatusOf returns a customer's standing: ACTIVE with an active contract, else
// PAUSED with a paused one, else the status of the newest contract. The contracts
// come oldest first.
func CustomerStatusOf(contracts []Contract) CustomerStatus {
	standing := NeverSubscribed
	for _, c := range contracts {
		switch {
		case c.Status == Active:
			return CustomerActive
		case c.Status == Paused:
			standing = CustomerPaused
		case standing != CustomerPaused:
			standing = CustomerStatus(c.Status)
		}
	}
	return standing
}

// PaidThrough returns until when a contract's orders have been paid: the end of
// the term that the latest order began, or the next order where that comes
// sooner, as it does after an order that was late. A cancellation takes the next order
// away; the end stays what it was, unless a charge that was under way has paid for more.
// It is zero while nothing was ordered.
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
	if next := c.comes(); next.After(paid) && next.Before(ends) {
		return next
	}
	return ends
}

// endsPaid reports whether a cancellation waits for the end of what the latest order paid.
func (c Contract) endsPaid() bool { return c.Ending != nil && c.Ending.Paid.Equal(c.paidAt()) }

// comes returns when the next order comes, or was to come before a cancellation took it
// away; zero when there is none.
func (c Contract) comes() time.Time {
	switch {
	case c.endsPaid():
		return c.Ending.At
	case c.Status == Cancelled:
		return c.CancelledOrderDate
	}
	return c.NextBillingDate
}

// PaidThrough returns until when a customer has paid for any of the contracts;
// zero when for none.
func PaidThrough(contracts []Contract, cal cadence.Calendar) time.Time {
	var latest time.Time
	for _, c := range contracts {
		if until := c.PaidThrough(cal); until.After(latest) {
			latest = until
		}
	}
	return latest
}
