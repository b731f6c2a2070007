package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
)

// staffRow is a row of shop_staff.
type staffRow struct {
	bun.BaseModel `bun:"table:shop_staff,alias:m"`

	ShopID       int64 `bun:"shop_id,pk"`
	UserID       int64 `bun:"user_id,pk"`
	Role         string
	PlatformUser string
	AddedBy      string
	CreatedAt    int64
	RemovedAt    int64
	Version      int64
}

func (r *staffRow) Columns(m *mapping, s *staff.Member) {
	m.shop(&r.ShopID)
	mapInt(m, &r.UserID, &s.User)
	mapText(m, &r.Role, &s.Role)
	mapText(m, &r.PlatformUser, &s.PlatformUser)
	mapText(m, &r.AddedBy, &s.AddedBy)
	mapTime(m, &r.CreatedAt, &s.CreatedAt)
	mapTime(m, &r.RemovedAt, &s.RemovedAt)
	mapSame(m, &r.Version, &s.Version)
}

// StaffMembers returns the members of the store, removed ones too, locked, in the order in which
// they joined.
func (tx *Tx) StaffMembers(ctx context.Context) ([]staff.Member, error) {
	var rows []staffRow
	q := tx.q.NewSelect().Model(&rows).Where("m.shop_id = ?", tx.of).Order("m.created_at", "m.user_id")
	if err := tx.dialect().forUpdate(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the users of shop %d: %w", tx.of, err)
	}
	return readRows[staff.Member](rows)
}

// PutStaffMember inserts a member whose Version is 0, or replaces it under the version rule.
func (tx *Tx) PutStaffMember(ctx context.Context, m *staff.Member) error {
	row, err := rowOf[staffRow](tx.of, *m)
	if err != nil {
		return err
	}
	row.Version++
	var written int64 = 1
	if m.Version == 0 {
		_, err = tx.q.NewInsert().Model(&row).Exec(ctx)
	} else {
		var res sql.Result
		res, err = tx.q.NewUpdate().Model(&row).ExcludeColumn("shop_id", "user_id", "created_at").
			Where("m.shop_id = ?", tx.of).Where("m.user_id = ?", m.User).Where("m.version = ?", m.Version).Exec(ctx)
		if err == nil {
			written, err = res.RowsAffected()
		}
	}
	switch {
	case err != nil && tx.db.engine.duplicate(err):
		return fault.Because(fault.Conflict, err, "the user belongs to the store already").Entity("user").Code("userExists")
	case err != nil:
		return fmt.Errorf("write a user of shop %d: %w", tx.of, err)
	case written != 1:
		return changed("user", "The user")
	}
	m.Version++
	return nil
}

// Memberships returns the stores of a user, by domain.
func (s staffStore) Memberships(ctx context.Context, id staff.UserID) ([]staff.Membership, error) {
	var rows []struct {
		ShopID int64
		Domain string
		Role   string
	}
	err := s.db.acrossShops().NewSelect().TableExpr("shop_staff AS m").Join("JOIN shops AS s ON s.id = m.shop_id").ColumnExpr("m.shop_id, s.domain, m.role").
		Where("m.user_id = ?", id).Where("m.removed_at = 0").Order("s.domain").Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read the stores of user %d: %w", id, err)
	}
	list := make([]staff.Membership, len(rows))
	for i, r := range rows {
		list[i] = staff.Membership{Shop: shop.ID(r.ShopID), Domain: r.Domain, Role: staff.Role(r.Role)}
	}
	return list, nil
}

// People returns the members of a store who were not removed, in the order in which they
// joined.
func (s staffStore) People(ctx context.Context, of shop.ID) ([]staff.Person, error) {
	var rows []struct {
		staffRow
		Email       string
		Name        string
		HasPassword bool
		TwoFactor   bool
	}
	err := s.db.in(of).NewSelect().TableExpr("shop_staff AS m").Join("JOIN users AS u ON u.id = m.user_id").
		ColumnExpr("m.user_id, m.role, m.platform_user, m.added_by, m.created_at, m.removed_at, m.version, u.email, u.name, u.password <> '' AS has_password, u.totp_secret <> '' AS two_factor").
		Where("m.shop_id = ?", of).Where("m.removed_at = 0").Order("m.created_at", "m.user_id").Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read the users of shop %d: %w", of, err)
	}
	list := make([]staff.Person, len(rows))
	for i, r := range rows {
		m, err := readRow[staff.Member](r.staffRow)
		if err != nil {
			return nil, err
		}
		list[i] = staff.Person{Member: m, Email: r.Email, Name: r.Name, HasPassword: r.HasPassword, TwoFactor: r.TwoFactor}
	}
	return list, nil
}

