package loyalty

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Notice is what an e-mail to a member reports, as it is when the e-mail is sent.
type Notice struct {
	Account
	Program  Program
	Gains    []Gain           // of PointsEarned and Birthday
	Expiring []ExpiringPoints // of PointsExpiring, by when
	Tier     *Tier            // that the member has reached; nil: none
	Next     *Tier            // nil: there is no higher one
	Reward   Reward           // of RewardIssued
}

// Gain is points that were earned together, less what was reversed since.
type Gain struct {
	Description string
	Points      Points
	Pending     bool
}

// Points returns how many points the e-mail is about.
func (n Notice) Points() (sum Points) {
	for _, g := range n.Gains {
		sum += g.Points
	}
	for _, e := range n.Expiring {
		sum += e.Points
	}
	return sum
}

// Pending returns how many of the points that were earned cannot be spent yet.
func (n Notice) Pending() (sum Points) {
	for _, g := range n.Gains {
		if g.Pending {
			sum += g.Points
		}
	}
	return sum
}

// Notice returns what a message to a member reports, and whether it still holds: the points were not
// spent or reversed since, the tier is still the member's and the reward can still be used. Of a programme
// that is not active any more only rewards are reported.
func (s *Service) Notice(ctx context.Context, of shop.Shop, m notify.Message) (n Notice, holds bool, err error) {
	if m.Facts.Points == nil || m.Customer == 0 {
		return n, false, nil
	}
	account, lots, err := s.Reader.LoyaltyMember(ctx, of.ID, CustomerRef{Customer: m.Customer})
	if fault.Is(err, fault.NotFound) {
		return n, false, nil
	}
	if err != nil {
		return n, false, err
	}
	if n.Program, err = s.Reader.LoyaltyProgram(ctx, of.ID); err != nil {
		return n, false, err
	}
	n.Account = account
	n.Tier, n.Next = n.Program.Terms.TiersOf(account.Sums.Earned)
	if !account.Status.takesPart() || !n.Program.Active && m.Kind != notify.RewardIssued {
		return n, false, nil
	}
	switch about := *m.Facts.Points; m.Kind {
	case notify.PointsEarned:
		n.Gains, err = s.gainsBetween(ctx, of, account.ID, about.Since, about.Until)
		holds = len(n.Gains) > 0
	case notify.Birthday:
		n.Gains, err = s.gainOf(ctx, of.ID, account.ID, EntryID(about.Entry))
		holds = len(n.Gains) > 0
	case notify.PointsExpiring:
		n.Expiring, err = s.expiringUntil(of, n.Program.Terms, account, lots, about.Until)
		holds = len(n.Expiring) > 0
	case notify.TierReached:
		holds = n.Tier != nil && n.Tier.ID == about.Tier
	case notify.RewardIssued:
		n.Reward, err = s.rewardOf(ctx, of.ID, account.ID, RewardID(about.Reward))
		holds = n.Reward.State == Issued || n.Reward.State == Used && n.Reward.Type == StoreCredit
	}
	return n, holds, err
}

// gainsBetween returns what a member earned from an instant on and before another one.
func (s *Service) gainsBetween(ctx context.Context, of shop.Shop, member AccountID, from, to time.Time) (list []Gain, err error) {
	err = s.Store.View(ctx, of.ID, func(tx ReadTx) error {
		entries, err := tx.EntriesBetween(ctx, member, from, to)
		if err != nil {
			return err
		}
		birthdays := of.Settings.Sends(notify.Birthday)
		list, err = gains(ctx, tx, member, slices.DeleteFunc(entries, func(e Entry) bool { return !earnedBy(e, birthdays) }))
		return err
	})
	return list, err
}

// gainOf returns what a member earned by one entry; none if nothing is left of it.
func (s *Service) gainOf(ctx context.Context, of shop.ID, member AccountID, id EntryID) (list []Gain, err error) {
	e, err := s.Reader.LoyaltyEntry(ctx, of, id)
	if fault.Is(err, fault.NotFound) || err == nil && e.Account != member {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		list, err = gains(ctx, tx, member, []Entry{e})
		return err
	})
	return list, err
}

// gains returns what is left of the points that entries gave.
func gains(ctx context.Context, tx LedgerReader, of AccountID, entries []Entry) ([]Gain, error) {
	var seqs []int64
	for _, e := range entries {
		seqs = append(seqs, e.Seq)
	}
	lots, err := tx.Lots(ctx, of, seqs)
	if err != nil {
		return nil, err
	}
	var list []Gain
	for _, e := range entries {
		at := slices.IndexFunc(lots, func(l Lot) bool { return l.Seq == e.Seq })
		if at < 0 || lots[at].Reversed >= lots[at].Points {
			continue
		}
		list = append(list, Gain{e.Description, lots[at].Points - lots[at].Reversed, lots[at].Pending})
	}
	return list, nil
}

func (s *Service) expiringUntil(of shop.Shop, terms Terms, a Account, lots []Lot, last time.Time) ([]ExpiringPoints, error) {
	calendar, err := of.Calendar()
	if err != nil {
		return nil, err
	}
	return OpenLedger(a, lots, terms, calendar.Zone, s.Clock.Now()).expiring(last), nil
}

// rewardOf returns a member's reward; a zero one if it is another member's.
func (s *Service) rewardOf(ctx context.Context, of shop.ID, member AccountID, id RewardID) (Reward, error) {
	r, _, err := s.reward(ctx, of, id)
	if r.Account != member {
		return Reward{}, err
	}
	return r, err
}
