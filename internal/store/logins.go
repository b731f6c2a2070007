package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

var _ login.Tx = (*Tx)(nil)

// Login returns the store of the portal's logins.
func (db *DB) Login() login.Store {
	return loginStore{Scope[login.Tx]{db, func(tx *Tx) login.Tx { return tx }}, db.Shops()}
}

type loginStore struct {
	Scope[login.Tx]
	Shops
}

// rememberLinks is how long an expired link is distinguished from an unknown one.
const rememberLinks = 7 * 24 * time.Hour

// linkRow is a row of portal_links.
type linkRow struct {
	bun.BaseModel `bun:"table:portal_links,alias:l"`

	ShopID     int64  `bun:"shop_id,pk"`
	Hash       string `bun:"hash,pk"` // hexadecimal
	CustomerID int64
	ContractID int64
	OpenedBy   string
	CreatedAt  int64
	ExpiresAt  int64
	UsedAt     int64
}

func (r *linkRow) Columns(m *mapping, l *login.Link) {
	m.shop(&r.ShopID)
	mapHash(m, "hash", &r.Hash, &l.Hash)
	mapSame(m, &r.CustomerID, &l.Customer)
	mapInt(m, &r.ContractID, &l.Contract)
	mapText(m, &r.OpenedBy, &l.OpenedBy)
	mapTime(m, &r.CreatedAt, &l.CreatedAt)
	mapTime(m, &r.ExpiresAt, &l.ExpiresAt)
	mapTime(m, &r.UsedAt, &l.UsedAt)
}

// sessionRow is a row of portal_sessions.
type sessionRow struct {
	bun.BaseModel `bun:"table:portal_sessions,alias:n"`

	ShopID     int64  `bun:"shop_id,pk"`
	Hash       string `bun:"hash,pk"` // hexadecimal
	CustomerID int64
	Via        string
	OpenedBy   string
	IDToken    string `bun:"id_token"` // sealed
	CreatedAt  int64
	SeenAt     int64
	ExpiresAt  int64
}

func (r *sessionRow) Columns(m *mapping, s *login.Session) {
	m.shop(&r.ShopID)
	mapHash(m, "hash", &r.Hash, &s.Hash)
	mapSame(m, &r.CustomerID, &s.Customer)
	mapText(m, &r.Via, &s.Via)
	mapText(m, &r.OpenedBy, &s.OpenedBy)
	mapSealed(m, "id_token", r.ShopID, &r.IDToken, &s.IDToken)
	mapTime(m, &r.CreatedAt, &s.CreatedAt)
	mapTime(m, &r.SeenAt, &s.SeenAt)
	mapTime(m, &r.ExpiresAt, &s.ExpiresAt)
}

// throttleRow is a row of portal_throttles.
type throttleRow struct {
	bun.BaseModel `bun:"table:portal_throttles,alias:t"`

	ShopID    int64  `bun:"shop_id,pk"`
	Subject   string `bun:"subject,pk"`
	Times     string // milliseconds with spaces between
	ExpiresAt int64
}

// missing is the failure that a row is not there.
func missing(what string) error { return fault.New(fault.NotFound, "%s is not known", what) }

// SubscriberByEmail returns the customer whose newest contract of a line (empty:
// any) has the address, in any letter case, or NotFound.
func (tx *Tx) SubscriberByEmail(ctx context.Context, line shop.Line, email string) (login.Subscriber, error) {
	return tx.subscriber(ctx, line, func(q *bun.SelectQuery) *bun.SelectQuery { return q.Where("c.email_folded = ?", fold(clean(email))) })
}

// SubscriberByID returns the customer with the number, or NotFound.
func (tx *Tx) SubscriberByID(ctx context.Context, line shop.Line, customer int64) (login.Subscriber, error) {
	return tx.subscriber(ctx, line, func(q *bun.SelectQuery) *bun.SelectQuery { return q.Where("c.customer_id = ?", customer) })
}

