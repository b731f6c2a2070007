package loyalty

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
)

// Event is something that happened to a member and that webhooks can report.
type Event struct {
	Kind     EventKind
	Customer int64
	Record   int64 // id of the account, entry, reward or store credit that the event is about
	At       time.Time
	Actor    activity.Actor // who caused it
}

// EventKind says what happened.
type EventKind string

// The kinds of events.
const (
	SignedUp      EventKind = "SIGNED_UP"      // a customer became a member
	PointsEarned  EventKind = "POINTS_EARNED"  // an entry added points, which may be pending
	PointsSpent   EventKind = "POINTS_SPENT"   // a redeemed reward can be used
	CreditsEarned EventKind = "CREDITS_EARNED" // store credit was added
	TierAchieved  EventKind = "TIER_ACHIEVED"  // an entry raised the member to a higher tier
	Referred      EventKind = "REFERRED"       // an entry added points for referring a friend
	BirthdayCame  EventKind = "BIRTHDAY_CAME"  // an entry added points for a birthday
)

// eventOfSource holds the source types that publish an event of their own in addition
// to PointsEarned.
var eventOfSource = map[SourceType]EventKind{Referral: Referred, Birthday: BirthdayCame}

// gives reports whether the entry adds points that are new. Released points, points
// returned from a reward, and points moved from a merged customer were added before.
func (e Entry) gives() bool {
	return !e.Source.movedFromOther() && (e.Kind == Earn || e.Kind == Pend || e.Kind == Adjust && e.Available > 0)
}
