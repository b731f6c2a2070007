package loyalty

import (
	"context"
	"time"
)

// News is what servers of the merchant's may want to know of a member.
type News struct {
	Kind     NewsKind
	Customer int64
	Record   int64 // of what it is: a member, a transaction, a reward or store credit
	At       time.Time
}

// NewsKind says what happened.
type NewsKind string

// The kinds of news.
const (
	SignedUp      NewsKind = "SIGNED_UP"      // a customer became a member
	PointsEarned  NewsKind = "POINTS_EARNED"  // a transaction gave points, pending ones too
	PointsSpent   NewsKind = "POINTS_SPENT"   // a reward that was taken can be used
	CreditsEarned NewsKind = "CREDITS_EARNED" // store credit was given
	TierAchieved  NewsKind = "TIER_ACHIEVED"  // a transaction brought the member to a higher tier
	Referred      NewsKind = "REFERRED"       // a transaction gave points for a friend who was referred
	BirthdayCame  NewsKind = "BIRTHDAY_CAME"  // a transaction gave points for a birthday
)

// occasions are those of which more is told than that they gave points.
var occasions = map[Occasion]NewsKind{Referral: Referred, Birthday: BirthdayCame}

// gives reports whether the entry gives points that the member did not have. What is
// released was given before, and so was what comes back from a reward, or from a customer
// who was merged.
func (e Entry) gives() bool {
	return !e.Source.moved() && (e.Kind == Earn || e.Kind == Pend || e.Kind == Adjust && e.Available > 0)
}

// newsOf returns what ledgers tell that are about to be written. Their entries must
// have their numbers.
func (d *memberTx) newsOf(ledgers []*Ledger) []News {
	var list []News
	for _, l := range ledgers {
		customer := l.Account.Person.Customer
		if l.Account.Version == firstVersion {
			list = append(list, News{SignedUp, customer, int64(l.Account.ID), d.now})
		}
		for _, e := range l.Entries {
			if e.gives() {
				list = append(list, News{PointsEarned, customer, int64(e.ID), d.now})
				if kind := occasions[e.Source.Of]; kind != "" {
					list = append(list, News{kind, customer, int64(e.ID), d.now})
				}
			}
		}
		if n := len(l.Entries); n > 0 && l.rose() {
			list = append(list, News{TierAchieved, customer, int64(l.Entries[n-1].ID), d.now})
		}
	}
	return append(list, d.given...)
}

// rose reports whether the member has reached a higher tier.
func (l *Ledger) rose() bool {
	was, _ := l.terms.TiersOf(l.began)
	is, _ := l.terms.TiersOf(l.Account.Sums.Earned)
	return is != nil && (was == nil || is.Points > was.Points)
}

// firstVersion is that of a member whom the same transaction has added: whoever adds
// one writes the ledger too.
const firstVersion = 1

// issued tells that a reward can be used.
func (d *memberTx) issued(ctx context.Context, r Taken) error {
	return d.tx.Tell(ctx, News{PointsSpent, r.Customer, int64(r.ID), d.now})
}
