package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/perennialhq/perennial/internal/domain/analytics"
)

// AllFigures returns every row that is computed, by key. It is as long as the shop is old.
func (tx *Tx) AllFigures(ctx context.Context) (t analytics.Tables, err error) {
	if t.Days, err = allRows[metricRow, analytics.DayFigures](ctx, tx, "day", "currency", "plan_group_id"); err != nil {
		return t, err
	}
	if t.SubscriberDays, err = allRows[subscriberDayRow, analytics.SubscriberFigures](ctx, tx, "day"); err != nil {
		return t, err
	}
	if t.Subscribers, err = allRows[subscriberRow, analytics.Subscriber](ctx, tx, "customer_id"); err != nil {
		return t, err
	}
	if t.Holdings, err = allRows[holdingRow, analytics.Holding](ctx, tx, "customer_id", "currency", "plan_group_id"); err != nil {
		return t, err
	}
	if t.Churn, err = allRows[churnRow, analytics.ChurnMonth](ctx, tx, "month"); err != nil {
		return t, err
	}
	if t.Cohorts, err = allRows[cohortRow, analytics.CohortMonth](ctx, tx, "cohort", "month", "currency"); err != nil {
		return t, err
	}
	if t.Failures, err = allRows[failureRow, analytics.FailureFigures](ctx, tx, "day", "currency", "class", "try"); err != nil {
		return t, err
	}
	if t.Queue, err = allRows[quarterRow, analytics.QueueFigures](ctx, tx, "quarter", "currency", "plan_group_id", "cycle"); err != nil {
		return t, err
	}
	t.Cycles, err = allRows[cycleRow, analytics.CycleFigures](ctx, tx, "day", "cycle")
	// A result that was taken back later leaves a row that says nothing.
	t.Cycles = slices.DeleteFunc(t.Cycles, func(c analytics.CycleFigures) bool { return c.Paid == 0 && c.Lost == 0 && c.Skipped == 0 })
	return t, err
}

func allRows[R, V any, P mapped[R, V]](ctx context.Context, tx *Tx, key ...string) ([]V, error) {
	var rows []R
	if err := tx.q.NewSelect().Model(&rows).Where("shop_id = ?", tx.of).Order(key...).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read %s: %w", tableName[R](), err)
	}
	return readRows[V, R, P](rows)
}