func (tx *Tx) subscriber(ctx context.Context, line shop.Line, where func(*bun.SelectQuery) *bun.SelectQuery) (login.Subscriber, error) {
	var row contractRow
	q := tx.q.NewSelect().Model(&row).Where("c.shop_id = ?", tx.of).Where("c.customer_id <> 0").OrderExpr("c.created_at DESC, c.id DESC").Limit(1)
	if line != "" {
		q = q.Where("c.line = ?", line)
	}
	err := where(q).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return login.Subscriber{}, missing("the subscriber")
	}
	if err != nil {
		return login.Subscriber{}, fmt.Errorf("find a subscriber: %w", err)
	}
	c, err := readRow[contract.Contract](row)
	return login.Subscriber{Customer: c.Customer, Contract: c.ID}, err
}

// AddLink keeps a link and forgets some that expired before it was made.
func (tx *Tx) AddLink(ctx context.Context, l login.Link) error {
	rows, err := rowsOf[linkRow](tx.of, l)
	if err != nil {
		return err
	}
	if _, err := insert(ctx, tx, rows, ""); err != nil {
		return err
	}
	return tx.forgetExpired(ctx, (*linkRow)(nil), "hash", l.CreatedAt.Add(-rememberLinks))
}

func oneLink(ctx context.Context, q *bun.SelectQuery, row *linkRow) (login.Link, error) {
	err := q.Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return login.Link{}, missing("the link")
	}
	if err != nil {
		return login.Link{}, fmt.Errorf("read a link: %w", err)
	}
	return readRow[login.Link](*row)
}

// Link returns the link with the hash, locked, or NotFound.
func (tx *Tx) Link(ctx context.Context, h login.Hash) (login.Link, error) {
	var row linkRow
	q := tx.q.NewSelect().Model(&row).Where("l.shop_id = ?", tx.of).Where("l.hash = ?", hashText(h))
	return oneLink(ctx, tx.dialect().forUpdate(q), &row)
}

// LinkByHash returns a link without a transaction, or NotFound.
func (s loginStore) LinkByHash(ctx context.Context, of shop.ID, h login.Hash) (login.Link, error) {
	var row linkRow
	return oneLink(ctx, s.Shops.db.in(of).NewSelect().Model(&row).Where("l.shop_id = ?", of).Where("l.hash = ?", hashText(h)), &row)
}

// UseLink notes that a link was used.
func (tx *Tx) UseLink(ctx context.Context, h login.Hash, at time.Time) error {
	_, err := tx.q.NewUpdate().Model((*linkRow)(nil)).Set("used_at = ?", millis(at)).Where("l.shop_id = ?", tx.of).Where("l.hash = ?", hashText(h)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("use a link: %w", err)
	}
	return nil
}

// AddSession keeps a session and forgets some that expired before it began.
func (tx *Tx) AddSession(ctx context.Context, s login.Session) error {
	row, err := sealedRowOf[sessionRow](tx.db.seal, tx.of, s)
	if err != nil {
		return err
	}
	if _, err := insert(ctx, tx, []sessionRow{row}, ""); err != nil {
		return err
	}
	return tx.forgetExpired(ctx, (*sessionRow)(nil), "hash", s.CreatedAt)
}

// SessionByHash returns a session with its customer's language, or NotFound.
func (s loginStore) SessionByHash(ctx context.Context, of shop.ID, h login.Hash) (login.Session, error) {
	var row struct {
		sessionRow

		Language string
	}
	err := s.Shops.db.in(of).NewSelect().Model((*sessionRow)(nil)).ColumnExpr("n.*").ColumnExpr("COALESCE(p.language, '') AS language").
		Join("LEFT JOIN portal_preferences AS p ON p.shop_id = n.shop_id AND p.customer_id = n.customer_id").
		Where("n.shop_id = ?", of).Where("n.hash = ?", hashText(h)).Scan(ctx, &row)
	if errors.Is(err, sql.ErrNoRows) {
		return login.Session{}, missing("the session")
	}
	if err != nil {
		return login.Session{}, fmt.Errorf("read a session: %w", err)
	}
	found, err := readSealedRow[login.Session](s.Shops.db.seal, row.sessionRow)
	found.Language = row.Language
	return found, err
}

// TouchSession notes that a session was used, forwards only.
func (tx *Tx) TouchSession(ctx context.Context, h login.Hash, at time.Time) error {
	_, err := tx.q.NewUpdate().Model((*sessionRow)(nil)).Set("seen_at = ?", millis(at)).
		Where("n.shop_id = ?", tx.of).Where("n.hash = ?", hashText(h)).Where("n.seen_at < ?", millis(at)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("note the use of a session: %w", err)
	}
	return nil
}

