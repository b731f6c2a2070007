package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

var (
	_ analytics.Tx        = (*Tx)(nil)
	_ analytics.RebuildTx = (*Tx)(nil)
)

// AnalyticsRebuild returns what figures are computed again with.
func (db *DB) AnalyticsRebuild() analytics.RebuildStore {
	return Scope[analytics.RebuildTx]{db, func(tx *Tx) analytics.RebuildTx { return tx }}
}

// ContractVersions returns the current versions of contracts.
func (tx *Tx) ContractVersions(ctx context.Context, contracts []int64) (map[int64]analytics.Version, error) {
	if len(contracts) == 0 {
		return nil, nil
	}
	var rows []historyRow
	err := tx.q.NewSelect().Model(&rows).Where("h.shop_id = ?", bound{tx.of}).Where("h.contract_id IN (?)", boundList[int64](contracts)).Where("h.valid_to = 0").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the history of %d contracts: %w", len(contracts), err)
	}
	list, err := readRows[analytics.Version](rows)
	found := make(map[int64]analytics.Version, len(list))
	for _, v := range list {
		found[v.Contract] = v
	}
	return found, err
}

// CohortsOf returns the cohorts of subscribers.
func (tx *Tx) CohortsOf(ctx context.Context, customers []int64) (map[int64]analytics.Month, error) {
	cohorts := make(map[int64]analytics.Month)
	if len(customers) == 0 {
		return cohorts, nil
	}
	var rows []struct{ CustomerID, Cohort int64 }
	err := tx.q.NewSelect().TableExpr("subscribers AS s").ColumnExpr("s.customer_id, s.cohort").
		Where("s.shop_id = ?", bound{tx.of}).Where("s.customer_id IN (?)", boundList[int64](customers)).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read the cohorts of %d subscribers: %w", len(customers), err)
	}
	for _, r := range rows {
		cohorts[r.CustomerID] = analytics.Month(r.Cohort)
	}
	return cohorts, nil
}

// OrderOutcomes returns the outcomes of attempts.
func (tx *Tx) OrderOutcomes(ctx context.Context, attempts []int64) (map[int64]analytics.Outcome, error) {
	if len(attempts) == 0 {
		return nil, nil
	}
	var rows []outcomeRow
	err := tx.q.NewSelect().Model(&rows).Where("o.shop_id = ?", bound{tx.of}).Where("o.id IN (?)", boundList[int64](attempts)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the outcomes of %d orders: %w", len(attempts), err)
	}
	list, err := readRows[analytics.Outcome](rows)
	found := make(map[int64]analytics.Outcome, len(list))
	for _, o := range list {
		found[o.Attempt] = o
	}
	return found, err
}

// PlanGroupsOf returns the plan groups of selling plans.
func (tx *Tx) PlanGroupsOf(ctx context.Context, sellingPlans []int64) (map[int64]int64, error) {
	if len(sellingPlans) == 0 {
		return nil, nil
	}
	var rows []struct{ ID, GroupID int64 }
	err := tx.q.NewSelect().TableExpr("plan_options AS o").ColumnExpr("o.id, o.group_id").
		Where("o.shop_id = ?", bound{tx.of}).Where("o.id IN (?)", boundList[int64](sellingPlans)).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read the plan groups of %d selling plans: %w", len(sellingPlans), err)
	}
	groups := make(map[int64]int64, len(rows))
	for _, r := range rows {
		groups[r.ID] = r.GroupID
	}
	return groups, nil
}

