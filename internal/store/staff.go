package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/platform"
)

// Staff returns the store of the users of the dashboard.
func (db *DB) Staff() staff.Store { return staffStore{db.Shops()} }

type staffStore struct{ Shops }

// UpdateUsers runs fn in a transaction on users.
func (s staffStore) UpdateUsers(ctx context.Context, fn func(staff.UserTx) error) error {
	return s.db.updateShared(ctx, func(tx *Tx) error { return fn(userTx{tx}) })
}

// userTx is the part of a transaction that is about users.
type userTx struct{ *Tx }

// In binds what follows to a store.
func (u userTx) In(ctx context.Context, of shop.ID) (staff.ShopTx, error) {
	if bind := u.dialect().bind; bind != "" {
		var set string
		if err := u.q.NewRaw(bind, strconv.FormatInt(int64(of), 10)).Scan(ctx, &set); err != nil {
			return nil, fmt.Errorf("bind a transaction to shop %d: %w", of, err)
		}
	}
	part := *u.Tx
	part.of = of
	return &part, nil
}

// userRow is a row of users.
type userRow struct {
	bun.BaseModel `bun:"table:users,alias:u"`

	ID         int64 `bun:"id,pk"`
	Email      string
	Name       string
	Password   string
	TOTPSecret string `bun:"totp_secret"` // encrypted
	TOTPStep   int64  `bun:"totp_step"`
	Recovery   string // hashes in hexadecimal, with spaces between
	CreatedAt  int64
	Version    int64
}

func (db *DB) userRow(u staff.User) (userRow, error) {
	secret, err := db.seal.seal(0, platform.Token(u.Factor.Secret))
	codes := make([]string, len(u.Factor.Recovery))
	for i, h := range u.Factor.Recovery {
		codes[i] = hex.EncodeToString(h[:])
	}
	return userRow{
		ID: int64(u.ID), Email: clean(u.Email), Name: clean(u.Name), Password: string(u.Password), TOTPSecret: secret, TOTPStep: u.Factor.LastStep,
		Recovery: strings.Join(codes, " "), CreatedAt: millis(u.CreatedAt), Version: u.Version,
	}, err
}

func (db *DB) oneUser(ctx context.Context, q *bun.SelectQuery, row *userRow) (staff.User, error) {
	switch err := q.Scan(ctx); {
	case errors.Is(err, sql.ErrNoRows):
		return staff.User{}, missing("the user")
	case err != nil:
		return staff.User{}, fmt.Errorf("read a user: %w", err)
	}
	secret, err := db.seal.open(0, row.TOTPSecret)
	if err != nil {
		return staff.User{}, fmt.Errorf("read user %d: %w", row.ID, err)
	}
	u := staff.User{
		ID: staff.UserID(row.ID), Email: row.Email, Name: row.Name, Password: staff.PasswordHash(row.Password),
		Factor: staff.SecondFactor{Secret: string(secret), LastStep: row.TOTPStep}, CreatedAt: instant(row.CreatedAt), Version: row.Version,
	}
	for _, text := range strings.Fields(row.Recovery) {
		h, err := staffHash(text)
		if err != nil {
			return staff.User{}, err
		}
		u.Factor.Recovery = append(u.Factor.Recovery, h)
	}
	return u, nil
}

func staffHash(text string) (h staff.Hash, err error) {
	raw, err := hex.DecodeString(text)
	if err != nil || copy(h[:], raw) != len(h) {
		return h, fault.New(fault.Internal, "the hash of a user's secret is damaged")
	}
	return h, nil
}

// UserByEmail returns a user, locked, or NotFound.
func (u userTx) UserByEmail(ctx context.Context, email string) (staff.User, error) {
	if email == "" {
		return staff.User{}, missing("the user")
	}
	var row userRow
	return u.db.oneUser(ctx, u.dialect().forUpdate(u.q.NewSelect().Model(&row).Where("u.email = ?", clean(email))), &row)
}

// UserByID returns a user, locked, or NotFound.
func (u userTx) UserByID(ctx context.Context, id staff.UserID) (staff.User, error) {
	var row userRow
	return u.db.oneUser(ctx, u.dialect().forUpdate(u.q.NewSelect().Model(&row).Where("u.id = ?", id)), &row)
}

// User returns a user, or NotFound.
func (s staffStore) User(ctx context.Context, id staff.UserID) (staff.User, error) {
	var row userRow
	return s.db.oneUser(ctx, s.db.reader.NewSelect().Model(&row).Where("u.id = ?", id), &row)
}

