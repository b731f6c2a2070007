package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

// DueAttempts returns at most limit attempts that are due, earliest first,
// locked, passing over those that another transaction holds.
func (tx *Tx) DueAttempts(ctx context.Context, now time.Time, limit int) ([]billing.Attempt, error) {
	return tx.waitingAttempts(ctx, dueAttempts, now, limit, nil)
}

// DueInFlight does the same for those in flight alone.
func (tx *Tx) DueInFlight(ctx context.Context, now time.Time, limit int) ([]billing.Attempt, error) {
	return tx.waitingAttempts(ctx, dueAttempts, now, limit, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("a.status IN (?)", bun.List(inFlight))
	})
}

// UnpublishedAttempts does the same by PublishAt, and skips contracts whose attempts
// another worker is publishing.
func (tx *Tx) UnpublishedAttempts(ctx context.Context, now time.Time, limit int) ([]billing.Attempt, error) {
	return tx.waitingAttempts(ctx, unpublished, now, limit, notPublishing("a", now))
}

// publishing selects the attempts, aliased t, that a worker is publishing.
func publishing(db bun.IDB, now time.Time) *bun.SelectQuery {
	return db.NewSelect().TableExpr("attempts AS t").Where("t.publish_lease_until > 0").Where("t.publish_lease_until > ?", boundAt(now)) // the first is the index's
}

// notPublishing leaves out attempts, aliased of, of contracts whose attempts a worker is
// publishing.
func notPublishing(of string, now time.Time) func(*bun.SelectQuery) *bun.SelectQuery {
	return func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("NOT EXISTS (?)", publishing(q.DB(), now).ColumnExpr("1").Where("t.shop_id = ?.shop_id", ident(of)).Where("t.contract_id = ?.contract_id", ident(of)))
	}
}

// LeasePublishing leases attempts to the caller, who publishes them until an instant. It
// returns only those of contracts that no other worker publishes. The contracts must be
// locked.
func (tx *Tx) LeasePublishing(ctx context.Context, attempts []billing.Attempt, now, until time.Time) ([]billing.Attempt, error) {
	contracts := make([]contract.ID, len(attempts))
	for i, a := range attempts {
		contracts[i] = a.Contract
	}
	var others []contract.ID
	if err := publishing(tx.q, now).Column("t.contract_id").Where("t.shop_id = ?", bound{tx.of}).Where("t.contract_id IN (?)", boundList[contract.ID](contracts)).Scan(ctx, &others); err != nil {
		return nil, fmt.Errorf("read the publish leases: %w", err)
	}
	var ours []billing.Attempt
	var rows []attemptRow
	for _, a := range attempts {
		if slices.Contains(others, a.Contract) {
			continue
		}
		rows = append(rows, attemptRow{ID: int64(a.ID), PublishLeaseUntil: millis(until), Version: a.Version})
		a.PublishLeaseUntil = until
		a.Version++
		ours = append(ours, a)
	}
	n, err := update(ctx, tx, rows, "publish_lease_until")
	if err == nil && int(n) != len(rows) {
		err = changed("subscriptionBillingAttempt", "The billing attempt")
	}
	return ours, err
}

func (tx *Tx) waitingAttempts(ctx context.Context, w waiting, now time.Time, limit int, narrow func(*bun.SelectQuery) *bun.SelectQuery) ([]billing.Attempt, error) {
	var rows []attemptRow
	q := tx.q.NewSelect().Model(&rows).Where("a.shop_id = ?", bound{tx.of}).Where("a.? <= ?", ident(w.column), boundAt(now)).
		OrderExpr("a.?, a.id", ident(w.column)).Limit(int64(limit))
	if narrow != nil {
		q = narrow(q)
	}
	if err := tx.dialect().skipLocked(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the attempts that wait: %w", err)
	}
	return tx.noted(readRows[billing.Attempt](rows))
}

