package loyalty

import (
	"fmt"
	"strings"
)

// mergedMark separates, in the source of an entry that moves points after a merge, the
// source of the lot from the member and position that the points came from. Points that
// return to the lot later are moved again.
const mergedMark = "|merged:"

// movedFromOther reports whether points were moved from another member.
func (s Source) movedFromOther() bool { return strings.Contains(s.ID, mergedMark) }

// MoveTo moves all remaining points to another ledger and returns their number. Lots keep
// their source, release and expiry.
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
			Source: Source{lot.Source.Type, fmt.Sprintf("%s%s%d:%d", lot.Source.ID, mergedMark, lot.Account, l.Account.Seq)}, Rule: lot.Rule, Points: n, Actor: by,
			Description: "Moved: two customers were merged",
		}
		l.Reverse(lot.Seq, p)
		to.receive(lot, p)
		sum += n
	}
	return sum
}

// receive adds the remaining points of another member's lot.
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