// PlatformMember returns the member with the platform's id of a user, or NotFound.
func (s staffStore) PlatformMember(ctx context.Context, of shop.ID, platformUser string) (staff.Member, error) {
	var row staffRow
	err := s.db.in(of).NewSelect().Model(&row).Where("m.shop_id = ?", of).Where("m.platform_user = ?", clean(platformUser)).Where("m.platform_user <> ''").Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return staff.Member{}, missing("the user")
	}
	if err != nil {
		return staff.Member{}, fmt.Errorf("find a user of shop %d: %w", of, err)
	}
	return readRow[staff.Member](row)
}

// invitationRow is a row of staff_invitations.
type invitationRow struct {
	bun.BaseModel `bun:"table:staff_invitations,alias:i"`

	ShopID    int64 `bun:"shop_id,pk"`
	ID        int64 `bun:"id,pk"`
	Email     string
	Role      string
	Hash      string
	InvitedBy string
	CreatedAt int64
	ExpiresAt int64
	EndedAt   int64
}

func (r *invitationRow) Columns(m *mapping, i *staff.Invitation) {
	m.shop(&r.ShopID)
	mapInt(m, &r.ID, &i.ID)
	mapText(m, &r.Email, &i.Email)
	mapText(m, &r.Role, &i.Role)
	mapHash(m, "hash", &r.Hash, &i.Hash)
	mapText(m, &r.InvitedBy, &i.InvitedBy)
	mapTime(m, &r.CreatedAt, &i.CreatedAt)
	mapTime(m, &r.ExpiresAt, &i.ExpiresAt)
	mapTime(m, &r.EndedAt, &i.EndedAt)
	m.within(r.ID)
}

func oneInvitation(ctx context.Context, q *bun.SelectQuery, row *invitationRow) (staff.Invitation, error) {
	switch err := q.Scan(ctx); {
	case errors.Is(err, sql.ErrNoRows):
		return staff.Invitation{}, missing("the invitation")
	case err != nil:
		return staff.Invitation{}, fmt.Errorf("read an invitation: %w", err)
	}
	return readRow[staff.Invitation](*row)
}

// AddInvitation stores an invitation, giving it an id.
func (tx *Tx) AddInvitation(ctx context.Context, i *staff.Invitation) error {
	id, err := tx.db.ids.take(1)
	if err != nil {
		return err
	}
	made := *i
	made.ID = staff.InvitationID(id)
	row, err := rowOf[invitationRow](tx.of, made)
	if err != nil {
		return err
	}
	if _, err := tx.q.NewInsert().Model(&row).Exec(ctx); err != nil {
		return fmt.Errorf("add an invitation: %w", err)
	}
	*i = made
	return nil
}

// Invitation returns the invitation with the hash, locked, or NotFound.
func (tx *Tx) Invitation(ctx context.Context, h staff.Hash) (staff.Invitation, error) {
	var row invitationRow
	q := tx.q.NewSelect().Model(&row).Where("i.shop_id = ?", tx.of).Where("i.hash = ?", hashText(h))
	return oneInvitation(ctx, tx.dialect().forUpdate(q), &row)
}

// EndInvitations ends the open invitations of an address.
func (tx *Tx) EndInvitations(ctx context.Context, email string, at time.Time) (int, error) {
	res, err := tx.q.NewUpdate().Model((*invitationRow)(nil)).Set("ended_at = ?", millis(at)).
		Where("i.shop_id = ?", tx.of).Where("i.email = ?", clean(email)).Where("i.ended_at = 0").Exec(ctx)
	if err != nil {
		return 0, fmt.Errorf("end invitations: %w", err)
	}
	n, err := res.RowsAffected()
	return int(n), err
}

// InvitationByHash returns an invitation of a store, or NotFound.
func (s staffStore) InvitationByHash(ctx context.Context, of shop.ID, h staff.Hash) (staff.Invitation, error) {
	var row invitationRow
	return oneInvitation(ctx, s.db.in(of).NewSelect().Model(&row).Where("i.shop_id = ?", of).Where("i.hash = ?", hashText(h)), &row)
}

// OpenInvitations returns the invitations of a store that are open, newest first.
func (s staffStore) OpenInvitations(ctx context.Context, of shop.ID, now time.Time) ([]staff.Invitation, error) {
	var rows []invitationRow
	err := s.db.in(of).NewSelect().Model(&rows).Where("i.shop_id = ?", of).Where("i.ended_at = 0").Where("i.expires_at > ?", millis(now)).
		OrderExpr("i.created_at DESC, i.id DESC").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the invitations of shop %d: %w", of, err)
	}
	return readRows[staff.Invitation](rows)
}
