package billing

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
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
	// Analytics returns the figures of a contract. One that the line does not have is
	// NotFound.
	Analytics(ctx context.Context, of shop.ID, line shop.Line, id contract.ID) (Analytics, error)
}

// Analytics are the figures of one contract.
type Analytics struct {
	Of          contract.Contract
	First, Last time.Time // when its renewal orders were charged; zero when none was
	Skipped     int       // orders that are skipped
	Failed      int       // orders that could not be charged, those included that were given up
}

// Add counts attempts of a status. The first and the last of them were charged at the instants.
func (a *Analytics) Add(s Status, attempts int, first, last time.Time) {
	switch s {
	case Success:
		a.First, a.Last = first, last
	case Skipped:
		a.Skipped += attempts
	case Failure, SkippedDunning:
		a.Failed += attempts
	}
}

// Average returns what a renewal order came to on average, rounded half up to a minor
// unit; nothing when there was none.
func (a Analytics) Average() money.Amount {
	if a.Of.Orders == 0 {
		return money.Amount{Currency: a.Of.Currency}
	}
	n := int64(a.Of.Orders)
	return money.Amount{Minor: (2*a.Of.Lifetime.Minor + n) / (2 * n), Currency: a.Of.Currency}
}
