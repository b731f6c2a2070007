package loyalty

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Member is a member with all details that are shown.
type Member struct {
	Account
	Expiring   Points // the points that expire next
	ExpiresAt  time.Time
	ReleasesAt time.Time // when pending points can be spent next; zero: by approval, or none are pending
	Tier, Next *Tier     // reached, and to be reached; nil when there is none
	Rewards    []Reward
}

// Member returns a member, with the rewards that have a status (empty: all).
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
	m := Member{Account: account.inCurrency(of.Currency)}
	m.ExpiresAt, m.Expiring = Expiring(account, lots, program.Terms, cal.Zone)
	m.ReleasesAt = releases(lots)
	m.Tier, m.Next = program.Terms.TiersOf(account.Sums.Earned)
	m.Rewards, err = s.Reader.LoyaltyRewards(ctx, of.ID, account.ID, rewards)
	return m, err
}

// releases returns when the first of pending lots is released; zero: only approval releases them.
func releases(lots []Lot) (first time.Time) {
	for _, l := range lots {
		if l.Pending && !l.AvailableFrom.IsZero() && (first.IsZero() || l.AvailableFrom.Before(first)) {
			first = l.AvailableFrom
		}
	}
	return first
}

// History returns a page of a member's entries.
func (s *Service) History(ctx context.Context, of shop.ID, who CustomerRef, p page.Request) ([]Entry, int, error) {
	account, _, err := s.Reader.LoyaltyMember(ctx, of, who)
	if err != nil {
		return nil, 0, err
	}
	return s.Reader.LoyaltyEntries(ctx, of, account.ID, p)
}

// Program returns the store's programme. A store without one gets the default terms.
func (s *Service) Program(ctx context.Context, of shop.ID) (Program, error) {
	p, err := s.Reader.LoyaltyProgram(ctx, of)
	if err == nil && p.Version == 0 {
		p.Terms = DefaultTerms()
	}
	return p, err
}

// Top returns a page of the members with the most points earned.
func (s *Service) Top(ctx context.Context, of shop.ID, p page.Request) ([]Account, int, error) {
	return s.Reader.TopMembers(ctx, of, p)
}