// PendingWork reports, without locking, which work of the shop waits, apart from due attempts.
func (tx *Tx) PendingWork(ctx context.Context, now time.Time) (w billing.PendingWork, err error) {
	some := func(of waiting) *bun.SelectQuery {
		return tx.q.NewSelect().Table(of.table).ColumnExpr("1").Where("shop_id = ?", bound{tx.of}).Where("? <= ?", ident(of.column), boundAt(now))
	}
	unpriced := tx.q.NewSelect().Model((*repricingRow)(nil)).ColumnExpr("1").Where("p.shop_id = ?", bound{tx.of})
	err = tx.q.NewSelect().ColumnExpr("EXISTS (?) AS unpublished", some(unpublished).Apply(notPublishing(unpublished.table, now))).ColumnExpr("EXISTS (?) AS annotations", some(dueAnnotations)).
		ColumnExpr("EXISTS (?) AS prices", unpriced).Scan(ctx, &w.Unpublished, &w.Annotations, &w.Prices)
	if err != nil {
		err = fmt.Errorf("see what waits: %w", err)
	}
	return w, err
}

// Attempts returns attempts, locked, in the order of their ids.
func (tx *Tx) Attempts(ctx context.Context, ids []billing.AttemptID) ([]billing.Attempt, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return tx.attempts(ctx, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("a.id IN (?)", boundList[billing.AttemptID](ids)).Order("a.id")
	})
}

// AttemptsByKey returns the attempts whose present try has one of the keys,
// locked.
func (tx *Tx) AttemptsByKey(ctx context.Context, keys []string) ([]billing.Attempt, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	wanted := make([]string, len(keys))
	for i, k := range keys {
		wanted[i] = clean(k)
	}
	return tx.attempts(ctx, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("a.key IN (?)", boundList[string](wanted)).Where("a.key <> ''").OrderExpr(tx.dialect().unindexed + "a.id")
	})
}

// AttemptsOf returns the contracts' attempts in any of the statuses (none: all),
// locked, ordered by contract and cycle.
func (tx *Tx) AttemptsOf(ctx context.Context, contracts []contract.ID, in ...billing.Status) ([]billing.Attempt, error) {
	if len(contracts) == 0 {
		return nil, nil
	}
	return tx.attempts(ctx, func(q *bun.SelectQuery) *bun.SelectQuery {
		q = q.Where("a.contract_id IN (?)", boundList[contract.ID](contracts)).Order("a.contract_id", "a.cycle")
		if len(in) > 0 {
			q = q.Where("a.status IN (?)", bun.List(in))
		}
		return q
	})
}

// OpenAttempts returns the contracts' attempts that are in flight, or QUEUED for
// a date at or before now, locked, ordered by contract and cycle.
func (tx *Tx) OpenAttempts(ctx context.Context, contracts []contract.ID, now time.Time) ([]billing.Attempt, error) {
	if len(contracts) == 0 {
		return nil, nil
	}
	open := []billing.Status{billing.Queued, billing.Requesting, billing.Progress, billing.Challenge, billing.PlatformException}
	return tx.attempts(ctx, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("a.contract_id IN (?)", boundList[contract.ID](contracts)).Where("a.status IN (?)", bun.List(open)).
			Where("(a.status <> ? OR a.billing_date <= ?)", billing.Queued, boundAt(now)).Order("a.contract_id", "a.cycle")
	})
}

func (tx *Tx) attempts(ctx context.Context, where func(*bun.SelectQuery) *bun.SelectQuery) ([]billing.Attempt, error) {
	var rows []attemptRow
	q := where(tx.q.NewSelect().Model(&rows).Where("a.shop_id = ?", bound{tx.of}))
	if err := tx.dialect().forUpdate(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read attempts: %w", err)
	}
	return tx.noted(readRows[billing.Attempt](rows))
}

