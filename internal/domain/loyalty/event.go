package loyalty

import (
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
