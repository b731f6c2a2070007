package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/repair"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// findingRow is a row of findings.
type findingRow struct {
	bun.BaseModel `bun:"table:findings,alias:f"`

	ShopID      int64 `bun:"shop_id,pk"`
	ID          int64 `bun:"id,pk"`
	Kind        string
	ContractID  int64
	Cycle       int64
	Object      string
	What        string
	FirstSeenAt int64
	LastSeenAt  int64
	ResolvedAt  int64
	Version     int64
}

func (r *findingRow) Columns(m *mapping, f *repair.Finding) {
	m.shop(&r.ShopID)
	mapInt(m, &r.ID, &f.ID)
	mapText(m, &r.Kind, &f.Kind)
	mapInt(m, &r.ContractID, &f.Contract)
	mapInt(m, &r.Cycle, &f.Cycle)
	mapText(m, &r.Object, &f.Object)
	mapText(m, &r.What, &f.What)
	mapTime(m, &r.FirstSeenAt, &f.FirstSeen)
	mapTime(m, &r.LastSeenAt, &f.LastSeen)
	mapTime(m, &r.ResolvedAt, &f.ResolvedAt)
	mapSame(m, &r.Version, &f.Version)
	m.within(r.ID)
}

// OpenFindings returns at most limit findings that are not resolved, locked, oldest
// first.
func (tx *Tx) OpenFindings(ctx context.Context, limit int) ([]repair.Finding, error) {
	var rows []findingRow
	q := tx.q.NewSelect().Model(&rows).Where("f.shop_id = ?", tx.of).Where("f.resolved_at = 0").Order("f.id").Limit(int64(limit))
	if err := tx.dialect().forUpdate(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the findings: %w", err)
	}
	return readRows[repair.Finding](rows)
}

// FindingsLike returns the findings that say the same of the same contracts,
// resolved or not, locked.
func (tx *Tx) FindingsLike(ctx context.Context, like []repair.Finding) ([]repair.Finding, error) {
	var list []repair.Finding
	for chunk := range slices.Chunk(like, 100) {
		var rows []findingRow
		q := tx.q.NewSelect().Model(&rows).Where("f.shop_id = ?", tx.of).WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
			for _, f := range chunk {
				q = q.WhereOr("(f.kind = ? AND f.contract_id = ? AND f.cycle = ? AND f.object = ?)", f.Kind, f.Contract, f.Cycle, clean(f.Object))
			}
			return q
		}).Order("f.id")
		if err := tx.dialect().forUpdate(q).Scan(ctx); err != nil {
			return nil, fmt.Errorf("read findings: %w", err)
		}
		found, err := readRows[repair.Finding](rows)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, nil
}

// PutFindings inserts findings whose ID is 0, giving them one, and writes the
// others if their versions are still what was read.
func (tx *Tx) PutFindings(ctx context.Context, list []repair.Finding) error {
	return putAll[findingRow](ctx, tx, list,
		func(f *repair.Finding) (*repair.FindingID, *int64) { return &f.ID, &f.Version },
		"finding", "The finding")
}

// PaidSince returns at most limit attempts that are SUCCESS and were written at or
// after an instant, by that instant and ID, after the one that a page ended with.
func (tx *Tx) PaidSince(ctx context.Context, since time.Time, after billing.Attempt, limit int) ([]billing.Attempt, error) {
	return tx.writtenSince(ctx, "a.status = 'SUCCESS'", since, after, limit)
}

// LeftOpenSince returns, as PaidSince does, attempts whose last failure says that
// the platform held a charge of their cycle open.
func (tx *Tx) LeftOpenSince(ctx context.Context, since time.Time, after billing.Attempt, limit int) ([]billing.Attempt, error) {
	return tx.writtenSince(ctx, "a.error_code IN ('CHALLENGE_EXPIRED', 'EARLIER_CHARGE_OPEN')", since, after, limit)
}

// writtenSince reads a page of attempts of a kind, which is written as in the index
// of its own.
func (tx *Tx) writtenSince(ctx context.Context, kind string, since time.Time, after billing.Attempt, limit int) ([]billing.Attempt, error) {
	var rows []attemptRow
	q := tx.q.NewSelect().Model(&rows).Where("a.shop_id = ?", tx.of).Where(kind)
	if after.ID == 0 {
		q = q.Where("a.updated_at >= ?", millis(since))
	} else {
		q = q.Where("(a.updated_at, a.id) > (?, ?)", millis(after.UpdatedAt), after.ID)
	}
	if err := q.Order("a.updated_at", "a.id").Limit(int64(limit)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the attempts that were written since %s: %w", since, err)
	}
	return readRows[billing.Attempt](rows)
}

