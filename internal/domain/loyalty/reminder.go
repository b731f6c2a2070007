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

// lapse is what is left of a lot, when it expires, and since when that is known.
type lapse struct {
	ExpiringPoints

	since time.Time
}

// lapses returns the points that can be spent and expire.
func (l *Ledger) lapses() (list []lapse) {
	idle := l.terms.Expiry.idle(l.Account.ActiveAt, l.zone)
	for _, lot := range l.Lots {
		at, since := lot.ExpiresAt, lot.AvailableFrom
		if !idle.IsZero() && (at.IsZero() || idle.Before(at)) {
			at, since = idle, l.Account.ActiveAt
		}
		if !lot.Pending && lot.Remaining > 0 && !at.IsZero() {
			list = append(list, lapse{ExpiringPoints{at, lot.Remaining}, since})
		}
	}
	return list
}

// reminder returns when a reminder of them is due; zero: it was sent, or the points were given later.
func (p lapse) reminder(i int, of Account) time.Time {
	if due := p.At.Add(-reminders[i].before); p.At.After(of.Reminded[i]) && due.After(p.since) {
		return due
	}
	return time.Time{}
}

// nextReminder returns when the member must be reminded of points that expire; zero: not of any that
// there are. There is no reminder before points that were given later than its instant.
func (l *Ledger) nextReminder() (next time.Time) {
	for _, p := range l.lapses() {
		for i := range reminders {
			if due := p.reminder(i, l.Account); !due.IsZero() && (next.IsZero() || due.Before(next)) {
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
		due := slices.ContainsFunc(l.lapses(), func(p lapse) bool {
			at := p.reminder(i, l.Account)
			return p.At.After(l.now) && !at.IsZero() && !at.After(l.now)
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
	for _, p := range l.lapses() {
		if !p.At.After(l.now) || p.At.After(last) {
			continue
		}
		if i := slices.IndexFunc(list, func(e ExpiringPoints) bool { return e.At.Equal(p.At) }); i >= 0 {
			list[i].Points += p.Points
			continue
		}
		list = append(list, p.ExpiringPoints)
	}
	slices.SortFunc(list, func(a, b ExpiringPoints) int { return a.At.Compare(b.At) })
	return list
}
