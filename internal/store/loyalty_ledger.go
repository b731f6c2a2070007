package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
)

// pointRow is a row of loyalty_entries.
type pointRow struct {
	bun.BaseModel `bun:"table:loyalty_entries,alias:n"`

	ShopID        int64 `bun:"shop_id,pk"`
	ID            int64 `bun:"id,pk"`
	AccountID     int64
	Seq           int64
	Kind          string
	Pending       int64
	Available     int64
	Lot           int64
	FullyReversed bool
	Absorbed      int64
	SourceType    string
	SourceID      string
	RuleID        int64
	RewardID      int64
	AvailableAt   int64
	ExpiresAt     int64
	Description   string
	Note          string
	Actor         string
	OccurredAt    int64
	RecordedAt    int64
}

func (r *pointRow) Columns(m *mapping, e *loyalty.Entry) {
	m.shop(&r.ShopID)
	mapInt(m, &r.ID, &e.ID)
	mapInt(m, &r.AccountID, &e.Account)
	mapSame(m, &r.Seq, &e.Seq)
	mapText(m, &r.Kind, &e.Kind)
	mapInt(m, &r.Pending, &e.Pending)
	mapInt(m, &r.Available, &e.Available)
	mapSame(m, &r.Lot, &e.Lot)
	mapSame(m, &r.FullyReversed, &e.Full)
	mapInt(m, &r.Absorbed, &e.Absorbed)
	mapText(m, &r.SourceType, &e.Source.Type)
	mapText(m, &r.SourceID, &e.Source.ID)
	mapInt(m, &r.RuleID, &e.Rule)
	mapInt(m, &r.RewardID, &e.Reward)
	mapTime(m, &r.AvailableAt, &e.AvailableAt)
	mapTime(m, &r.ExpiresAt, &e.ExpiresAt)
	mapText(m, &r.Description, &e.Description)
	mapText(m, &r.Note, &e.Note)
	mapText(m, &r.Actor, &e.Actor)
	mapTime(m, &r.OccurredAt, &e.OccurredAt)
	mapTime(m, &r.RecordedAt, &e.RecordedAt)
}

// useRow is a row of loyalty_uses.
type useRow struct {
	bun.BaseModel `bun:"table:loyalty_uses,alias:u"`

	ShopID    int64 `bun:"shop_id,pk"`
	ID        int64 `bun:"id,pk"`
	AccountID int64
	Entry     int64
	Lot       int64
	Role      string
	Points    int64
}

func (r *useRow) Columns(m *mapping, u *loyalty.Use) {
	m.shop(&r.ShopID)
	mapInt(m, &r.AccountID, &u.Account)
	mapSame(m, &r.Entry, &u.Entry)
	mapSame(m, &r.Lot, &u.Lot)
	mapText(m, &r.Role, &u.Role)
	mapInt(m, &r.Points, &u.Points)
}

// lotRow is a row of loyalty_lots.
type lotRow struct {
	bun.BaseModel `bun:"table:loyalty_lots,alias:l"`

	ShopID        int64 `bun:"shop_id,pk"`
	AccountID     int64 `bun:"account_id,pk"`
	Seq           int64 `bun:"seq,pk"`
	SourceType    string
	SourceID      string
	RuleID        int64
	Points        int64
	Pending       bool
	AvailableFrom int64
	ExpiresAt     int64
	Remaining     int64
	Expired       int64
	Reversed      int64
	Absorbed      int64
}

func (r *lotRow) Columns(m *mapping, l *loyalty.Lot) {
	m.shop(&r.ShopID)
	mapInt(m, &r.AccountID, &l.Account)
	mapSame(m, &r.Seq, &l.Seq)
	mapText(m, &r.SourceType, &l.Source.Type)
	mapText(m, &r.SourceID, &l.Source.ID)
	mapInt(m, &r.RuleID, &l.Rule)
	mapInt(m, &r.Points, &l.Points)
	mapSame(m, &r.Pending, &l.Pending)
	mapTime(m, &r.AvailableFrom, &l.AvailableFrom)
	mapTime(m, &r.ExpiresAt, &l.ExpiresAt)
	mapInt(m, &r.Remaining, &l.Remaining)
	mapInt(m, &r.Expired, &l.Expired)
	mapInt(m, &r.Reversed, &l.Reversed)
	mapInt(m, &r.Absorbed, &l.Absorbed)
}

// replaceLot lets a lot that is known take over what changed of it.
const replaceLot = `ON CONFLICT (shop_id, account_id, seq) DO UPDATE SET pending = EXCLUDED.pending, available_from = EXCLUDED.available_from,
	expires_at = EXCLUDED.expires_at, remaining = EXCLUDED.remaining, expired = EXCLUDED.expired, reversed = EXCLUDED.reversed, absorbed = EXCLUDED.absorbed`

