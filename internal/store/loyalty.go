package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/idempotency"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

var _ loyalty.Tx = (*Tx)(nil)

// Loyalty returns the store of the loyalty feature.
func (db *DB) Loyalty() loyalty.Store {
	return readScope(db, func(tx *Tx) loyalty.Tx { return tx }, func(tx *Tx) loyalty.ReadTx { return tx })
}

// programRow is a row of loyalty_programs.
type programRow struct {
	bun.BaseModel `bun:"table:loyalty_programs,alias:p"`

	ShopID    int64 `bun:"shop_id,pk"`
	ID        int64 `bun:"id,pk"`
	Active    bool
	StartedAt int64
	Terms     string // JSON
	Version   int64
}

func (r *programRow) Columns(m *mapping, p *loyalty.Program) {
	m.shop(&r.ShopID)
	r.ID = 1 // a shop has one
	mapSame(m, &r.Active, &p.Active)
	mapTime(m, &r.StartedAt, &p.StartedAt)
	mapJSON(m, "terms", &r.Terms, &p.Terms)
	mapSame(m, &r.Version, &p.Version)
}

func readProgram(ctx context.Context, q bun.IDB, of shop.ID) (loyalty.Program, error) {
	var row programRow
	err := q.NewSelect().Model(&row).Where("p.shop_id = ?", of).Where("p.id = 1").Scan(ctx)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return loyalty.Program{}, nil
	case err != nil:
		return loyalty.Program{}, fmt.Errorf("read the loyalty programme: %w", err)
	}
	return readRow[loyalty.Program](row)
}

// Program returns the shop's programme without locking it.
func (tx *Tx) Program(ctx context.Context) (loyalty.Program, error) {
	return readProgram(ctx, tx.q, tx.of)
}

// LoyaltyProgram returns a shop's programme.
func (db *DB) LoyaltyProgram(ctx context.Context, of shop.ID) (loyalty.Program, error) {
	return readProgram(ctx, db.in(of), of)
}

// PutProgram writes the shop's programme if it is still what was read.
func (tx *Tx) PutProgram(ctx context.Context, p loyalty.Program) error {
	row, err := rowOf[programRow](tx.of, p)
	if err != nil {
		return err
	}
	row.Version = max(p.Version, 1)
	var n int64
	if p.Version == 0 {
		n, err = insert(ctx, tx, []programRow{row}, "ON CONFLICT DO NOTHING")
	} else {
		n, err = update(ctx, tx, []programRow{row})
	}
	if err == nil && n != 1 {
		return changed("loyaltyProgram", "The loyalty programme")
	}
	return err
}

// memberRow is a row of loyalty_accounts.
type memberRow struct {
	bun.BaseModel `bun:"table:loyalty_accounts,alias:m"`

	ShopID       int64 `bun:"shop_id,pk"`
	ID           int64 `bun:"id,pk"`
	CustomerID   int64
	Email        string
	EmailFolded  string
	FirstName    string
	LastName     string
	Status       string
	Born         string
	ReferralCode string
	EnrolledAt   int64
	ActiveAt     int64
	Available    int64
	Pending      int64
	Credited     int64
	Spent        int64
	Expired      int64
	Earned       int64
	Debt         int64
	Activities   int64
	Rewarded     string // JSON
	OrderSpent   int64
	Credit       int64
	Currency     string
	Seq          int64
	DueAt        int64 `bun:",nullzero"`
	CreatedAt    int64
	UpdatedAt    int64
	Version      int64

	RemindedFirst int64
	RemindedLast  int64
}

