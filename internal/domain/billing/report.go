package billing

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// SortFields are the fields by which lists of attempts can be sorted, in the
// interface's words.
var SortFields = []string{
	"id", "billingDate", "attemptTime", "status", "attemptCount", "contractId", "orderId", "orderName", "createdAt", "updatedAt",
}

// Survey selects, of all of a shop's orders that no longer wait, those of some
// statuses. Zero values do not narrow.
type Survey struct {
	Line           shop.Line // always set
	Statuses       []Status  // none: no order passes
	Contract       contract.ID
	From, To       time.Time // billing date, inclusive
	Tries          *int      // how often the cycle was charged
	ContractStatus contract.Status
}

// Reports reads attempts across contracts, without a transaction.
type Reports interface {
	// PastAttempts returns a page of the attempts that pass the survey, newest
	// first unless the page says otherwise, and how many there are. A contract
	// that the line does not have has none.
	PastAttempts(ctx context.Context, of shop.ID, s Survey, p page.Request) ([]Record, int, error)
}
