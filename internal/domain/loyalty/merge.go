package loyalty

import (
	"context"
	"fmt"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Merge lets a member have the points and the unused rewards of another one, who is no
// customer any more. Who is no member gets the other one's membership as it is. Done again
// it does nothing more.
func (s *Service) Merge(ctx context.Context, of shop.ID, gone, kept int64) error {
	return s.Store.Update(ctx, of, func(tx Tx) error {
		d, err := s.begin(ctx, tx)
		if err != nil {
			return err
		}
		accounts, err := tx.AccountsOf(ctx, []int64{gone, kept})
		if err != nil {
			return err
		}
		var from, to *Ledger
		for _, a := range accounts {
			l, err := d.whole(ctx, a)
			if err != nil {
				return err
			}
			if a.Person.Customer == gone {
				from = l
			} else {
				to = l
			}
		}
		switch {
		case from == nil:
			return nil
		case to == nil:
			return d.rename(ctx, from, kept)
		}
		from.Settle()
		n := from.MoveTo(to, activity.Platform.By)
		to.Account.Spent = to.Account.Spent.Plus(from.Account.Spent)
		from.Account.Status, from.Account.Spent.Minor = Inactive, 0
		p := &from.Account.Person
		p.Email, p.FirstName, p.LastName, from.Account.Born = "", "", "", ""
		if err := d.inherit(ctx, from.Account.ID, to.Account.ID, kept); err != nil {
			return err
		}
		if err := d.save(ctx, from, to); err != nil || n == 0 {
			return err
		}
		return d.record(ctx, activity.Platform, to.Account, note{What: "points of a merged customer", Points: n.Float(), Note: fmt.Sprintf("customer %d was merged with this one", gone)})
	})
}

// inherit lets a customer have the rewards of a member that are not used, under a
// membership of theirs. The platform lets them use the codes.
func (d *memberTx) inherit(ctx context.Context, from, to AccountID, kept int64) error {
	rewards, err := d.tx.RewardsOf(ctx, []AccountID{from}, Reserved, Issued, Returning)
	if err != nil {
		return err
	}
	for _, r := range rewards {
		r.Account, r.Customer, r.UpdatedAt = to, kept, d.now
		if err := d.tx.PutReward(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// rename lets a customer who is no member have a membership.
func (d *memberTx) rename(ctx context.Context, l *Ledger, kept int64) error {
	known, err := d.tx.CustomerByID(ctx, kept)
	if err != nil {
		return err
	}
	was := l.Account.Person.Customer
	if l.Account.Person.Customer = kept; known.Customer == kept {
		l.Account.Person = known
	}
	if err := d.inherit(ctx, l.Account.ID, l.Account.ID, kept); err != nil {
		return err
	}
	if err := d.save(ctx, l); err != nil {
		return err
	}
	return d.record(ctx, activity.Platform, l.Account, note{What: "membership of a merged customer", Note: fmt.Sprintf("customer %d was merged with this one", was)})
}

// merged stands in the source of an entry that moves points, between the source of the lot
// and where in the ledger of the member who had it they were moved: points that come back to
// the lot are moved again.
const merged = "|merged:"

// movedFromOther reports whether points come from another member.
func (s Source) movedFromOther() bool { return strings.Contains(s.ID, merged) }

// MoveTo moves all that is left of a member's lots to another one, and returns how many
// points that is. Lots keep what they were given for, when they can be spent and until when.
func (l *Ledger) MoveTo(to *Ledger, by string) Points {
	var sum Points
	for i := range l.Lots {
		lot := l.Lots[i]
		n := lot.Remaining
		if lot.Pending {
			n = lot.pendingPoints()
		}
		if n <= 0 {
			continue
		}
		p := Posting{
			Source: Source{lot.Source.Type, fmt.Sprintf("%s%s%d:%d", lot.Source.ID, merged, lot.Account, l.Account.Seq)}, Rule: lot.Rule, Points: n, Actor: by,
			Description: "Moved: two customers were merged",
		}
		l.Reverse(lot.Seq, p)
		to.receive(lot, p)
		sum += n
	}
	return sum
}

// receive lays what is left of another member's lot.
func (l *Ledger) receive(lot Lot, p Posting) {
	here := Lot{Points: p.Points, Pending: lot.Pending, AvailableFrom: lot.AvailableFrom, ExpiresAt: lot.ExpiresAt}
	if here.Pending {
		e := p.entry(Pend)
		e.Pending, e.AvailableAt = p.Points, lot.AvailableFrom
		l.addLot(here, l.post(e))
		return
	}
	here.Remaining = p.Points
	e := p.entry(Earn)
	e.Available, e.AvailableAt, e.ExpiresAt = p.Points, lot.AvailableFrom, lot.ExpiresAt
	e = l.post(e)
	l.addLot(here, e)
	l.payDebt(e.Seq)
}
