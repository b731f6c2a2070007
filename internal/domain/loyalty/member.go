package loyalty

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Member is a member with all that is shown of one.
type Member struct {
	Account
	Expiring   Points // that expire next
	ExpiresAt  time.Time
	Tier, Next *Tier // reached, and to be reached; nil when there is none
	Rewards    []Reward
}

// Member returns a member, with the rewards in the given standing (empty: all).
func (s *Service) Member(ctx context.Context, of shop.Shop, who CustomerRef, rewards RewardStatus) (Member, error) {
	account, lots, err := s.Reader.LoyaltyMember(ctx, of.ID, who)
	if err == nil {
		err = who.checkEmail(account.Person)
	}
	if err != nil {
		return Member{}, err
	}
	program, err := s.Reader.LoyaltyProgram(ctx, of.ID)
	if err != nil {
		return Member{}, err
	}
	cal, err := of.Calendar()
	if err != nil {
		return Member{}, err
	}
	m := Member{Account: account.in(of.Currency)}
	m.ExpiresAt, m.Expiring = Expiring(account, lots, program.Terms, cal.Zone)
	m.Tier, m.Next = program.Terms.TiersOf(account.Sums.Earned)
	m.Rewards, err = s.Reader.LoyaltyRewards(ctx, of.ID, account.ID, rewards)
	return m, err
}

// History returns a page of what was posted to a member.
func (s *Service) History(ctx context.Context, of shop.ID, who CustomerRef, p page.Request) ([]Entry, int, error) {
	account, _, err := s.Reader.LoyaltyMember(ctx, of, who)
	if err != nil {
		return nil, 0, err
	}
	return s.Reader.LoyaltyEntries(ctx, of, account.ID, p)
}

// Program returns the store's programme. One that was never set up shows the
// terms that it would begin with.
func (s *Service) Program(ctx context.Context, of shop.ID) (Program, error) {
	p, err := s.Reader.LoyaltyProgram(ctx, of)
	if err == nil && p.Version == 0 {
		p.Terms = DefaultTerms()
	}
	return p, err
}

// Top returns a page of the members who earned most.
func (s *Service) Top(ctx context.Context, of shop.ID, p page.Request) ([]Account, int, error) {
	return s.Reader.TopMembers(ctx, of, p)
}