// LockLedger locks the shop's figures until the transaction ends.
func (tx *Tx) LockLedger(ctx context.Context) (analytics.Ledger, error) {
	var rows []struct {
		LastDay, LastNumber int64
		TimeZone            string
	}
	q := tx.q.NewSelect().TableExpr("analytics_state AS s").Join("JOIN shops AS z ON z.id = s.shop_id").ColumnExpr("s.last_day, s.last_number, z.time_zone").
		Where("s.shop_id = ?", bound{tx.of}).Where("s.id = 1")
	if tx.dialect().locks {
		q = q.For("UPDATE OF s")
	}
	if err := q.Scan(ctx, &rows); err != nil {
		return analytics.Ledger{}, fmt.Errorf("lock the figures: %w", err)
	}
	if len(rows) == 0 {
		if _, err := tx.q.NewRaw("INSERT INTO analytics_state (shop_id, id, last_day, last_number) VALUES (?, 1, 0, 0) ON CONFLICT DO NOTHING", bound{tx.of}).Exec(ctx); err != nil {
			return analytics.Ledger{}, fmt.Errorf("begin the figures: %w", err)
		}
		return tx.LockLedger(ctx)
	}
	zone, err := zoneOf(rows[0].TimeZone)
	return analytics.Ledger{Zone: zone, LastDay: analytics.Day(rows[0].LastDay), LastNumber: rows[0].LastNumber}, err
}

// zone returns the shop's time zone.
func (tx *Tx) zone(ctx context.Context) (*time.Location, error) {
	var name string
	if err := tx.q.NewSelect().TableExpr("shops AS s").ColumnExpr("s.time_zone").Where("s.id = ?", bound{tx.of}).Scan(ctx, &name); err != nil {
		return nil, fmt.Errorf("read the time zone of a shop: %w", err)
	}
	return zoneOf(name)
}

func zoneOf(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fault.Because(fault.Internal, err, "the time zone %q is unknown", name)
	}
	return zone, nil
}

// PutLedger writes where the shop's figures are.
func (tx *Tx) PutLedger(ctx context.Context, l analytics.Ledger) error {
	_, err := tx.q.NewRaw("UPDATE analytics_state SET last_day = ?, last_number = ? WHERE shop_id = ? AND id = 1", bound{int64(l.LastDay)}, bound{l.LastNumber}, bound{tx.of}).Exec(ctx)
	if err != nil {
		return fmt.Errorf("write where the figures are: %w", err)
	}
	return nil
}

// AddVersions inserts versions and ends those that they follow.
func (tx *Tx) AddVersions(ctx context.Context, versions []analytics.Version) error {
	ends := make(map[int64][]int64) // contracts whose version ends, by the instant
	for _, v := range versions {
		at := max(millis(v.ValidFrom), 1)
		ends[at] = append(ends[at], v.Contract)
	}
	for _, at := range sortedKeys(ends) {
		_, err := tx.q.NewRaw("UPDATE contract_history SET valid_to = ? WHERE shop_id = ? AND contract_id IN (?) AND valid_to = 0", bound{at}, bound{tx.of}, boundList[int64](ends[at])).Exec(ctx)
		if err != nil {
			return fmt.Errorf("end the versions of %d contracts: %w", len(ends[at]), err)
		}
	}
	rows, err := rowsOf[historyRow](tx.of, versions...)
	if err == nil {
		_, err = insert(ctx, tx, rows, "")
	}
	return err
}

// PutOutcomes writes outcomes.
func (tx *Tx) PutOutcomes(ctx context.Context, outcomes []analytics.Outcome) error {
	rows, err := rowsOf[outcomeRow](tx.of, outcomes...)
	if err == nil {
		_, err = insert(ctx, tx, rows, `ON CONFLICT (shop_id, id) DO UPDATE SET failed_day = excluded.failed_day, failed_amount = excluded.failed_amount,
			class = excluded.class, retried = excluded.retried, mailed = excluded.mailed, renewed = excluded.renewed, paid_day = excluded.paid_day, paid_amount = excluded.paid_amount, try = excluded.try,
			result = excluded.result, result_day = excluded.result_day`)
	}
	return err
}

// ContractsWithoutHistory returns at most limit contracts that have no version.
func (tx *Tx) ContractsWithoutHistory(ctx context.Context, limit int) ([]contract.ID, error) {
	var ids []contract.ID
	known := tx.q.NewSelect().TableExpr("contract_history AS h").ColumnExpr("1").Where("h.shop_id = c.shop_id").Where("h.contract_id = c.id")
	err := tx.q.NewSelect().TableExpr("contracts AS c").ColumnExpr("c.id").Where("c.shop_id = ?", tx.of).Where("NOT EXISTS (?)", known).
		Order("c.id").Limit(int64(limit)).Scan(ctx, &ids)
	if err != nil {
		return nil, fmt.Errorf("find contracts without a history: %w", err)
	}
	return ids, nil
}