// Post adds entries, to which it gives their IDs, and uses, and writes lots.
func (tx *Tx) Post(ctx context.Context, entries []loyalty.Entry, uses []loyalty.Use, lots []loyalty.Lot) error {
	next, err := tx.db.ids.take(len(entries) + len(uses))
	if err != nil {
		return err
	}
	for i := range entries {
		entries[i].ID = loyalty.EntryID(next)
		next++
	}
	points, err := rowsOf[pointRow](tx.of, entries...)
	if err != nil {
		return err
	}
	if _, err := insert(ctx, tx, points, ""); err != nil {
		if tx.db.engine.duplicate(err) {
			return fault.Because(fault.Conflict, err, "the points were moved already").Entity("loyaltyCustomer").Code("changedMeanwhile")
		}
		return err
	}
	used, err := rowsOf[useRow](tx.of, uses...)
	if err != nil {
		return err
	}
	for i := range used {
		used[i].ID = next
		next++
	}
	if _, err := insert(ctx, tx, used, ""); err != nil {
		return err
	}
	kept, err := rowsOf[lotRow](tx.of, lots...)
	if err != nil {
		return err
	}
	_, err = insert(ctx, tx, kept, replaceLot)
	return err
}

// Posted returns the entries that sources have led to.
func (tx *Tx) Posted(ctx context.Context, sources []loyalty.Source) ([]loyalty.Entry, error) {
	byType := make(map[loyalty.SourceType][]string)
	for _, s := range sources {
		byType[s.Type] = append(byType[s.Type], clean(s.ID))
	}
	var entries []loyalty.Entry
	for _, of := range sortedKeys(byType) {
		var rows []pointRow
		err := tx.q.NewSelect().Model(&rows).Where("n.shop_id = ?", tx.of).Where("n.source_type = ?", of).Where("n.source_id IN (?)", bun.List(byType[of])).
			Order("n.id").Scan(ctx)
		if err != nil {
			return nil, fmt.Errorf("read what was posted: %w", err)
		}
		of, err := readRows[loyalty.Entry](rows)
		if err != nil {
			return nil, err
		}
		entries = append(entries, of...)
	}
	return entries, nil
}

// OpenLots returns the lots of members that are pending or have a rest. The
// members' locks guard them.
func (tx *Tx) OpenLots(ctx context.Context, accounts []loyalty.AccountID) ([]loyalty.Lot, error) {
	if len(accounts) == 0 {
		return nil, nil
	}
	return readLots(ctx, tx.q.NewSelect().Where("l.shop_id = ?", tx.of).Where("l.account_id IN (?)", bun.List(accounts)).Where("(l.pending OR l.remaining > 0)"))
}

// Lots returns lots of one member by the entries that made them.
func (tx *Tx) Lots(ctx context.Context, of loyalty.AccountID, seqs []int64) ([]loyalty.Lot, error) {
	if len(seqs) == 0 {
		return nil, nil
	}
	return readLots(ctx, tx.q.NewSelect().Where("l.shop_id = ?", tx.of).Where("l.account_id = ?", of).Where("l.seq IN (?)", bun.List(seqs)))
}

func readLots(ctx context.Context, q *bun.SelectQuery) ([]loyalty.Lot, error) {
	var rows []lotRow
	if err := q.Model(&rows).Order("l.account_id", "l.seq").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read lots of points: %w", err)
	}
	return readRows[loyalty.Lot](rows)
}

// EntriesBetween returns what was posted to a member from an instant on and before another one, in
// order.
func (tx *Tx) EntriesBetween(ctx context.Context, of loyalty.AccountID, from, to time.Time) ([]loyalty.Entry, error) {
	var rows []pointRow
	err := tx.q.NewSelect().Model(&rows).Where("n.shop_id = ?", tx.of).Where("n.account_id = ?", of).Where("n.recorded_at >= ?", millis(from)).
		Where("n.recorded_at < ?", millis(to)).Order("n.seq").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what was posted to member %d: %w", of, err)
	}
	return readRows[loyalty.Entry](rows)
}

// UsesOf returns the uses of one entry.
func (tx *Tx) UsesOf(ctx context.Context, of loyalty.AccountID, seq int64) ([]loyalty.Use, error) {
	return readUses(ctx, tx.q.NewSelect().Where("u.shop_id = ?", tx.of).Where("u.account_id = ?", of).Where("u.entry = ?", seq))
}

func readUses(ctx context.Context, q *bun.SelectQuery) ([]loyalty.Use, error) {
	var rows []useRow
	if err := q.Model(&rows).Order("u.entry", "u.id").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read uses of points: %w", err)
	}
	return readRows[loyalty.Use](rows)
}

// Ledger returns everything that was posted to a member, in order, and all lots.
func (tx *Tx) Ledger(ctx context.Context, of loyalty.AccountID) ([]loyalty.Entry, []loyalty.Use, []loyalty.Lot, error) {
	var rows []pointRow
	if err := tx.q.NewSelect().Model(&rows).Where("n.shop_id = ?", tx.of).Where("n.account_id = ?", of).Order("n.seq").Scan(ctx); err != nil {
		return nil, nil, nil, fmt.Errorf("read the ledger of member %d: %w", of, err)
	}
	entries, err := readRows[loyalty.Entry](rows)
	if err != nil {
		return nil, nil, nil, err
	}
	uses, err := readUses(ctx, tx.q.NewSelect().Where("u.shop_id = ?", tx.of).Where("u.account_id = ?", of))
	if err != nil {
		return nil, nil, nil, err
	}
	lots, err := readLots(ctx, tx.q.NewSelect().Where("l.shop_id = ?", tx.of).Where("l.account_id = ?", of))
	return entries, uses, lots, err
}
