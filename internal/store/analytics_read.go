package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

var _ analytics.ReadTx = (*Tx)(nil)

// Figures returns what figures are read with.
func (db *DB) Figures() analytics.ReadStore {
	return readScope(db, func(tx *Tx) analytics.Tx { return tx }, func(tx *Tx) analytics.ReadTx { return tx })
}

// Zone returns the shop's time zone.
func (tx *Tx) Zone(ctx context.Context) (*time.Location, error) { return tx.zone(ctx) }

// filtered adds the conditions of a filter on the rows m.
func (tx *Tx) filtered(q *bun.SelectQuery, alias string, f analytics.Filter) *bun.SelectQuery {
	if f.Currency != "" {
		q = q.Where("?.currency = ?", bun.Ident(alias), bound{string(f.Currency)})
	}
	if f.Group != nil {
		q = q.Where("?.plan_group_id = ?", bun.Ident(alias), bound{*f.Group})
	}
	return q
}

// MetricDays returns the rows of days.
func (tx *Tx) MetricDays(ctx context.Context, from, to analytics.Day, f analytics.Filter) ([]analytics.DayFigures, error) {
	var rows []metricRow
	q := tx.q.NewSelect().Model(&rows).Where("m.shop_id = ?", bound{tx.of}).Where("m.day >= ?", bound{int64(from)}).Where("m.day <= ?", bound{int64(to)})
	if err := tx.filtered(q, "m", f).Order("m.day", "m.currency", "m.plan_group_id").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the figures of days: %w", err)
	}
	return readRows[analytics.DayFigures](rows)
}

// MetricsBefore returns the last row before a day of each dimension.
func (tx *Tx) MetricsBefore(ctx context.Context, day analytics.Day, f analytics.Filter) ([]analytics.DayFigures, error) {
	var rows []metricRow
	last := tx.q.NewSelect().TableExpr("metric_days AS l").ColumnExpr("l.currency, l.plan_group_id, MAX(l.day) AS day").
		Where("l.shop_id = ?", bound{tx.of}).Where("l.day < ?", bound{int64(day)}).GroupExpr("l.currency, l.plan_group_id")
	q := tx.q.NewSelect().Model(&rows).Join("JOIN (?) AS l ON l.currency = m.currency AND l.plan_group_id = m.plan_group_id AND l.day = m.day", tx.filtered(last, "l", f)).
		Where("m.shop_id = ?", bound{tx.of})
	if err := q.Order("m.currency", "m.plan_group_id").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the last figures before a day: %w", err)
	}
	return readRows[analytics.DayFigures](rows)
}

// FirstDay returns the first day that has figures.
func (tx *Tx) FirstDay(ctx context.Context) (analytics.Day, error) {
	var day int64
	err := tx.q.NewSelect().TableExpr("metric_days AS m").ColumnExpr("COALESCE(MIN(m.day), 0)").Where("m.shop_id = ?", bound{tx.of}).Scan(ctx, &day)
	if err != nil {
		return 0, fmt.Errorf("read the first day of the figures: %w", err)
	}
	return analytics.Day(day), nil
}

// PlanGroupNames returns the shop's plan groups by name.
func (tx *Tx) PlanGroupNames(ctx context.Context) ([]analytics.PlanGroup, error) {
	var list []analytics.PlanGroup
	err := tx.q.NewSelect().TableExpr("plan_groups AS g").ColumnExpr("g.id, g.name").Where("g.shop_id = ?", bound{tx.of}).Order("g.name", "g.id").Scan(ctx, &list)
	if err != nil {
		return nil, fmt.Errorf("read the names of plan groups: %w", err)
	}
	return list, nil
}

// SubscriberDays returns the rows of days, and the last one before them.
func (tx *Tx) SubscriberDays(ctx context.Context, from, to analytics.Day) ([]analytics.SubscriberFigures, error) {
	var rows []subscriberDayRow
	last := tx.q.NewSelect().TableExpr("subscriber_days AS l").ColumnExpr("MAX(l.day)").Where("l.shop_id = ?", bound{tx.of}).Where("l.day < ?", bound{int64(from)})
	err := tx.q.NewSelect().Model(&rows).Where("d.shop_id = ?", bound{tx.of}).Where("d.day >= COALESCE((?), ?)", last, bound{int64(from)}).
		Where("d.day <= ?", bound{int64(to)}).Order("d.day").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the subscribers of days: %w", err)
	}
	return readRows[analytics.SubscriberFigures](rows)
}

