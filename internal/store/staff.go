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
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
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

func (r *userRow) Columns(m *mapping, u *staff.User) {
	mapInt(m, &r.ID, &u.ID)
	mapText(m, &r.Email, &u.Email)
	mapText(m, &r.Name, &u.Name)
	mapText(m, &r.Password, &u.Password)
	mapSealed(m, "totp_secret", 0, &r.TOTPSecret, &u.Factor.Secret)
	mapSame(m, &r.TOTPStep, &u.Factor.LastStep)
	mapVia(m, "recovery", &r.Recovery, &u.Factor.Recovery, hashesText, parseHashes)
	mapTime(m, &r.CreatedAt, &u.CreatedAt)
	mapSame(m, &r.Version, &u.Version)
	m.within(r.ID)
}

// hashesText writes hashes in hexadecimal, with spaces between.
func hashesText(list []staff.Hash) (string, error) {
	words := make([]string, len(list))
	for i, h := range list {
		words[i] = hashText(h)
	}
	return strings.Join(words, " "), nil
}

// parseHashes is the reverse of hashesText.
func parseHashes(text string) (list []staff.Hash, err error) {
	for _, word := range strings.Fields(text) {
		h, err := parseHash[staff.Hash](word)
		if err != nil {
			return nil, err
		}
		list = append(list, h)
	}
	return list, nil
}

func (db *DB) oneUser(ctx context.Context, q *bun.SelectQuery, row *userRow) (staff.User, error) {
	switch err := q.Scan(ctx); {
	case errors.Is(err, sql.ErrNoRows):
		return staff.User{}, missing("the user")
	case err != nil:
		return staff.User{}, fmt.Errorf("read a user: %w", err)
	}
	return readSealedRow[staff.User](db.seal, *row)
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
	row, err := sealedRowOf[userRow](u.db.seal, 0, put)
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

func (r *userSessionRow) Columns(m *mapping, s *staff.Session) {
	mapHash(m, "hash", &r.Hash, &s.Hash)
	mapInt(m, &r.UserID, &s.User)
	mapSame(m, &r.Pending, &s.Pending)
	mapText(m, &r.ClientIP, &s.Client)
	mapText(m, &r.Agent, &s.Agent)
	mapTime(m, &r.CreatedAt, &s.CreatedAt)
	mapTime(m, &r.SeenAt, &s.SeenAt)
	mapTime(m, &r.ExpiresAt, &s.ExpiresAt)
}

// AddUserSession stores a session and deletes some that expired before it began.
func (u userTx) AddUserSession(ctx context.Context, s staff.Session) error {
	row, err := rowOf[userSessionRow](0, s)
	if err != nil {
		return err
	}
	if _, err := u.q.NewInsert().Model(&row).Exec(ctx); err != nil {
		return fmt.Errorf("add a session: %w", err)
	}
	return u.forgetShared(ctx, (*userSessionRow)(nil), "hash", s.CreatedAt)
}

// TouchUserSession notes that a session was used, forwards only.
func (u userTx) TouchUserSession(ctx context.Context, h staff.Hash, at time.Time) error {
	_, err := u.q.NewUpdate().Model((*userSessionRow)(nil)).Set("seen_at = ?", millis(at)).
		Where("n.hash = ?", hashText(h)).Where("n.seen_at < ?", millis(at)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("note the use of a session: %w", err)
	}
	return nil
}

// EndUserSession deletes a session, if it exists.
func (u userTx) EndUserSession(ctx context.Context, h staff.Hash) error {
	if _, err := u.q.NewDelete().Model((*userSessionRow)(nil)).Where("n.hash = ?", hashText(h)).Exec(ctx); err != nil {
		return fmt.Errorf("end a session: %w", err)
	}
	return nil
}

// EndUserSessions deletes every session of a user except one.
func (u userTx) EndUserSessions(ctx context.Context, id staff.UserID, except staff.Hash) error {
	_, err := u.q.NewDelete().Model((*userSessionRow)(nil)).Where("n.user_id = ?", id).Where("n.hash <> ?", hashText(except)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("end the sessions of user %d: %w", id, err)
	}
	return nil
}

// UserSession returns a session, or NotFound.
func (s staffStore) UserSession(ctx context.Context, h staff.Hash) (staff.Session, error) {
	var row userSessionRow
	err := s.db.reader.NewSelect().Model(&row).Where("n.hash = ?", hashText(h)).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return staff.Session{}, missing("the session")
	}
	if err != nil {
		return staff.Session{}, fmt.Errorf("read a session: %w", err)
	}
	return readRow[staff.Session](row)
}

// UserSessions returns the sessions of a user that expire after now, the one that was used
// last first.
func (s staffStore) UserSessions(ctx context.Context, id staff.UserID, now time.Time) ([]staff.Session, error) {
	var rows []userSessionRow
	err := s.db.reader.NewSelect().Model(&rows).Where("n.user_id = ?", id).Where("n.expires_at > ?", millis(now)).OrderExpr("n.seen_at DESC, n.hash").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the sessions of user %d: %w", id, err)
	}
	return readRows[staff.Session](rows)
}
