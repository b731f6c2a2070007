package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/staff"
)

// resetRow is a row of user_resets.
type resetRow struct {
	bun.BaseModel `bun:"table:user_resets,alias:r"`

	Hash      string `bun:"hash,pk"`
	UserID    int64
	ExpiresAt int64
}

func (r *resetRow) Columns(m *mapping, v *staff.Reset) {
	mapHash(m, "hash", &r.Hash, &v.Hash)
	mapInt(m, &r.UserID, &v.User)
	mapTime(m, &r.ExpiresAt, &v.ExpiresAt)
}

// AddReset stores a reset and deletes the others of its user.
func (u userTx) AddReset(ctx context.Context, r staff.Reset) error {
	if _, err := u.q.NewDelete().Model((*resetRow)(nil)).Where("r.user_id = ?", r.User).Exec(ctx); err != nil {
		return fmt.Errorf("delete the resets of user %d: %w", r.User, err)
	}
	row, err := rowOf[resetRow](0, r)
	if err != nil {
		return err
	}
	if _, err := u.q.NewInsert().Model(&row).Exec(ctx); err != nil {
		return fmt.Errorf("add a reset: %w", err)
	}
	return nil
}

func oneReset(ctx context.Context, q *bun.SelectQuery, row *resetRow) (staff.Reset, error) {
	switch err := q.Scan(ctx); {
	case errors.Is(err, sql.ErrNoRows):
		return staff.Reset{}, missing("the reset")
	case err != nil:
		return staff.Reset{}, fmt.Errorf("read a reset: %w", err)
	}
	return readRow[staff.Reset](*row)
}

// UseReset deletes and returns a reset, or NotFound.
func (u userTx) UseReset(ctx context.Context, h staff.Hash) (staff.Reset, error) {
	var row resetRow
	r, err := oneReset(ctx, u.dialect().forUpdate(u.q.NewSelect().Model(&row).Where("r.hash = ?", hashText(h))), &row)
	if err != nil {
		return r, err
	}
	if _, err := u.q.NewDelete().Model((*resetRow)(nil)).Where("r.hash = ?", row.Hash).Exec(ctx); err != nil {
		return r, fmt.Errorf("use a reset: %w", err)
	}
	return r, nil
}

// ResetByHash returns a reset, or NotFound.
func (s staffStore) ResetByHash(ctx context.Context, h staff.Hash) (staff.Reset, error) {
	var row resetRow
	return oneReset(ctx, s.db.reader.NewSelect().Model(&row).Where("r.hash = ?", hashText(h)), &row)
}

// userThrottleRow is a row of user_throttles.
type userThrottleRow struct {
	bun.BaseModel `bun:"table:user_throttles,alias:t"`

	Subject   string `bun:"subject,pk"`
	Times     string // milliseconds with spaces between
	ExpiresAt int64
}

// UserThrottle returns what is counted of a subject, locked. Where nothing is counted yet,
// an empty row is what others wait for.
func (u userTx) UserThrottle(ctx context.Context, subject string) (staff.Throttle, error) {
	row := userThrottleRow{Subject: subject}
	if _, err := u.q.NewInsert().Model(&row).On("CONFLICT DO NOTHING").Exec(ctx); err != nil {
		return staff.Throttle{}, fmt.Errorf("read what is counted: %w", err)
	}
	if err := u.dialect().forUpdate(u.q.NewSelect().Model(&row).Where("t.subject = ?", subject)).Scan(ctx); err != nil {
		return staff.Throttle{}, fmt.Errorf("read what is counted: %w", err)
	}
	times, err := parseTimes(row.Times)
	return staff.Throttle{Subject: subject, Times: times, ExpiresAt: instant(row.ExpiresAt)}, err
}

// PutUserThrottle writes what is counted and deletes some counts that expired.
func (u userTx) PutUserThrottle(ctx context.Context, t staff.Throttle, now time.Time) error {
	_, err := u.q.NewUpdate().Model((*userThrottleRow)(nil)).Set("times = ?", timesText(t.Times)).Set("expires_at = ?", millis(t.ExpiresAt)).
		Where("t.subject = ?", t.Subject).Exec(ctx)
	if err != nil {
		return fmt.Errorf("count: %w", err)
	}
	return u.forgetShared(ctx, (*userThrottleRow)(nil), "subject", now)
}