func (r *memberRow) Columns(m *mapping, a *loyalty.Account) {
	m.shop(&r.ShopID)
	mapInt(m, &r.ID, &a.ID)
	mapSame(m, &r.CustomerID, &a.Person.Customer)
	mapText(m, &r.Email, &a.Person.Email)
	if m.toRow {
		r.EmailFolded = fold(r.Email)
	}
	mapText(m, &r.FirstName, &a.Person.FirstName)
	mapText(m, &r.LastName, &a.Person.LastName)
	mapText(m, &r.Status, &a.Status)
	mapText(m, &r.Born, &a.Born)
	mapText(m, &r.ReferralCode, &a.ReferralCode)
	mapTime(m, &r.EnrolledAt, &a.EnrolledAt)
	mapTime(m, &r.ActiveAt, &a.ActiveAt)
	mapInt(m, &r.Available, &a.Sums.Available)
	mapInt(m, &r.Pending, &a.Sums.Pending)
	mapInt(m, &r.Credited, &a.Sums.Credited)
	mapInt(m, &r.Spent, &a.Sums.Spent)
	mapInt(m, &r.Expired, &a.Sums.Expired)
	mapInt(m, &r.Earned, &a.Sums.Earned)
	mapInt(m, &r.Debt, &a.Sums.Debt)
	mapSame(m, &r.Activities, &a.Sums.Activities)
	mapJSON(m, "rewarded", &r.Rewarded, &a.Sums.Rewarded)
	mapText(m, &r.Currency, &a.Spent.Currency)
	mapAmount(m, &r.OrderSpent, &a.Spent, a.Spent.Currency)
	mapAmount(m, &r.Credit, &a.Credit, a.Spent.Currency)
	mapSame(m, &r.Seq, &a.Seq)
	mapTime(m, &r.DueAt, &a.DueAt)
	mapTime(m, &r.RemindedFirst, &a.Reminded[0])
	mapTime(m, &r.RemindedLast, &a.Reminded[1])
	mapTime(m, &r.CreatedAt, &a.CreatedAt)
	mapTime(m, &r.UpdatedAt, &a.UpdatedAt)
	mapSame(m, &r.Version, &a.Version)
	m.within(r.ID)
}

// AccountsOf returns the members among customers, locked, in the order of their
// ids.
func (tx *Tx) AccountsOf(ctx context.Context, customers []int64) ([]loyalty.Account, error) {
	if len(customers) == 0 {
		return nil, nil
	}
	return tx.members(ctx, func(q *bun.SelectQuery) *bun.SelectQuery { return q.Where("m.customer_id IN (?)", bun.List(customers)) })
}

// Accounts returns members, locked, in the order of their ids.
func (tx *Tx) Accounts(ctx context.Context, ids []loyalty.AccountID) ([]loyalty.Account, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return tx.members(ctx, func(q *bun.SelectQuery) *bun.SelectQuery { return q.Where("m.id IN (?)", bun.List(ids)) })
}

func (tx *Tx) members(ctx context.Context, where func(*bun.SelectQuery) *bun.SelectQuery) ([]loyalty.Account, error) {
	var rows []memberRow
	q := where(tx.q.NewSelect().Model(&rows).Where("m.shop_id = ?", tx.of)).Order("m.id")
	if err := tx.dialect().forUpdate(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read members: %w", err)
	}
	return readRows[loyalty.Account](rows)
}

// DueAccounts returns at most limit members with something due, locked, skipping those
// that another transaction holds.
func (tx *Tx) DueAccounts(ctx context.Context, now time.Time, limit int) ([]loyalty.Account, error) {
	var rows []memberRow
	q := tx.q.NewSelect().Model(&rows).Where("m.shop_id = ?", tx.of).Where("m.due_at <= ?", millis(now)).Order("m.due_at", "m.id").Limit(int64(limit))
	if err := tx.dialect().skipLocked(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the members that are due: %w", err)
	}
	return readRows[loyalty.Account](rows)
}

// AddAccounts inserts members, save those who are members already.
func (tx *Tx) AddAccounts(ctx context.Context, accounts []loyalty.Account) error {
	next, err := tx.db.ids.take(len(accounts))
	if err != nil {
		return err
	}
	rows := make([]memberRow, len(accounts))
	for i, a := range accounts {
		a.ID, a.Version = loyalty.AccountID(next+int64(i)), 1
		if rows[i], err = rowOf[memberRow](tx.of, a); err != nil {
			return err
		}
	}
	_, err = insert(ctx, tx, rows, "ON CONFLICT (shop_id, customer_id) DO NOTHING")
	return err
}

// PutAccounts writes members that are still what was read.
func (tx *Tx) PutAccounts(ctx context.Context, accounts []loyalty.Account) error {
	rows := make([]memberRow, len(accounts))
	for i, a := range accounts {
		var err error
		if rows[i], err = rowOf[memberRow](tx.of, a); err != nil {
			return err
		}
	}
	n, err := update(ctx, tx, rows)
	if err == nil && int(n) != len(rows) {
		return changed("loyaltyCustomer", "The loyalty customer")
	}
	return err
}

// CustomerByEmail returns, without locking, a customer with the address, from the members
// or the contracts.
func (tx *Tx) CustomerByEmail(ctx context.Context, email string) (loyalty.Person, error) {
	return tx.customer(ctx, "email_folded = ?", clean(fold(email)))
}

// CustomerByID does the same by the platform's number.
func (tx *Tx) CustomerByID(ctx context.Context, id int64) (loyalty.Person, error) {
	return tx.customer(ctx, "customer_id = ?", id)
}