// ChurnMonths returns the churn of months.
func (tx *Tx) ChurnMonths(ctx context.Context, from, to analytics.Month) ([]analytics.ChurnMonth, error) {
	var rows []churnRow
	err := tx.q.NewSelect().Model(&rows).Where("c.shop_id = ?", bound{tx.of}).Where("c.month >= ?", bound{int64(from)}).Where("c.month <= ?", bound{int64(to)}).
		Order("c.month").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the churn of months: %w", err)
	}
	return readRows[analytics.ChurnMonth](rows)
}

// Churned counts the subscribers at the start of a day who have no contract now.
func (tx *Tx) Churned(ctx context.Context, since analytics.Day) (voluntary, byFailedPayment int64, err error) {
	var row struct{ Lost, Declined int64 }
	err = tx.q.NewSelect().TableExpr("subscribers AS s").ColumnExpr("COUNT(*) AS lost, COALESCE(SUM(CASE WHEN s.declined THEN 1 ELSE 0 END), 0) AS declined").
		Where("s.shop_id = ?", bound{tx.of}).Where("s.contracts = 0").Where("s.until >= ?", bound{int64(since)}).Where("s.since < ?", bound{int64(since)}).Scan(ctx, &row)
	if err != nil {
		return 0, 0, fmt.Errorf("count subscribers who left: %w", err)
	}
	return row.Lost - row.Declined, row.Declined, nil
}

// CohortMonths returns the rows of cohorts from a month on.
func (tx *Tx) CohortMonths(ctx context.Context, from analytics.Month) ([]analytics.CohortMonth, error) {
	var rows []cohortRow
	err := tx.q.NewSelect().Model(&rows).Where("c.shop_id = ?", bound{tx.of}).Where("c.cohort >= ?", bound{int64(from)}).
		Order("c.cohort", "c.month", "c.currency").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read cohorts: %w", err)
	}
	return readRows[analytics.CohortMonth](rows)
}

// CohortSums returns the sums of a currency by cohort.
func (tx *Tx) CohortSums(ctx context.Context, c money.Currency) ([]analytics.CohortMonth, error) {
	var rows []cohortRow
	err := tx.q.NewSelect().Model((*cohortRow)(nil)).ColumnExpr("c.cohort, c.currency, SUM(c.joined) AS joined, SUM(c.revenue) AS revenue").
		Where("c.shop_id = ?", bound{tx.of}).Where("c.currency = ?", bound{string(c)}).Group("c.cohort", "c.currency").Order("c.cohort").Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("sum cohorts: %w", err)
	}
	return readRows[analytics.CohortMonth](rows)
}

// FailureDays returns what became of the orders that failed on days. Those of one plan group
// are counted: the sums are not kept by group.
func (tx *Tx) FailureDays(ctx context.Context, from, to analytics.Day, f analytics.Filter) ([]analytics.FailureFigures, error) {
	if f.Group != nil {
		return tx.groupFailures(ctx, from, to, f)
	}
	var rows []failureRow
	q := tx.q.NewSelect().Model(&rows).Where("f.shop_id = ?", bound{tx.of}).Where("f.day >= ?", bound{int64(from)}).Where("f.day <= ?", bound{int64(to)})
	if err := tx.filtered(q, "f", f).Order("f.day", "f.currency", "f.class", "f.try").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the failures of days: %w", err)
	}
	return readRows[analytics.FailureFigures](rows)
}

