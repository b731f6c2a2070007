package record

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/web"
)

// Page sizes of the lists of attempts.
const (
	defaultAttempts = 20
	maxAttempts     = 2000
)

// AttemptList is what every list of attempts allows to be asked for.
var AttemptList = web.List{Default: defaultAttempts, Max: maxAttempts, Fields: billing.SortFields}

// AttemptPage answers with a page of records.
type AttemptPage struct {
	web.ListHeaders
	Body []BillingAttempt
}

// ListAttempts answers with a page of the attempts of the caller's shop that a question asks
// for, and with their total.
func ListAttempts(ctx context.Context, book billing.Book, q billing.Question, p page.Request) (*AttemptPage, error) {
	caller := web.CallerOf(ctx)
	records, total, err := book.AttemptsWhere(ctx, caller.Shop.ID, q, p)
	if err != nil {
		return nil, err
	}
	out := &AttemptPage{ListHeaders: web.Paged(ctx, p, total), Body: make([]BillingAttempt, len(records))}
	for i, r := range records {
		out.Body[i] = NewBillingAttempt(caller.Shop.Domain, r)
	}
	return out, nil
}

// AttemptOut answers with a record.
type AttemptOut struct {
	Body BillingAttempt
}

// NewAttemptOut writes the attempt that a caller's command has changed, or passes on why
// it has not.
func NewAttemptOut(caller web.Caller, r billing.Record, err error) (*AttemptOut, error) {
	if err != nil {
		return nil, err
	}
	return &AttemptOut{NewBillingAttempt(caller.Shop.Domain, r)}, nil
}
