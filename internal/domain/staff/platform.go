package staff

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// PlatformUser is a user of a store's admin, as the platform names one.
type PlatformUser struct {
	ID    string
	Email string // empty: not known
	Name  string
}

// Install makes the merchant who installed the app the owner of a store that has none. A
// user of the address who exists already stays who they are.
func (s *Service) Install(ctx context.Context, of shop.ID, who PlatformUser) error {
	return s.admit(ctx, of, who, func(t *team) (Role, bool) { return Owner, t.owners() == 0 })
}

// EnterByPlatform returns a store and the role in it of a user that a session token of the
// platform names. In a store without an owner the first such user becomes the owner: that is
// the merchant who installed the app. All others are analysts until an owner gives them
// another role. A removed user stays out.
func (s *Service) EnterByPlatform(ctx context.Context, domain, platformUser string, c Client) (shop.Shop, Principal, Role, error) {
	of, err := s.Store.ShopByDomain(ctx, domain)
	if err != nil {
		return shop.Shop{}, Principal{}, "", err
	}
	m, err := s.Store.PlatformMember(ctx, of.ID, platformUser)
	if fault.Is(err, fault.NotFound) {
		err = s.admit(ctx, of.ID, PlatformUser{ID: platformUser}, func(t *team) (Role, bool) {
			if t.owners() == 0 {
				return Owner, true
			}
			return Analyst, true
		})
		if err == nil {
			m, err = s.Store.PlatformMember(ctx, of.ID, platformUser)
		}
	}
	if err != nil {
		return shop.Shop{}, Principal{}, "", err
	}
	if !m.RemovedAt.IsZero() {
		return shop.Shop{}, Principal{}, "", fault.New(fault.Forbidden, "an owner has removed you from the dashboard of this store").Entity(entity).Code("userRemoved")
	}
	u, err := s.Store.User(ctx, m.User)
	return of, Principal{User: u}, m.Role, err
}

// admit makes a user of the platform a member with the role that fn returns, unless fn
// refuses or the user is known in the store.
func (s *Service) admit(ctx context.Context, of shop.ID, who PlatformUser, fn func(*team) (Role, bool)) error {
	name, err := parseName(who.Name)
	if err != nil || name == "" {
		name = "Store user " + who.ID
	}
	email, err := parseEmail(who.Email)
	if err != nil {
		email = ""
	}
	return s.change(ctx, of, Acting{}, func(t *team) error {
		for _, m := range t.members {
			if m.PlatformUser == who.ID {
				return nil
			}
		}
		role, ok := fn(t)
		if !ok {
			return nil
		}
		now := s.Clock.Now()
		u := User{Email: email, Name: name, CreatedAt: now}
		if email != "" {
			known, err := t.tx.UserByEmail(ctx, email)
			if err := unless(err, fault.NotFound); err != nil {
				return err
			}
			if err == nil {
				u = known
			}
		}
		if u.ID == 0 {
			if err := t.tx.PutUser(ctx, &u); err != nil {
				return err
			}
		}
		t.by = activity.Platform
		if err := t.join(ctx, u.ID, role, Member{PlatformUser: who.ID, CreatedAt: now}); err != nil {
			return err
		}
		return s.record(ctx, t.shopTx, of, t.by, change{"USER_JOINED", u.Known(), role})
	})
}
