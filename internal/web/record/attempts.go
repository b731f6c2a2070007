package record

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/web"
)

// AttemptPage answers with a page of records.
type AttemptPage struct {
	web.ListHeaders
	Body []BillingAttempt
}

// NewAttemptPage writes a page of the caller's attempts and their total.
func NewAttemptPage(ctx context.Context, records []billing.Record, p page.Request, total int) *AttemptPage {
	domain := web.CallerOf(ctx).Shop.Domain
	out := &AttemptPage{ListHeaders: web.Paged(ctx, p, total), Body: make([]BillingAttempt, len(records))}
	for i, r := range records {
		out.Body[i] = NewBillingAttempt(domain, r)
	}
	return out
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
