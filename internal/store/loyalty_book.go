package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

var _ loyalty.Reader = (*DB)(nil)

// LoyaltyMember returns a member with the lots that are open, or NotFound.
func (db *DB) LoyaltyMember(ctx context.Context, of shop.ID, who loyalty.CustomerRef) (loyalty.Account, []loyalty.Lot, error) {
	var rows []memberRow
	q := db.in(of).NewSelect().Model(&rows).Where("m.shop_id = ?", of).Order("m.customer_id").Limit(1)
	if who.Customer != 0 {
		q = q.Where("m.customer_id = ?", who.Customer)
	} else {
		q = q.Where("m.email_folded = ?", clean(fold(who.Email)))
	}
	if err := q.Scan(ctx); err != nil {
		return loyalty.Account{}, nil, fmt.Errorf("read a member: %w", err)
	}
	if len(rows) == 0 {
		return loyalty.Account{}, nil, loyalty.NotEnrolled(who)
	}
	account, err := readRow[loyalty.Account](rows[0])
	if err != nil {
		return loyalty.Account{}, nil, err
	}
	lots, err := readLots(ctx, db.in(of).NewSelect().Where("l.shop_id = ?", of).Where("l.account_id = ?", account.ID).Where("(l.pending OR l.remaining > 0)"))
	return account, lots, err
}

// LoyaltyRewards returns a member's rewards in a standing (empty: all), newest
// first.
func (db *DB) LoyaltyRewards(ctx context.Context, of shop.ID, member loyalty.AccountID, standing loyalty.RewardStatus) ([]loyalty.Reward, error) {
	var rows []rewardRow
	q := db.in(of).NewSelect().Model(&rows).Where("w.shop_id = ?", of).Where("w.account_id = ?", member).Order("w.id DESC")
	if standing != "" {
		q = q.Where("w.state IN (?)", bun.List(loyalty.StatesOf(standing)))
	}
	if err := q.Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the rewards of a member: %w", err)
	}
	return readRows[loyalty.Reward](rows)
}

// pointFields are the fields by which a member's entries can be sorted.
var pointFields = map[string]field{"id": {"id", whole}, "createAt": {"recorded_at", whole}}

// LoyaltyEntries returns a page of a member's entries, newest first unless the
// page says otherwise, and how many there are.
func (db *DB) LoyaltyEntries(ctx context.Context, of shop.ID, member loyalty.AccountID, p page.Request) ([]loyalty.Entry, int, error) {
	var rows []pointRow
	q := db.in(of).NewSelect().Model(&rows).Where("n.shop_id = ?", of).Where("n.account_id = ?", member)
	if len(p.Sort) == 0 {
		p.Sort = []page.Sort{{Field: "id", Desc: true}}
	}
	total, err := fetch(ctx, q, pointFields, p, func() int { return len(rows) })
	if err != nil {
		return nil, 0, fmt.Errorf("read the ledger of a member: %w", err)
	}
	entries, err := readRows[loyalty.Entry](rows)
	return entries, total, err
}

// LoyaltyEntry returns an entry of a member's, or NotFound.
func (db *DB) LoyaltyEntry(ctx context.Context, of shop.ID, id loyalty.EntryID) (loyalty.Entry, error) {
	var row pointRow
	err := db.in(of).NewSelect().Model(&row).Where("n.shop_id = ?", of).Where("n.id = ?", id).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return loyalty.Entry{}, missing("the transaction")
	}
	if err != nil {
		return loyalty.Entry{}, fmt.Errorf("read transaction %d: %w", id, err)
	}
	return readRow[loyalty.Entry](row)
}

// LoyaltyCredit returns store credit that was given, or NotFound.
func (db *DB) LoyaltyCredit(ctx context.Context, of shop.ID, id loyalty.CreditID) (loyalty.Credit, error) {
	var r creditRow
	err := db.in(of).NewSelect().Model(&r).Where("k.shop_id = ?", of).Where("k.id = ?", id).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return loyalty.Credit{}, missing("the store credit")
	}
	if err != nil {
		return loyalty.Credit{}, fmt.Errorf("read store credit %d: %w", id, err)
	}
	return readRow[loyalty.Credit](r)
}

// memberFields are the fields by which top members can be sorted.
var memberFields = map[string]field{
	loyalty.FieldCustomer: {"customer_id", whole}, loyalty.FieldFirstName: {"first_name", text}, loyalty.FieldLastName: {"last_name", text},
	loyalty.FieldEarned: {"earned", whole}, loyalty.FieldActivities: {"activities", whole},
}

// TopMembers returns a page of the members who take part, by what they have
// earned unless the page says otherwise, and how many there are. The lower number
// of a customer comes first of equals.
func (db *DB) TopMembers(ctx context.Context, of shop.ID, p page.Request) ([]loyalty.Account, int, error) {
	var rows []memberRow
	q := db.in(of).NewSelect().Model(&rows).Where("m.shop_id = ?", of).
		Where("m.status IN (?)", bun.List([]loyalty.Status{loyalty.Active, loyalty.Inactive}))
	if len(p.Sort) == 0 {
		p.Sort = []page.Sort{{Field: loyalty.FieldEarned, Desc: true}}
	}
	p.Sort = append(append([]page.Sort{}, p.Sort...), page.Sort{Field: loyalty.FieldCustomer})
	total, err := fetch(ctx, q, memberFields, p, func() int { return len(rows) })
	if err != nil {
		return nil, 0, fmt.Errorf("read the top members: %w", err)
	}
	list, err := readRows[loyalty.Account](rows)
	return list, total, err
}