// PutAttempts inserts attempts whose ID is 0, giving them one, and writes the
// others if their versions are still what was read. It raises the versions in
// the slice.
func (tx *Tx) PutAttempts(ctx context.Context, attempts []billing.Attempt) error {
	var orders []termRow
	missing := 0
	for _, a := range attempts {
		if a.ID == 0 {
			missing++
		}
	}
	next, err := tx.db.ids.take(missing)
	if err != nil {
		return err
	}
	if err := tx.watch(ctx, attempts); err != nil {
		return err
	}
	for i := range attempts {
		if a := &attempts[i]; a.ID == 0 {
			a.Expected = tx.prices.added(*a)
		} else { // it may have been priced since the caller read it
			a.Expected = tx.queue.known[a.ID].expected
			tx.prices.moved(*a, tx.queue.known[a.ID].at, analytics.WaitOf(*a))
		}
	}
	given := next
	rows, err := rowsOf[attemptRow](tx.of, attempts...)
	if err != nil {
		return err
	}
	added, kept := make([]attemptRow, 0, missing), make([]attemptRow, 0, len(attempts)-missing)
	for i := range attempts {
		a := &attempts[i]
		if a.ID == 0 {
			rows[i].ID, rows[i].Version = given, 1
			given++
			added = append(added, rows[i])
		} else {
			kept = append(kept, rows[i])
		}
		if a.Status == billing.Success && a.OrderName != "" {
			orders = append(orders, termOf(tx.of, a.Contract, termOrder, a.OrderName))
		}
	}
	if _, err := insert(ctx, tx, added, ""); err != nil {
		if tx.db.engine.duplicate(err) {
			return fault.Because(fault.Conflict, err, "a billing attempt for this cycle exists already").Entity("subscriptionBillingAttempt").Code("cycleTaken")
		}
		return err
	}
	n, err := update(ctx, tx, kept, columnsBut[attemptRow](tx, "expected")...)
	if err != nil {
		return err
	}
	if int(n) != len(kept) {
		return changed("subscriptionBillingAttempt", "The billing attempt")
	}
	if err := tx.addTerms(ctx, orders); err != nil {
		return err
	}
	given = next
	for i := range attempts {
		if attempts[i].ID == 0 {
			attempts[i].ID = billing.AttemptID(given)
			given++
		}
		attempts[i].Version++
		tx.queue.move(attempts[i].ID, analytics.WaitOf(attempts[i]))
	}
	tx.queue.note(attempts)
	tx.published.attempts = append(tx.published.attempts, attempts...)
	return nil
}

// DeleteAttempts removes attempts.
func (tx *Tx) DeleteAttempts(ctx context.Context, ids []billing.AttemptID) error {
	if len(ids) == 0 {
		return nil
	}
	if err := tx.watchIDs(ctx, slices.DeleteFunc(slices.Clone(ids), func(id billing.AttemptID) bool { _, has := tx.queue.known[id]; return has })); err != nil {
		return err
	}
	_, err := tx.q.NewDelete().Model((*attemptRow)(nil)).Where("a.shop_id = ?", tx.of).Where("a.id IN (?)", bun.List(ids)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("remove %d attempts: %w", len(ids), err)
	}
	for _, id := range ids {
		if of := tx.queue.known[id].at; of.Contract != 0 && !tx.prices.known[contract.ID(of.Contract)].same {
			tx.prices.price(contract.ID(of.Contract))
		}
		tx.queue.move(id, analytics.Wait{})
	}
	return nil
}

// queueRow is how far a contract's attempts reach.
type queueRow struct {
	ID      int64
	Last    int64
	Waiting string // how many orders wait, and the dates of the first and the last of them
	Open    bool
	Failed  int64 // the highest cycle of those that failed
}

func (r queueRow) queue() (billing.Queue, error) {
	q := billing.Queue{LastCycle: int(r.Last), Open: r.Open, Unpaid: r.Failed > 0 && r.Failed == r.Last}
	var next, latest int64
	if _, err := fmt.Sscan(r.Waiting, &q.Waiting, &next, &latest); err != nil {
		return billing.Queue{}, fmt.Errorf("read the queue of contract %d: %w", r.ID, err)
	}
	q.Next, q.Latest = instant(next), instant(latest)
	return q, nil
}

