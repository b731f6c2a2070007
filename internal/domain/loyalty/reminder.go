package loyalty

import (
	"slices"
	"time"
)

const dayLong = 24 * time.Hour

// reminders are the e-mails before points expire. Each also names the points that expire until covers
// later, which get none of their own: a member whose points expire day by day is not reminded every day.
var reminders = [...]struct{ before, covers time.Duration }{
	{before: 30 * dayLong, covers: 7 * dayLong},
	{before: 3 * dayLong, covers: 3 * dayLong},
}

// Reminded has, for each reminder, the last expiry that the member was reminded of.
type Reminded [len(reminders)]time.Time

// remind is a reminder that falls due.
type remind struct {
	of          int       // index in reminders
	first, last time.Time // expiries that it names
}

// ExpiringPoints is points that expire at an instant.
type ExpiringPoints struct {
	At     time.Time
	Points Points
}

// expires returns when the rest of a lot expires, zero for never, and since when that is known.
func (l *Ledger) expires(lot Lot) (at, since time.Time) {
	at, since = lot.ExpiresAt, lot.AvailableFrom
	if idle := l.terms.Expiry.idle(l.Account.ActiveAt, l.zone); !idle.IsZero() && (at.IsZero() || idle.Before(at)) {
		at, since = idle, l.Account.ActiveAt
	}
	return at, since
}

// nextReminder returns when the member must be reminded of points that expire; zero: not of any that
// there are. There is no reminder before points that were given later than its instant.
func (l *Ledger) nextReminder() (next time.Time) {
	for i := range reminders {
		for _, lot := range l.Lots {
			at, since := l.expires(lot)
			if lot.Pending || lot.Remaining <= 0 || at.IsZero() || !at.After(l.Account.Reminded[i]) {
				continue
			}
			if due := at.Add(-reminders[i].before); due.After(since) && (next.IsZero() || due.Before(next)) {
				next = due
			}
		}
	}
	return next
}

// remind takes up the reminders that are due. Of several the last one counts.
func (l *Ledger) remind() {
	if l.partial {
		return
	}
	for i, r := range reminders {
		due := slices.ContainsFunc(l.Lots, func(lot Lot) bool {
			at, since := l.expires(lot)
			return !lot.Pending && lot.Remaining > 0 && at.After(l.Account.Reminded[i]) && at.After(l.now) && !at.Add(-r.before).After(l.now) && at.Add(-r.before).After(since)
		})
		if !due {
			continue
		}
		named := l.expiring(l.now.Add(r.before + r.covers))
		l.reminds = &remind{of: i, first: named[0].At, last: named[len(named)-1].At}
		l.Account.Reminded[i] = l.reminds.last
	}
}

// expiring returns the points that expire after now and not after an instant, by when.
func (l *Ledger) expiring(last time.Time) []ExpiringPoints {
	var list []ExpiringPoints
	for _, lot := range l.Lots {
		at, _ := l.expires(lot)
		if lot.Pending || lot.Remaining <= 0 || !at.After(l.now) || at.After(last) {
			continue
		}
		if i := slices.IndexFunc(list, func(e ExpiringPoints) bool { return e.At.Equal(at) }); i >= 0 {
			list[i].Points += lot.Remaining
			continue
		}
		list = append(list, ExpiringPoints{at, lot.Remaining})
	}
	slices.SortFunc(list, func(a, b ExpiringPoints) int { return a.At.Compare(b.At) })
	return list
}
