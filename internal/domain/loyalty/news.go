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
)

// gives reports whether the entry gives points that the member did not have. What is
// released was given before, and so was what comes back from a reward.
func (e Entry) gives() bool {
	return e.Kind == Earn || e.Kind == Pend || e.Kind == Adjust && e.Available > 0
}

// newsOf returns what ledgers tell that are about to be written. Their entries must
// have their numbers.
func (d *desk) newsOf(ledgers []*Ledger) []News {
	var list []News
	for _, l := range ledgers {
		customer := l.Account.Person.Customer
		if l.Account.Version == firstVersion {
			list = append(list, News{SignedUp, customer, int64(l.Account.ID), d.now})
		}
		for _, e := range l.Entries {
			if e.gives() {
				list = append(list, News{PointsEarned, customer, int64(e.ID), d.now})
			}
		}
	}
	return append(list, d.given...)
}

// firstVersion is that of a member whom the same transaction has added: whoever adds
// one writes the ledger too.
const firstVersion = 1

// issued tells that a reward can be used.
func (d *desk) issued(ctx context.Context, r Taken) error {
	return d.tx.Tell(ctx, News{PointsSpent, r.Customer, int64(r.ID), d.now})
}
