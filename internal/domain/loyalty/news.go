package loyalty

import (
	"context"
	"time"
)

// Event is what servers of the merchant's may want to know of a member.
type Event struct {
	Kind     EventKind
	Customer int64
	Record   int64 // of what it is: a member, a transaction, a reward or store credit
	At       time.Time
}

// EventKind says what happened.
type EventKind string

// The kinds of news.
const (
	SignedUp      EventKind = "SIGNED_UP"      // a customer became a member
	PointsEarned  EventKind = "POINTS_EARNED"  // a transaction gave points, pending ones too
	PointsSpent   EventKind = "POINTS_SPENT"   // a reward that was taken can be used
	CreditsEarned EventKind = "CREDITS_EARNED" // store credit was given
	TierAchieved  EventKind = "TIER_ACHIEVED"  // a transaction brought the member to a higher tier
	Referred      EventKind = "REFERRED"       // a transaction gave points for a friend who was referred
	BirthdayCame  EventKind = "BIRTHDAY_CAME"  // a transaction gave points for a birthday
)

// occasions are those of which more is told than that they gave points.
var occasions = map[SourceType]EventKind{Referral: Referred, Birthday: BirthdayCame}

// gives reports whether the entry gives points that the member did not have. What is
// released was given before, and so was what comes back from a reward, or from a customer
// who was merged.
func (e Entry) gives() bool {
	return !e.Source.movedFromOther() && (e.Kind == Earn || e.Kind == Pend || e.Kind == Adjust && e.Available > 0)
}

// newsOf returns what ledgers tell that are about to be written. Their entries must
// have their numbers.
func (d *memberTx) newsOf(ledgers []*Ledger) []Event {
	var list []Event
	for _, l := range ledgers {
		customer := l.Account.Person.Customer
		if l.Account.Version == firstVersion {
			list = append(list, Event{SignedUp, customer, int64(l.Account.ID), d.now})
		}
		for _, e := range l.Entries {
			if e.gives() {
				list = append(list, Event{PointsEarned, customer, int64(e.ID), d.now})
				if kind := occasions[e.Source.Type]; kind != "" {
					list = append(list, Event{kind, customer, int64(e.ID), d.now})
				}
			}
		}
		if n := len(l.Entries); n > 0 && l.reachedTier() {
			list = append(list, Event{TierAchieved, customer, int64(l.Entries[n-1].ID), d.now})
		}
	}
	return append(list, d.given...)
}

// reachedTier reports whether the member has reached a higher tier.
func (l *Ledger) reachedTier() bool {
	was, _ := l.terms.TiersOf(l.earnedBefore)
	is, _ := l.terms.TiersOf(l.Account.Sums.Earned)
	return is != nil && (was == nil || is.Points > was.Points)
}

// firstVersion is that of a member whom the same transaction has added: whoever adds
// one writes the ledger too.
const firstVersion = 1

// issued tells that a reward can be used.
func (d *memberTx) issued(ctx context.Context, r Reward) error {
	return d.tx.PublishMemberEvents(ctx, Event{PointsSpent, r.Customer, int64(r.ID), d.now})
}
