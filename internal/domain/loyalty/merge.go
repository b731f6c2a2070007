package loyalty

import (
	"context"
	"fmt"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Merge moves the points and unused rewards of a customer who no longer exists to another
// one. If the other customer is not a member, the membership is transferred. It can be
// repeated.
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
			l, err := d.openAll(ctx, a)
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
			return d.moveMembership(ctx, from, kept)
		}
		from.Settle()
		n := from.MoveTo(to, activity.Platform.By)
		to.Account.Spent = to.Account.Spent.Plus(from.Account.Spent)
		from.Account.Status, from.Account.Spent.Minor = Inactive, 0
		p := &from.Account.Person
		p.Email, p.FirstName, p.LastName, from.Account.Born = "", "", "", ""
		if err := d.moveRewards(ctx, from.Account.ID, to.Account.ID, kept); err != nil {
			return err
		}
		if err := d.save(ctx, from, to); err != nil || n == 0 {
			return err
		}
		return d.record(ctx, activity.Platform, to.Account, note{What: "points of a merged customer", Points: n.Float(), Note: fmt.Sprintf("customer %d was merged with this one", gone)})
	})
}

// moveRewards moves the unused rewards of one member to another. The platform accepts their
// codes from the merged customer.
func (d *memberTx) moveRewards(ctx context.Context, from, to AccountID, kept int64) error {
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

// moveMembership transfers a membership to another customer.
func (d *memberTx) moveMembership(ctx context.Context, l *Ledger, kept int64) error {
	known, err := d.tx.CustomerByID(ctx, kept)
	if err != nil {
		return err
	}
	was := l.Account.Person.Customer
	if l.Account.Person.Customer = kept; known.Customer == kept {
		l.Account.Person = known
	}
	if err := d.moveRewards(ctx, l.Account.ID, l.Account.ID, kept); err != nil {
		return err
	}
	if err := d.save(ctx, l); err != nil {
		return err
	}
	return d.record(ctx, activity.Platform, l.Account, note{What: "membership of a merged customer", Note: fmt.Sprintf("customer %d was merged with this one", was)})
}
