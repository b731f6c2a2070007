package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/billing"
)

// queueWatch knows where the attempts that a transaction has read or written are queued, so that
// the transaction can say what it changed in the queue.
type queueWatch struct {
	known   map[billing.AttemptID]placed
	changed map[billing.AttemptID]*analytics.QueueChange
}

// placed is where a version of an attempt is queued.
type placed struct {
	version  int64
	at       analytics.Wait
	expected int64
}

// note remembers attempts as the database has them.
func (w *queueWatch) note(attempts []billing.Attempt) {
	if w.known == nil {
		w.known = make(map[billing.AttemptID]placed, len(attempts))
	}
	for _, a := range attempts {
		w.known[a.ID] = placed{a.Version, analytics.WaitOf(a), a.Expected}
	}
}

// noted remembers attempts that were read.
func (tx *Tx) noted(attempts []billing.Attempt, err error) ([]billing.Attempt, error) {
	if !tx.readOnly {
		tx.queue.note(attempts)
	}
	return attempts, err
}

// move adds that an attempt is queued somewhere now.
func (w *queueWatch) move(id billing.AttemptID, is analytics.Wait) {
	was := w.known[id].at
	if c := w.changed[id]; c != nil {
		c.Is = is
		return
	}
	if was == is {
		return
	}
	if w.changed == nil {
		w.changed = make(map[billing.AttemptID]*analytics.QueueChange)
	}
	w.changed[id] = &analytics.QueueChange{Was: was, Is: is}
}

// changes returns what changed, by attempt.
func (w *queueWatch) changes() []analytics.QueueChange {
	var list []analytics.QueueChange
	for _, id := range sortedKeys(w.changed) {
		if c := *w.changed[id]; c.Was != c.Is {
			list = append(list, c)
		}
	}
	return list
}

// watch finds out where attempts are queued that are about to be written, unless the
// transaction has read these versions of them.
func (tx *Tx) watch(ctx context.Context, attempts []billing.Attempt) error {
	var ids []billing.AttemptID
	for _, a := range attempts {
		if known, has := tx.queue.known[a.ID]; a.ID != 0 && (!has || known.version != a.Version) {
			ids = append(ids, a.ID)
		}
	}
	return tx.watchIDs(ctx, ids)
}

func (tx *Tx) watchIDs(ctx context.Context, ids []billing.AttemptID) error {
	if len(ids) == 0 {
		return nil
	}
	var rows []attemptRow
	err := tx.q.NewSelect().Model(&rows).Column("id", "contract_id", "cycle", "status", "due_at", "expected", "version").Where("a.shop_id = ?", bound{tx.of}).
		Where("a.id IN (?)", boundList[billing.AttemptID](ids)).Scan(ctx)
	if err != nil {
		return fmt.Errorf("see where %d attempts are queued: %w", len(ids), err)
	}
	list, err := readRows[billing.Attempt](rows)
	tx.queue.note(list)
	return err
}

// QueuedOf returns where the orders of contracts are queued.
func (tx *Tx) QueuedOf(ctx context.Context, contracts []int64) ([]analytics.Wait, error) {
	if len(contracts) == 0 {
		return nil, nil
	}
	var rows []attemptRow
	err := tx.q.NewSelect().Model(&rows).Column("contract_id", "cycle", "status", "due_at", "expected").Where("a.shop_id = ?", bound{tx.of}).
		Where("a.contract_id IN (?)", boundList[int64](contracts)).Where("a.status IN (?)", bun.List(billing.Open)).Where("a.status = ?", billing.Queued).
		Where("a.due_at IS NOT NULL").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the queue of %d contracts: %w", len(contracts), err)
	}
	list, err := readRows[billing.Attempt](rows)
	waits := make([]analytics.Wait, len(list))
	for i, a := range list {
		waits[i] = analytics.WaitOf(a)
	}
	return waits, err
}

// putQueue adds to what is queued, and deletes rows that say nothing any more.
func (tx *Tx) putQueue(ctx context.Context, list []analytics.QueueFigures) error {
	if err := putRows[quarterRow](ctx, tx, list, "shop_id, quarter, currency, plan_group_id, cycle", add); err != nil {
		return err
	}
	var less []int64
	for _, q := range list {
		if q.Orders < 0 {
			less = append(less, int64(q.Quarter))
		}
	}
	if len(less) == 0 {
		return nil
	}
	slices.Sort(less)
	_, err := tx.q.NewRaw("DELETE FROM queue_quarters WHERE shop_id = ? AND quarter IN (?) AND orders = 0", bound{tx.of}, boundList[int64](slices.Compact(less))).Exec(ctx)
	if err != nil {
		return fmt.Errorf("delete empty sums of the queue: %w", err)
	}
	return nil
}

// Queued returns the sums of the orders that fall due from one quarter to before another.
func (tx *Tx) Queued(ctx context.Context, from, to analytics.Quarter, f analytics.Filter) ([]analytics.QueueFigures, error) {
	var rows []quarterRow
	q := tx.q.NewSelect().Model(&rows).Where("q.shop_id = ?", bound{tx.of}).Where("q.quarter >= ?", bound{int64(from)}).Where("q.quarter < ?", bound{int64(to)})
	if err := tx.filtered(q, "q", f).Order("q.quarter", "q.currency", "q.plan_group_id", "q.cycle").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read what is queued: %w", err)
	}
	return readRows[analytics.QueueFigures](rows)
}

// CountQueue sums the orders that are queued, by key. It reads them all.
func (tx *Tx) CountQueue(ctx context.Context) ([]analytics.QueueFigures, error) {
	var rows []quarterRow
	keys := fmt.Sprintf("a.due_at / %d AS quarter, h.currency, h.plan_group_id, CASE WHEN a.cycle > %[2]d THEN %[2]d ELSE a.cycle END AS up_to", analytics.QuarterLength.Milliseconds(), analytics.LastCycle)
	counted := tx.queued().ColumnExpr(keys).ColumnExpr("a.expected")
	err := tx.q.NewSelect().TableExpr("(?) AS q", counted).ColumnExpr("q.quarter, q.currency, q.plan_group_id, q.up_to AS cycle, COUNT(*) AS orders, SUM(q.expected) AS amount").
		GroupExpr("q.quarter, q.currency, q.plan_group_id, q.up_to").Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("sum the orders that are queued: %w", err)
	}
	list, err := readRows[analytics.QueueFigures](rows)
	slices.SortFunc(list, analytics.CompareQueue)
	return list, err
}
