package staff

import (
	"context"
	"slices"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// team is the members of a store in a transaction, and who changes them.
type team struct {
	tx      UserTx
	shopTx  ShopTx
	shop    shop.ID
	members []Member
	role    Role // of who acts; the operator has an owner's
	by      activity.Actor
}

// change lets fn change the members of a store.
func (s *Service) change(ctx context.Context, of shop.ID, by Acting, fn func(*team) error) error {
	return s.Store.UpdateUsers(ctx, func(tx UserTx) error {
		part, err := tx.In(ctx, of)
		if err != nil {
			return err
		}
		t := &team{tx: tx, shopTx: part, shop: of, role: Owner, by: activity.Operator}
		if t.members, err = t.shopTx.StaffMembers(ctx); err != nil {
			return err
		}
		if by.User != 0 {
			u, err := tx.UserByID(ctx, by.User)
			if err != nil {
				return err
			}
			t.role, t.by = "", actor(u.Known(), by.Client)
			if m := t.member(by.User); m != nil {
				t.role = m.Role
			}
		}
		return fn(t)
	})
}

// member returns a member who was not removed, or nil.
func (t *team) member(id UserID) *Member {
	i := slices.IndexFunc(t.members, func(m Member) bool { return m.User == id && m.RemovedAt.IsZero() })
	if i < 0 {
		return nil
	}
	return &t.members[i]
}

// owners returns how many owners the store has.
func (t *team) owners() int {
	n := 0
	for _, m := range t.members {
		if m.Role == Owner && m.RemovedAt.IsZero() {
			n++
		}
	}
	return n
}

// manage refuses who may not give or take a role.
func (t *team) manage(roles ...Role) error {
	for _, r := range roles {
		if !t.role.mayManage(r) {
			return fault.New(fault.Forbidden, "your role does not permit to manage users with the role %s", r).Entity(entity).Code("roleForbidden").Field("role")
		}
	}
	return nil
}

// keepOwner refuses to take the role of the last owner.
func (t *team) keepOwner(m *Member) error {
	if m.Role == Owner && t.owners() == 1 {
		return fault.New(fault.FailedPrecondition, "the last owner of a store cannot be removed: make another user an owner first").Entity(entity).Code("lastOwner")
	}
	return nil
}

// join makes a user a member.
func (t *team) join(ctx context.Context, id UserID, role Role, m Member) error {
	for _, known := range t.members { // the user was a member before
		if known.User == id {
			m.Version, m.CreatedAt = known.Version, known.CreatedAt
			if m.PlatformUser == "" {
				m.PlatformUser = known.PlatformUser
			}
		}
	}
	m.User, m.Role, m.AddedBy = id, role, t.by.By
	return t.shopTx.PutStaffMember(ctx, &m)
}

func memberNotFound() error {
	return fault.New(fault.NotFound, "the user does not belong to the store").Entity(entity).Code("userNotFound")
}

// People returns the users of a store, in the order in which they joined.
func (s *Service) People(ctx context.Context, of shop.ID) ([]Person, error) {
	return s.Store.People(ctx, of)
}

// ChangeRole gives a user of a store another role.
func (s *Service) ChangeRole(ctx context.Context, of shop.ID, by Acting, id UserID, role Role) error {
	return s.change(ctx, of, by, func(t *team) error {
		m := t.member(id)
		if m == nil {
			return memberNotFound()
		}
		if err := t.manage(m.Role, role); err != nil {
			return err
		}
		if m.Role == role {
			return nil
		}
		if err := t.keepOwner(m); err != nil {
			return err
		}
		u, err := t.tx.UserByID(ctx, id)
		if err != nil {
			return err
		}
		m.Role = role
		if err := t.shopTx.PutStaffMember(ctx, m); err != nil {
			return err
		}
		return s.record(ctx, t.shopTx, of, t.by, change{"USER_ROLE_CHANGED", u.Known(), role})
	})
}

// Remove takes a user out of a store. The sessions of a user who belongs to no store any
// more end.
func (s *Service) Remove(ctx context.Context, of shop.ID, by Acting, id UserID) error {
	stores, err := s.Store.Memberships(ctx, id)
	if err != nil {
		return err
	}
	stores = slices.DeleteFunc(stores, func(m Membership) bool { return m.Shop == of })
	return s.change(ctx, of, by, func(t *team) error {
		m := t.member(id)
		if m == nil {
			return memberNotFound()
		}
		if id != by.User {
			if err := t.manage(m.Role); err != nil {
				return err
			}
		}
		if err := t.keepOwner(m); err != nil {
			return err
		}
		u, err := t.tx.UserByID(ctx, id)
		if err != nil {
			return err
		}
		m.RemovedAt = s.Clock.Now()
		if err := t.shopTx.PutStaffMember(ctx, m); err != nil {
			return err
		}
		if len(stores) == 0 {
			if err := t.tx.EndUserSessions(ctx, id, Hash{}); err != nil {
				return err
			}
		}
		return s.record(ctx, t.shopTx, of, t.by, change{"USER_REMOVED", u.Known(), m.Role})
	})
}
