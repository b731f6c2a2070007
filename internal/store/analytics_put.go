package store

import (
	"context"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/analytics"
)

// PutFigures writes rows: those of days, subscribers and holdings as they are, the others as
// what is added to the rows that are there.
func (tx *Tx) PutFigures(ctx context.Context, t analytics.Tables) error {
	for _, put := range []func() error{
		func() error {
			return putRows[metricRow](ctx, tx, t.Days, "shop_id, day, currency, plan_group_id", replace)
		},
		func() error { return putRows[subscriberDayRow](ctx, tx, t.SubscriberDays, "shop_id, day", replace) },
		func() error { return putRows[subscriberRow](ctx, tx, t.Subscribers, "shop_id, customer_id", replace) },
		func() error {
			return putRows[holdingRow](ctx, tx, t.Holdings, "shop_id, customer_id, currency, plan_group_id", replace)
		},
		func() error { return putRows[churnRow](ctx, tx, t.Churn, "shop_id, month", add) },
		func() error { return putRows[cohortRow](ctx, tx, t.Cohorts, "shop_id, cohort, month, currency", add) },
		func() error {
			return putRows[failureRow](ctx, tx, t.Failures, "shop_id, day, currency, class, try", add)
		},
		func() error { return putRows[cycleRow](ctx, tx, t.Cycles, "shop_id, day, cycle", add) },
		func() error { return tx.putQueue(ctx, t.Queue) },
	} {
		if err := put(); err != nil {
			return err
		}
	}
	return nil
}

// How a row that is there changes.
func replace(_, column string) string { return column + " = excluded." + column }
func add(table, column string) string {
	return column + " = " + table + "." + column + " + excluded." + column
}

// putRows writes rows of figures, whose key columns are given.
func putRows[R, V any, P mapped[R, V]](ctx context.Context, tx *Tx, list []V, key string, set func(table, column string) string) error {
	rows, err := rowsOf[R, V, P](tx.of, list...)
	if err != nil {
		return err
	}
	table, columns := tableOf[R](tx)
	keys := strings.Split(key, ", ")
	var sets []string
	for _, c := range columns {
		if !slices.Contains(keys, c.name) {
			sets = append(sets, set(table, c.name))
		}
	}
	_, err = insert(ctx, tx, rows, "ON CONFLICT ("+key+") DO UPDATE SET "+strings.Join(sets, ", "))
	return err
}