// groupFailures counts what became of the orders of a plan group that failed on days.
func (tx *Tx) groupFailures(ctx context.Context, from, to analytics.Day, f analytics.Filter) ([]analytics.FailureFigures, error) {
	failed := func(model any) *bun.SelectQuery {
		q := tx.q.NewSelect().Model(model).Where("o.shop_id = ?", bound{tx.of}).Where("o.failed_day > 0").
			Where("o.failed_day >= ?", bound{int64(from)}).Where("o.failed_day <= ?", bound{int64(to)})
		return tx.filtered(q, "o", f)
	}
	const key = "o.failed_day AS day, o.currency, o.class"
	var rows, paid []failureRow
	q := failed((*outcomeRow)(nil)).ColumnExpr(key + ", COUNT(*) AS failed, CAST(SUM(o.failed_amount) AS bigint) AS failed_amount")
	for _, stage := range []struct{ column, reached string }{
		{"retried", "o.retried"}, {"mailed", "o.mailed"}, {"renewed", "o.renewed"}, {"lost", "o.result = 'LOST'"},
	} {
		q = q.ColumnExpr("SUM(CASE WHEN "+stage.reached+" THEN 1 ELSE 0 END) AS ?", bun.Ident(stage.column)).
			ColumnExpr("CAST(SUM(CASE WHEN "+stage.reached+" THEN o.failed_amount ELSE 0 END) AS bigint) AS ?", bun.Ident(stage.column+"_amount"))
	}
	if err := q.Group("o.failed_day", "o.currency", "o.class").Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("count the failures of a plan group: %w", err)
	}
	err := failed((*outcomeRow)(nil)).ColumnExpr(key+", o.try, COUNT(*) AS recovered, CAST(SUM(o.failed_amount) AS bigint) AS recovered_amount").
		Where("o.paid_day > 0").Group("o.failed_day", "o.currency", "o.class", "o.try").Scan(ctx, &paid)
	if err != nil {
		return nil, fmt.Errorf("count the recovered orders of a plan group: %w", err)
	}
	list, err := readRows[analytics.FailureFigures](append(rows, paid...))
	slices.SortFunc(list, analytics.CompareFailures)
	return list, err
}

// CycleSums returns the sums of the results of days by cycle.
func (tx *Tx) CycleSums(ctx context.Context, from, to analytics.Day) ([]analytics.CycleFigures, error) {
	var rows []cycleRow
	err := tx.q.NewSelect().Model((*cycleRow)(nil)).ColumnExpr("y.cycle, SUM(y.paid) AS paid, SUM(y.lost) AS lost, SUM(y.skipped) AS skipped").
		Where("y.shop_id = ?", bound{tx.of}).Where("y.day >= ?", bound{int64(from)}).Where("y.day <= ?", bound{int64(to)}).Group("y.cycle").Order("y.cycle").Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read how orders ended: %w", err)
	}
	return readRows[analytics.CycleFigures](rows)
}

// InDunning returns the orders that are declined and not given up.
func (tx *Tx) InDunning(ctx context.Context) ([]analytics.Owed, error) {
	var contracts []contractRow
	err := tx.q.NewSelect().Model(&contracts).Column("id", "currency", "dunning").Where("c.shop_id = ?", bound{tx.of}).Where("c.dunning <> ''").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the orders that are unpaid: %w", err)
	}
	owed, currencies := make(map[money.Currency]analytics.Owed), make(map[int64]money.Currency, len(contracts))
	unpaid := make([]int64, 0, len(contracts))
	for _, c := range contracts {
		of, err := parseJSON[contract.Dunning](c.Dunning)
		if err != nil {
			return nil, fmt.Errorf("read the case of contract %d: %w", c.ID, err)
		}
		unpaid = append(unpaid, of.Attempt)
		currencies[of.Attempt] = money.Currency(c.Currency)
	}
	for some := range slices.Chunk(unpaid, unpaidAtOnce) {
		var orders []expectedRow
		if err := tx.q.NewSelect().Model(&orders).Where("a.shop_id = ?", bound{tx.of}).Where("a.id IN (?)", boundList[int64](some)).Scan(ctx); err != nil {
			return nil, fmt.Errorf("sum the orders that are unpaid: %w", err)
		}
		for _, o := range orders {
			c := currencies[o.ID]
			was := owed[c]
			owed[c] = analytics.Owed{Currency: c, Orders: was.Orders + 1, Amount: was.Amount + o.Expected}
		}
	}
	list := make([]analytics.Owed, 0, len(owed))
	for _, c := range sortedKeys(owed) {
		list = append(list, owed[c])
	}
	return list, nil
}

// unpaidAtOnce is the number of unpaid orders that are read at once.
const unpaidAtOnce = 1000