// PutUser inserts a user whose ID is 0, giving it one, or replaces it under the version rule.
func (u userTx) PutUser(ctx context.Context, user *staff.User) error {
	put := *user
	put.Version++
	if user.ID == 0 {
		id, err := u.db.ids.take(1)
		if err != nil {
			return err
		}
		put.ID = staff.UserID(id)
	}
	row, err := u.db.userRow(put)
	if err != nil {
		return err
	}
	var changedRows int64 = 1
	if user.ID == 0 {
		_, err = u.q.NewInsert().Model(&row).Exec(ctx)
	} else {
		var res sql.Result
		if res, err = u.q.NewUpdate().Model(&row).ExcludeColumn("id", "created_at").Where("u.id = ?", row.ID).Where("u.version = ?", user.Version).Exec(ctx); err == nil {
			changedRows, err = res.RowsAffected()
		}
	}
	switch {
	case err != nil && u.db.engine.duplicate(err):
		return fault.Because(fault.Conflict, err, "a user has the address %s already", user.Email).Entity("user").Code("userExists").Field("email")
	case err != nil:
		return fmt.Errorf("write a user: %w", err)
	case changedRows != 1:
		return changed("user", "The user")
	}
	*user = put
	return nil
}

// userSessionRow is a row of user_sessions.
type userSessionRow struct {
	bun.BaseModel `bun:"table:user_sessions,alias:n"`

	Hash      string `bun:"hash,pk"`
	UserID    int64
	Pending   bool
	ClientIP  string `bun:"client_ip"`
	Agent     string
	CreatedAt int64
	SeenAt    int64
	ExpiresAt int64
}

func (r userSessionRow) session() (staff.Session, error) {
	h, err := staffHash(r.Hash)
	return staff.Session{
		Hash: h, User: staff.UserID(r.UserID), Pending: r.Pending, Client: r.ClientIP, Agent: r.Agent,
		CreatedAt: instant(r.CreatedAt), SeenAt: instant(r.SeenAt), ExpiresAt: instant(r.ExpiresAt),
	}, err
}

// AddUserSession stores a session and deletes some that expired before it began.
func (u userTx) AddUserSession(ctx context.Context, s staff.Session) error {
	row := userSessionRow{
		Hash: hex.EncodeToString(s.Hash[:]), UserID: int64(s.User), Pending: s.Pending, ClientIP: clean(s.Client), Agent: clean(s.Agent),
		CreatedAt: millis(s.CreatedAt), SeenAt: millis(s.SeenAt), ExpiresAt: millis(s.ExpiresAt),
	}
	if _, err := u.q.NewInsert().Model(&row).Exec(ctx); err != nil {
		return fmt.Errorf("add a session: %w", err)
	}
	return u.forgetOld(ctx, (*userSessionRow)(nil), "hash", s.CreatedAt)
}

// forgetOld removes some rows of a model that have expired, and passes over those that
// another transaction holds.
func (u userTx) forgetOld(ctx context.Context, model any, key string, now time.Time) error {
	expired := u.q.NewSelect().Model(model).Column(key).Where("?TableAlias.expires_at <= ?", millis(now)).Order("expires_at").Limit(forgetMost)
	_, err := u.q.NewDelete().Model(model).Where("?TableAlias.? IN (?)", ident(key), u.dialect().skipLocked(expired)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("forget what expired: %w", err)
	}
	return nil
}

// TouchUserSession notes that a session was used, forwards only.
func (u userTx) TouchUserSession(ctx context.Context, h staff.Hash, at time.Time) error {
	_, err := u.q.NewUpdate().Model((*userSessionRow)(nil)).Set("seen_at = ?", millis(at)).
		Where("n.hash = ?", hex.EncodeToString(h[:])).Where("n.seen_at < ?", millis(at)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("note the use of a session: %w", err)
	}
	return nil
}

// EndUserSession deletes a session, if it exists.
func (u userTx) EndUserSession(ctx context.Context, h staff.Hash) error {
	if _, err := u.q.NewDelete().Model((*userSessionRow)(nil)).Where("n.hash = ?", hex.EncodeToString(h[:])).Exec(ctx); err != nil {
		return fmt.Errorf("end a session: %w", err)
	}
	return nil
}

// EndUserSessions deletes every session of a user except one.
func (u userTx) EndUserSessions(ctx context.Context, id staff.UserID, except staff.Hash) error {
	_, err := u.q.NewDelete().Model((*userSessionRow)(nil)).Where("n.user_id = ?", id).Where("n.hash <> ?", hex.EncodeToString(except[:])).Exec(ctx)
	if err != nil {
		return fmt.Errorf("end the sessions of user %d: %w", id, err)
	}
	return nil
}

// UserSession returns a session, or NotFound.
func (s staffStore) UserSession(ctx context.Context, h staff.Hash) (staff.Session, error) {
	var row userSessionRow
	err := s.db.reader.NewSelect().Model(&row).Where("n.hash = ?", hex.EncodeToString(h[:])).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return staff.Session{}, missing("the session")
	}
	if err != nil {
		return staff.Session{}, fmt.Errorf("read a session: %w", err)
	}
	return row.session()
}

// UserSessions returns the sessions of a user that expire after now, the one that was used
// last first.
func (s staffStore) UserSessions(ctx context.Context, id staff.UserID, now time.Time) ([]staff.Session, error) {
	var rows []userSessionRow
	err := s.db.reader.NewSelect().Model(&rows).Where("n.user_id = ?", id).Where("n.expires_at > ?", millis(now)).OrderExpr("n.seen_at DESC, n.hash").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the sessions of user %d: %w", id, err)
	}
	return parsed(rows, userSessionRow.session)
}