// VersionsAfter returns at most limit versions with higher numbers.
func (tx *Tx) VersionsAfter(ctx context.Context, number int64, limit int) ([]analytics.Version, error) {
	var rows []historyRow
	err := tx.q.NewSelect().Model(&rows).Where("h.shop_id = ?", tx.of).Where("h.id > ?", number).Order("h.id").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the history of contracts: %w", err)
	}
	return readRows[analytics.Version](rows)
}

// OutcomesAfter returns at most limit outcomes of attempts with higher ids.
func (tx *Tx) OutcomesAfter(ctx context.Context, attempt int64, limit int) ([]analytics.Outcome, error) {
	var rows []outcomeRow
	err := tx.q.NewSelect().Model(&rows).Where("o.shop_id = ?", tx.of).Where("o.id > ?", attempt).Order("o.id").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the outcomes of orders: %w", err)
	}
	return readRows[analytics.Outcome](rows)
}

// computed are the tables that are computed from contract_history, order_outcomes and attempts.
var computed = []string{
	"metric_days", "subscriber_days", "churn_months", "cohort_months", "failure_days", "cycle_days", "queue_quarters", "subscribers", "subscriber_holdings",
}

// ClearFigures deletes what is computed.
func (tx *Tx) ClearFigures(ctx context.Context) error {
	for _, table := range computed {
		if _, err := tx.q.NewDelete().TableExpr("?", bun.Ident(table)).Where("shop_id = ?", tx.of).Exec(ctx); err != nil {
			return fmt.Errorf("clear %s: %w", table, err)
		}
	}
	return nil
}

// LastFigures returns the newest rows of days and the rows of customers.
func (tx *Tx) LastFigures(ctx context.Context, of analytics.Keys) (analytics.Tables, error) {
	var t analytics.Tables
	seen := make(map[analytics.Dimension]bool)
	for _, d := range of.Dimensions {
		if seen[d] {
			continue
		}
		seen[d] = true
		var rows []metricRow
		err := tx.q.NewSelect().Model(&rows).Where("m.shop_id = ?", bound{tx.of}).Where("m.currency = ?", bound{string(d.Currency)}).
			Where("m.plan_group_id = ?", bound{d.Group}).Order("m.day DESC").Limit(1).Scan(ctx)
		if err != nil {
			return t, fmt.Errorf("read the figures of a day: %w", err)
		}
		days, err := readRows[analytics.DayFigures](rows)
		if err != nil {
			return t, err
		}
		t.Days = append(t.Days, days...)
	}
	if len(of.Customers) == 0 {
		return t, nil
	}
	customers := slices.Clone(of.Customers)
	slices.Sort(customers)
	customers = slices.Compact(customers)
	var days []subscriberDayRow
	if err := tx.q.NewSelect().Model(&days).Where("d.shop_id = ?", bound{tx.of}).Order("d.day DESC").Limit(1).Scan(ctx); err != nil {
		return t, fmt.Errorf("read the subscribers of a day: %w", err)
	}
	var subscribers []subscriberRow
	if err := tx.q.NewSelect().Model(&subscribers).Where("s.shop_id = ?", bound{tx.of}).Where("s.customer_id IN (?)", boundList[int64](customers)).Scan(ctx); err != nil {
		return t, fmt.Errorf("read subscribers: %w", err)
	}
	var holdings []holdingRow
	if err := tx.q.NewSelect().Model(&holdings).Where("h.shop_id = ?", bound{tx.of}).Where("h.customer_id IN (?)", boundList[int64](customers)).Scan(ctx); err != nil {
		return t, fmt.Errorf("read the contracts of subscribers: %w", err)
	}
	var err error
	if t.SubscriberDays, err = readRows[analytics.SubscriberFigures](days); err != nil {
		return t, err
	}
	if t.Subscribers, err = readRows[analytics.Subscriber](subscribers); err != nil {
		return t, err
	}
	t.Holdings, err = readRows[analytics.Holding](holdings)
	return t, err
}