// Queues says, without locking, how far each contract's queue reaches.
func (tx *Tx) Queues(ctx context.Context, contracts []contract.ID) (map[contract.ID]billing.Queue, error) {
	queues := make(map[contract.ID]billing.Queue, len(contracts))
	if len(contracts) == 0 {
		return queues, nil
	}
	// Each answer comes from one contract's part of an index: a database that does not
	// know yet how large the tables are would join the contracts with the queues of the
	// whole shop. A long past costs nothing. What is asked of the orders that wait is one
	// text, since a subselect has one column and each would read them again.
	of := func(alias string) *bun.SelectQuery {
		return tx.q.NewSelect().Model((*attemptRow)(nil)).ModelTableExpr("attempts AS ?", ident(alias)).
			Where("?.shop_id = c.shop_id", ident(alias)).Where("?.contract_id = c.id", ident(alias))
	}
	last := of("a").ColumnExpr("COALESCE(MAX(a.cycle), 0)")
	waiting := of("q").Where("q.status = ?", billing.Queued).
		ColumnExpr("COUNT(*) || ' ' || COALESCE(MIN(q.billing_date), 0) || ' ' || COALESCE(MAX(q.billing_date), 0)")
	// Only contracts with an end ask whether anything is still open or unpaid.
	inFlight := []billing.Status{billing.Requesting, billing.Progress, billing.Challenge, billing.PlatformException}
	open := of("o").ColumnExpr("1").Where("c.max_cycles > 0").
		Where("o.status IN (?) OR o.status = ? AND (o.due_at IS NOT NULL OR c.dunning <> '')", bun.List(inFlight), billing.Failure)
	failed := of("u").ColumnExpr("COALESCE(MAX(u.cycle), 0)").Where("c.max_cycles > 0").Where("u.status = ?", billing.Failure)
	var rows []queueRow
	err := tx.q.NewSelect().Model((*contractRow)(nil)).ColumnExpr("c.id").ColumnExpr("(?) AS last", last).
		ColumnExpr("(?) AS waiting", waiting).ColumnExpr("EXISTS (?) AS open", open).ColumnExpr("(?) AS failed", failed).
		Where("c.shop_id = ?", bound{tx.of}).Where("c.id IN (?)", boundList[contract.ID](contracts)).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read the queues of %d contracts: %w", len(contracts), err)
	}
	for _, r := range rows {
		if queues[contract.ID(r.ID)], err = r.queue(); err != nil {
			return nil, err
		}
	}
	return queues, nil
}

// triggerRow is a row of charge_requests.
type triggerRow struct {
	bun.BaseModel `bun:"table:charge_requests,alias:r"`

	ShopID      int64 `bun:"shop_id,pk"`
	ID          int64 `bun:"id,pk"`
	ContractID  int64
	RequestedAt int64
}

// CountTriggers counts the contract's immediate charges at or after an instant.
func (tx *Tx) CountTriggers(ctx context.Context, c contract.ID, since time.Time) (int, error) {
	n, err := tx.q.NewSelect().Model((*triggerRow)(nil)).Where("r.shop_id = ?", tx.of).Where("r.contract_id = ?", c).
		Where("r.requested_at >= ?", millis(since)).Count(ctx)
	if err != nil {
		return 0, fmt.Errorf("count the immediate charges of contract %d: %w", c, err)
	}
	return int(n), nil
}

// AddTrigger notes an immediate charge of the contract.
func (tx *Tx) AddTrigger(ctx context.Context, c contract.ID, at time.Time) error {
	id, err := tx.db.ids.take(1)
	if err != nil {
		return err
	}
	_, err = insert(ctx, tx, []triggerRow{{ShopID: int64(tx.of), ID: id, ContractID: int64(c), RequestedAt: millis(at)}}, "")
	return err
}

func ident(name string) bun.Ident { return bun.Ident(name) }
