package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
)

// pointRow is a row of loyalty_entries.
type pointRow struct {
	bun.BaseModel `bun:"table:loyalty_entries,alias:n"`

	ShopID      int64 `bun:"shop_id,pk"`
	ID          int64 `bun:"id,pk"`
	AccountID   int64
	Seq         int64
	Kind        string
	Pending     int64
	Available   int64
	Lot         int64
	Whole       bool
	Absorbed    int64
	SourceType  string
	SourceID    string
	RuleID      int64
	RewardID    int64
	AvailableAt int64
	ExpiresAt   int64
	Description string
	Note        string
	Actor       string
	OccurredAt  int64
	RecordedAt  int64
}

func (r pointRow) entry() loyalty.Entry {
	return loyalty.Entry{
		ID: loyalty.EntryID(r.ID), Account: loyalty.AccountID(r.AccountID), Seq: r.Seq, Kind: loyalty.Kind(r.Kind), Pending: loyalty.Points(r.Pending),
		Available: loyalty.Points(r.Available), Lot: r.Lot, Full: r.Whole, Absorbed: loyalty.Points(r.Absorbed),
		Source: loyalty.Source{Type: loyalty.SourceType(r.SourceType), ID: r.SourceID}, Rule: loyalty.RuleID(r.RuleID), Reward: loyalty.RewardID(r.RewardID),
		AvailableAt: instant(r.AvailableAt), ExpiresAt: instant(r.ExpiresAt), Description: r.Description, Note: r.Note, Actor: r.Actor,
		OccurredAt: instant(r.OccurredAt), RecordedAt: instant(r.RecordedAt),
	}
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

func (r useRow) use() loyalty.Use {
	return loyalty.Use{Account: loyalty.AccountID(r.AccountID), Entry: r.Entry, Lot: r.Lot, Role: loyalty.Role(r.Role), Points: loyalty.Points(r.Points)}
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
	Waits         bool
	AvailableFrom int64
	ExpiresAt     int64
	Rest          int64
	Expired       int64
	Reversed      int64
	Absorbed      int64
}

func (r lotRow) lot() loyalty.Lot {
	return loyalty.Lot{
		Account: loyalty.AccountID(r.AccountID), Seq: r.Seq, Source: loyalty.Source{Type: loyalty.SourceType(r.SourceType), ID: r.SourceID}, Rule: loyalty.RuleID(r.RuleID),
		Points: loyalty.Points(r.Points), Pending: r.Waits, AvailableFrom: instant(r.AvailableFrom), ExpiresAt: instant(r.ExpiresAt), Remaining: loyalty.Points(r.Rest),
		Expired: loyalty.Points(r.Expired), Reversed: loyalty.Points(r.Reversed), Absorbed: loyalty.Points(r.Absorbed),
	}
}

// replaceLot lets a lot that is known take over what changed of it.
const replaceLot = `ON CONFLICT (shop_id, account_id, seq) DO UPDATE SET waits = EXCLUDED.waits, available_from = EXCLUDED.available_from,
	expires_at = EXCLUDED.expires_at, rest = EXCLUDED.rest, expired = EXCLUDED.expired, reversed = EXCLUDED.reversed, absorbed = EXCLUDED.absorbed`

// Post adds entries, to which it gives their IDs, and uses, and writes lots.
func (tx *Tx) Post(ctx context.Context, entries []loyalty.Entry, uses []loyalty.Use, lots []loyalty.Lot) error {
	next, err := tx.db.ids.take(len(entries) + len(uses))
	if err != nil {
		return err
	}
	points := make([]pointRow, len(entries))
	for i, e := range entries {
		entries[i].ID = loyalty.EntryID(next)
		points[i] = pointRow{
			ShopID: int64(tx.of), ID: next, AccountID: int64(e.Account), Seq: e.Seq, Kind: string(e.Kind), Pending: int64(e.Pending), Available: int64(e.Available),
			Lot: e.Lot, Whole: e.Full, Absorbed: int64(e.Absorbed), SourceType: string(e.Source.Type), SourceID: e.Source.ID, RuleID: int64(e.Rule), RewardID: int64(e.Reward),
			AvailableAt: millis(e.AvailableAt), ExpiresAt: millis(e.ExpiresAt), Description: e.Description, Note: e.Note, Actor: e.Actor,
			OccurredAt: millis(e.OccurredAt), RecordedAt: millis(e.RecordedAt),
		}
		next++
	}
	if _, err := insert(ctx, tx, points, ""); err != nil {
		if tx.db.engine.duplicate(err) {
			return fault.Because(fault.Conflict, err, "the points were moved already").Entity("loyaltyCustomer").Code("changedMeanwhile")
		}
		return err
	}
	used := make([]useRow, len(uses))
	for i, u := range uses {
		used[i] = useRow{ShopID: int64(tx.of), ID: next, AccountID: int64(u.Account), Entry: u.Entry, Lot: u.Lot, Role: string(u.Role), Points: int64(u.Points)}
		next++
	}
	if _, err := insert(ctx, tx, used, ""); err != nil {
		return err
	}
	kept := make([]lotRow, len(lots))
	for i, l := range lots {
		kept[i] = lotRow{
			ShopID: int64(tx.of), AccountID: int64(l.Account), Seq: l.Seq, SourceType: string(l.Source.Type), SourceID: l.Source.ID, RuleID: int64(l.Rule),
			Points: int64(l.Points), Waits: l.Pending, AvailableFrom: millis(l.AvailableFrom), ExpiresAt: millis(l.ExpiresAt), Rest: int64(l.Remaining),
			Expired: int64(l.Expired), Reversed: int64(l.Reversed), Absorbed: int64(l.Absorbed),
		}
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
		for _, r := range rows {
			entries = append(entries, r.entry())
		}
	}
	return entries, nil
}

// OpenLots returns the lots of members that are pending or have a rest. The
// members' locks guard them.
func (tx *Tx) OpenLots(ctx context.Context, accounts []loyalty.AccountID) ([]loyalty.Lot, error) {
	if len(accounts) == 0 {
		return nil, nil
	}
	return readLots(ctx, tx.q.NewSelect().Where("l.shop_id = ?", tx.of).Where("l.account_id IN (?)", bun.List(accounts)).Where("(l.waits OR l.rest > 0)"))
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
	lots := make([]loyalty.Lot, len(rows))
	for i, r := range rows {
		lots[i] = r.lot()
	}
	return lots, nil
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
	uses := make([]loyalty.Use, len(rows))
	for i, r := range rows {
		uses[i] = r.use()
	}
	return uses, nil
}

// Ledger returns everything that was posted to a member, in order, and all lots.
func (tx *Tx) Ledger(ctx context.Context, of loyalty.AccountID) ([]loyalty.Entry, []loyalty.Use, []loyalty.Lot, error) {
	var rows []pointRow
	if err := tx.q.NewSelect().Model(&rows).Where("n.shop_id = ?", tx.of).Where("n.account_id = ?", of).Order("n.seq").Scan(ctx); err != nil {
		return nil, nil, nil, fmt.Errorf("read the ledger of member %d: %w", of, err)
	}
	entries := make([]loyalty.Entry, len(rows))
	for i, r := range rows {
		entries[i] = r.entry()
	}
	uses, err := readUses(ctx, tx.q.NewSelect().Where("u.shop_id = ?", tx.of).Where("u.account_id = ?", of))
	if err != nil {
		return nil, nil, nil, err
	}
	lots, err := readLots(ctx, tx.q.NewSelect().Where("l.shop_id = ?", tx.of).Where("l.account_id = ?", of))
	return entries, uses, lots, err
}