func (tx *Tx) customer(ctx context.Context, where string, value any) (loyalty.Person, error) {
	var p struct {
		CustomerID                 int64
		Email, FirstName, LastName string
	}
	member := tx.q.NewSelect().Table("loyalty_accounts").Column("customer_id", "email", "first_name", "last_name").
		Where("shop_id = ?", tx.of).Where(where, value).Order("customer_id").Limit(1)
	buyer := tx.q.NewSelect().Table("contracts").ColumnExpr("customer_id, customer_email AS email, customer_first_name AS first_name, customer_last_name AS last_name").
		Where("shop_id = ?", tx.of).Where(where, value).Where("customer_id <> 0").OrderExpr("created_at DESC, id").Limit(1)
	for _, q := range []*bun.SelectQuery{member, buyer} {
		err := q.Scan(ctx, &p)
		if err == nil {
			return loyalty.Person{Customer: p.CustomerID, Email: p.Email, FirstName: p.FirstName, LastName: p.LastName}, nil
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return loyalty.Person{}, fmt.Errorf("find a customer: %w", err)
		}
	}
	return loyalty.Person{}, nil
}

// Number returns a number that nothing else has.
func (tx *Tx) Number(context.Context) (int64, error) { return tx.db.ids.take(1) }

// AddCredit notes store credit that was given and gives it its ID.
func (tx *Tx) AddCredit(ctx context.Context, c *loyalty.Credit) error {
	id, err := tx.db.ids.take(1)
	if err != nil {
		return err
	}
	made := *c
	made.ID = loyalty.CreditID(id)
	rows, err := rowsOf[creditRow](tx.of, made)
	if err != nil {
		return err
	}
	_, err = insert(ctx, tx, rows, "")
	if err != nil && tx.db.engine.duplicate(err) {
		return fault.Because(fault.Conflict, err, "the store credit was given already").Entity("loyaltyCustomer").Code("changedMeanwhile")
	}
	if err == nil {
		*c = made
	}
	return err
}

// creditRow is a row of loyalty_credits.
type creditRow struct {
	bun.BaseModel `bun:"table:loyalty_credits,alias:k"`

	ShopID     int64 `bun:"shop_id,pk"`
	ID         int64 `bun:"id,pk"`
	AccountID  int64
	SourceType string
	SourceID   string
	Amount     int64
	Currency   string
	Note       string
	Actor      string
	RecordedAt int64
}

func (r *creditRow) Columns(m *mapping, c *loyalty.Credit) {
	m.shop(&r.ShopID)
	mapInt(m, &r.ID, &c.ID)
	mapInt(m, &r.AccountID, &c.Account)
	mapText(m, &r.SourceType, &c.Source.Type)
	mapText(m, &r.SourceID, &c.Source.ID)
	mapText(m, &r.Currency, &c.Amount.Currency)
	mapAmount(m, &r.Amount, &c.Amount, c.Amount.Currency)
	mapText(m, &r.Note, &c.Note)
	mapText(m, &r.Actor, &c.Actor)
	mapTime(m, &r.RecordedAt, &c.At)
}

// memberRequestRow is a row of loyalty_requests.
type memberRequestRow struct {
	bun.BaseModel `bun:"table:loyalty_requests,alias:q"`

	ShopID      int64  `bun:"shop_id,pk"`
	Request     string `bun:"request,pk"`
	RequestedAt int64
	ExpiresAt   int64
}

// againAfter lets a request take the place of one that counts no more, in the
// statement that notes it: of two at once the second waits for the end of the first.
const againAfter = `ON CONFLICT (shop_id, request) DO UPDATE SET requested_at = EXCLUDED.requested_at, expires_at = EXCLUDED.expires_at
	WHERE loyalty_requests.expires_at <= EXCLUDED.requested_at`

// ClaimRequest notes that a request is carried out, for as long as answers are kept, and
// reports whether one of this name was before.
func (tx *Tx) ClaimRequest(ctx context.Context, request string, now time.Time) (bool, error) {
	row := memberRequestRow{ShopID: int64(tx.of), Request: request, RequestedAt: millis(now), ExpiresAt: millis(now.Add(idempotency.AnswerTTL))}
	n, err := insert(ctx, tx, []memberRequestRow{row}, againAfter)
	if err != nil || n == 0 {
		return err == nil, err
	}
	return false, tx.forgetExpired(ctx, (*memberRequestRow)(nil), "request", now)
}