// OpenSince returns at most limit attempts in any of the statuses that were sent
// before an instant, longest first.
func (tx *Tx) OpenSince(ctx context.Context, before time.Time, limit int, in ...billing.Status) ([]billing.Attempt, error) {
	var rows []attemptRow
	err := tx.q.NewSelect().Model(&rows).Where("a.shop_id = ?", tx.of).Where("a.status IN (?)", bun.List(in)).Where("a.status <> ?", billing.Queued).
		Where("a.sent_at > 0").Where("a.sent_at < ?", millis(before)).Order("a.sent_at", "a.id").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the charges without an end: %w", err)
	}
	return readRows[billing.Attempt](rows)
}

// Unscheduled returns at most limit ACTIVE contracts whose next billing date is before
// an instant, or which have none, while no attempt of theirs is in flight. Those
// that are paid for life, or whose cancellation waits, need have none.
func (tx *Tx) Unscheduled(ctx context.Context, before time.Time, limit int) ([]contract.ID, error) {
	var ids []contract.ID
	flying := tx.q.NewSelect().Model((*attemptRow)(nil)).ColumnExpr("1").Where("a.shop_id = c.shop_id").Where("a.contract_id = c.id").
		Where("a.status IN (?)", bun.List(inFlight))
	for _, q := range []*bun.SelectQuery{
		tx.q.NewSelect().Model((*contractRow)(nil)).Column("c.id").Where("c.next_billing_date = 0").
			Where("NOT c.lifelong").Where("c.ending = ''"),
		tx.q.NewSelect().Model((*contractRow)(nil)).Column("c.id").Where("c.next_billing_date > 0").Where("c.next_billing_date < ?", millis(before)),
	} {
		var part []contract.ID
		err := q.Where("c.shop_id = ?", tx.of).Where("c.status = ?", contract.Active).Where("(c.max_cycles = 0 OR c.orders < c.max_cycles)").Where("NOT EXISTS (?)", flying).
			Order("c.id").Limit(int64(limit)).Scan(ctx, &part)
		if err != nil {
			return nil, fmt.Errorf("find the contracts that nothing waits for: %w", err)
		}
		ids = append(ids, part...)
	}
	return ids, nil
}

// DiscardedEvents returns at most limit events of the platform's that could not be
// worked, newest first.
func (tx *Tx) DiscardedEvents(ctx context.Context, limit int) ([]repair.DiscardedWork, error) {
	var rows []eventRow
	err := tx.q.NewSelect().Model(&rows).Where("i.shop_id = ?", tx.of).Where("i.due_at IS NULL").Where("i.finished_at IS NULL").
		Order("i.triggered_at DESC", "i.id").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the events that were given up: %w", err)
	}
	list := make([]repair.DiscardedWork, len(rows))
	for i, r := range rows {
		list[i] = repair.DiscardedWork{ID: r.ID, Kind: r.Topic, Reason: r.Reason, At: instant(r.TriggeredAt)}
	}
	return list, nil
}

// discardedRow is a job that was given up.
type discardedRow struct {
	ID     int64
	Kind   string
	Args   string
	Errors string
}

// DiscardedTasks returns at most limit tasks of the shop that failed too often,
// newest first.
func (tx *Tx) DiscardedTasks(ctx context.Context, limit int) ([]repair.DiscardedWork, error) {
	text := tx.dialect().jsonText
	var rows []discardedRow
	err := tx.q.NewSelect().Table("river_job").ColumnExpr("id, kind").ColumnExpr(fmt.Sprintf(text, "args")+" AS args").
		ColumnExpr("COALESCE("+fmt.Sprintf(text, "errors")+", '[]') AS errors").Where("state = 'discarded'").Order("id DESC").Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read the tasks that were given up: %w", err)
	}
	list := make([]repair.DiscardedWork, 0, len(rows))
	for _, r := range rows {
		var args struct {
			Shop shop.ID `json:"shop"`
		}
		var failures []struct {
			Error string    `json:"error"`
			At    time.Time `json:"at"`
		}
		if err := errors.Join(json.Unmarshal([]byte(r.Args), &args), json.Unmarshal([]byte(r.Errors), &failures)); err != nil {
			return nil, fmt.Errorf("read task %d: %w", r.ID, err)
		}
		if args.Shop != tx.of || len(list) == limit {
			continue
		}
		w := repair.DiscardedWork{ID: strconv.FormatInt(r.ID, 10), Kind: r.Kind}
		if n := len(failures); n > 0 {
			w.Reason, w.At = failures[n-1].Error, failures[n-1].At
		}
		list = append(list, w)
	}
	return list, nil
}
