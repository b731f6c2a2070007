package loyalty

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Audit computes a member's totals and lots from all entries and reports whether the stored
// ones are the same. With repair, it writes the computed ones when they differ.
func (s *Service) Audit(ctx context.Context, of shop.ID, who CustomerRef, repair bool) (same bool, err error) {
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		_, _, same, err = recompute(ctx, tx, who)
		return err
	})
	if err != nil || same || !repair {
		return same, err
	}
	err = s.Store.Update(ctx, of, func(tx Tx) error {
		d, err := s.begin(ctx, tx)
		if err != nil {
			return err
		}
		var a Account
		var lots []Lot
		if a, lots, same, err = recompute(ctx, tx, who); err != nil || same {
			return err
		}
		l := d.ledger(a, lots)
		for _, lot := range lots {
			l.touch(lot.Seq)
		}
		return d.save(ctx, l)
	})
	return same, err
}

// recompute returns a member with the totals and lots that follow from all entries, and
// whether the stored ones are the same.
func recompute(ctx context.Context, tx ReadTx, who CustomerRef) (a Account, lots []Lot, same bool, err error) {
	if a, err = findAccount(ctx, tx, who); err != nil {
		return Account{}, nil, false, err
	}
	entries, uses, kept, err := tx.Ledger(ctx, a.ID)
	if err != nil {
		return Account{}, nil, false, err
	}
	sums, lots := Rebuild(entries, uses)
	same = sums.equal(a.Sums) && slices.EqualFunc(lots, kept, Lot.equal)
	a.Sums = sums
	return a, lots, same, nil
}

func (s Sums) equal(o Sums) bool {
	if len(s.Rewarded) != len(o.Rewarded) {
		return false
	}
	for k, n := range s.Rewarded {
		if o.Rewarded[k] != n {
			return false
		}
	}
	return s.Available == o.Available && s.Pending == o.Pending && s.Credited == o.Credited && s.Spent == o.Spent && s.Expired == o.Expired &&
		s.Earned == o.Earned && s.Debt == o.Debt && s.Activities == o.Activities
}

func (l Lot) equal(o Lot) bool {
	same := func(a, b time.Time) bool { return a.Equal(b) }
	return l.Account == o.Account && l.Seq == o.Seq && l.Points == o.Points && l.Pending == o.Pending && same(l.AvailableFrom, o.AvailableFrom) &&
		same(l.ExpiresAt, o.ExpiresAt) && l.Remaining == o.Remaining && l.Expired == o.Expired && l.Reversed == o.Reversed && l.Absorbed == o.Absorbed
}
