package staff

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

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
		if err = s.admit(ctx, of.ID, platformUser); err == nil {
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

// admit makes a user of the platform a member, unless the user is known in the store.
func (s *Service) admit(ctx context.Context, of shop.ID, platformUser string) error {
	name, err := parseName("Store user " + platformUser)
	if err != nil {
		return err
	}
	return s.change(ctx, of, Acting{}, func(t *team) error {
		for _, m := range t.members {
			if m.PlatformUser == platformUser {
				return nil
			}
		}
		role := Analyst
		if t.owners() == 0 {
			role = Owner
		}
		u := User{Name: name, CreatedAt: s.Clock.Now()}
		if err := t.tx.PutUser(ctx, &u); err != nil {
			return err
		}
		t.by = activity.Platform
		if err := t.join(ctx, u.ID, role, Member{PlatformUser: platformUser, CreatedAt: u.CreatedAt}); err != nil {
			return err
		}
		return s.record(ctx, t.shopTx, of, t.by, change{"USER_JOINED", name, role})
	})
}
