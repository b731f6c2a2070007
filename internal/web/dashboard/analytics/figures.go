package analytics

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// Figures answers what the figures of a store are. *analytics.Service does.
type Figures interface {
	Scope(ctx context.Context, of shop.Shop) (analytics.Scope, error)
	Series(ctx context.Context, of shop.ID, m analytics.Metric, p analytics.Period, f analytics.Filter) ([]analytics.Point, error)
	Movements(ctx context.Context, of shop.ID, p analytics.Period, f analytics.Filter) ([]analytics.MonthMoves, error)
	Churn(ctx context.Context, of shop.ID, p analytics.Period) ([]analytics.Churn, error)
	Cohorts(ctx context.Context, of shop.ID, months int, f analytics.Filter) ([]analytics.Cohort, error)
	Forecast(ctx context.Context, of shop.ID, days int, f analytics.Filter) (analytics.Forecast, error)
	Recovery(ctx context.Context, of shop.ID, p analytics.Period, f analytics.Filter) (analytics.Recovery, error)
	Renewals(ctx context.Context, of shop.ID, p analytics.Period, f analytics.Filter) ([]analytics.Renewals, error)
	Lifetimes(ctx context.Context, of shop.ID, c money.Currency) ([]analytics.Lifetime, analytics.Lifetime, error)
}

// request is what a reader asks of a page.
type request struct {
	dashboard.Visit
	choice
	scope analytics.Scope
}