// EndSession forgets a session. One that is not there is none.
func (tx *Tx) EndSession(ctx context.Context, h login.Hash) error {
	_, err := tx.q.NewDelete().Model((*sessionRow)(nil)).Where("n.shop_id = ?", tx.of).Where("n.hash = ?", hashText(h)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("end a session: %w", err)
	}
	return nil
}

// Throttle returns what is counted for a subject, locked. Where nothing is
// counted yet an empty row is what others wait for.
func (tx *Tx) Throttle(ctx context.Context, subject string) (login.Throttle, error) {
	row := throttleRow{ShopID: int64(tx.of), Subject: subject}
	if _, err := insert(ctx, tx, []throttleRow{row}, "ON CONFLICT DO NOTHING"); err != nil {
		return login.Throttle{}, err
	}
	q := tx.q.NewSelect().Model(&row).Where("t.shop_id = ?", tx.of).Where("t.subject = ?", subject)
	if err := tx.dialect().forUpdate(q).Scan(ctx); err != nil {
		return login.Throttle{}, fmt.Errorf("read what is counted: %w", err)
	}
	times, err := parseTimes(row.Times)
	return login.Throttle{Subject: subject, Times: times}, err
}

// PutThrottle writes what is counted, and forgets some of what counts no more.
func (tx *Tx) PutThrottle(ctx context.Context, t login.Throttle, now time.Time) error {
	_, err := tx.q.NewUpdate().Model((*throttleRow)(nil)).Set("times = ?", timesText(t.Times)).Set("expires_at = ?", millis(t.ExpiresAt())).
		Where("t.shop_id = ?", tx.of).Where("t.subject = ?", t.Subject).Exec(ctx)
	if err != nil {
		return fmt.Errorf("count: %w", err)
	}
	return tx.forgetExpired(ctx, (*throttleRow)(nil), "subject", now)
}

// timesText writes instants as milliseconds with spaces between.
func timesText(times []time.Time) string {
	words := make([]string, len(times))
	for i, at := range times {
		words[i] = strconv.FormatInt(millis(at), 10)
	}
	return strings.Join(words, " ")
}

// parseTimes is the reverse of timesText.
func parseTimes(text string) (times []time.Time, err error) {
	for _, word := range strings.Fields(text) {
		ms, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read what is counted: %w", err)
		}
		times = append(times, instant(ms))
	}
	return times, nil
}

// forgetExpired removes some of the shop's rows of a model that have expired by
// an instant. It passes over rows that others hold: nothing here is worth waiting
// for.
func (tx *Tx) forgetExpired(ctx context.Context, model any, key string, now time.Time) error {
	return tx.forget(ctx, model, key, now, func(q bun.QueryBuilder) bun.QueryBuilder { return q.Where("?TableAlias.shop_id = ?", tx.of) })
}

// forgetShared is forgetExpired for a table that belongs to no shop.
func (tx *Tx) forgetShared(ctx context.Context, model any, key string, now time.Time) error {
	return tx.forget(ctx, model, key, now, func(q bun.QueryBuilder) bun.QueryBuilder { return q })
}

func (tx *Tx) forget(ctx context.Context, model any, key string, now time.Time, own func(bun.QueryBuilder) bun.QueryBuilder) error {
	expired := tx.q.NewSelect().Model(model).Column(key).ApplyQueryBuilder(own).Where("?TableAlias.expires_at <= ?", millis(now)).Order("expires_at").Limit(forgetMost)
	_, err := tx.q.NewDelete().Model(model).ApplyQueryBuilder(own).Where("?TableAlias.? IN (?)", ident(key), tx.dialect().skipLocked(expired)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("forget what expired: %w", err)
	}
	return nil
}

// ContractsOf returns at most limit contracts of a customer, newest first.
func (s loginStore) ContractsOf(ctx context.Context, of shop.ID, customer int64, limit int) ([]contract.Contract, error) {
	var rows []contractRow
	err := s.Shops.db.in(of).NewSelect().Model(&rows).Where("c.shop_id = ?", of).Where("c.customer_id = ?", customer).
		OrderExpr("c.created_at DESC, c.id DESC").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the contracts of a customer: %w", err)
	}
	return readRows[contract.Contract](rows)
}
