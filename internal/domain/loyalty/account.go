package loyalty

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
)

// AccountID is the service's number of a member, unique within a shop.
type AccountID int64

// Account is a member. What its ledger adds up to is kept with it, so that
// reading it is cheap; Rebuild computes it anew.
type Account struct {
	ID           AccountID
	Person       Person
	Status       Status
	Born         string // YYYY-MM-DD, may be empty
	ReferralCode string
	EnrolledAt   time.Time
	ActiveAt     time.Time // when points were last moved, other than by expiry
	Sums         Sums
	Spent        money.Amount // on orders in the store's currency
	Credit       money.Amount // store credit that was given, in the store's currency
	Seq          int64        // of the last entry
	DueAt        time.Time    // when points are released or expire next; zero: never
	CreatedAt    time.Time
	UpdatedAt    time.Time
	Version      int64
}

// in returns the account of a store with a currency. What was spent and given in the one
// that the store had before is none of it.
func (a Account) in(store money.Currency) Account {
	if a.Spent.Currency != store {
		a.Spent, a.Credit = money.Amount{Currency: store}, money.Amount{Currency: store}
	}
	return a
}

// Status is whether a member takes part.
type Status string

// The statuses of a member.
const (
	Active             Status = "ACTIVE"
	Inactive           Status = "INACTIVE"
	Excluded           Status = "EXCLUDED"
	ExcludedByCustomer Status = "EXCLUDED_BY_CUSTOMER"
)

// takesPart reports whether the member earns and redeems.
func (s Status) takesPart() bool { return s == Active }

// Sums are what the entries of a member add up to.
type Sums struct {
	Available  Points // can be spent; below zero when more was taken back than was there
	Pending    Points
	Credited   Points // ever made available by earning or by hand
	Spent      Points // on rewards that were not given back
	Expired    Points
	Earned     Points // by occasions, without what was taken back
	Debt       Points // what is missing when more was taken back than was there
	Activities int64  // occasions that earned available points and were not taken back
	// Rewarded counts occasions that earned points, pending ones too, and were
	// not taken back.
	Rewarded map[SourceType]int64
}

// apply adds an entry. Debt follows from uses and is not among what it changes.
func (s *Sums) apply(e Entry) {
	s.Available += e.Available
	s.Pending += e.Pending
	earns := e.Source.Type != Manual && e.Source.Type != Import
	switch e.Kind {
	case Pend:
		s.reward(e.Source.Type, 1)
	case Earn, Release:
		s.Credited += e.Available
		if earns {
			s.Earned += e.Available
			s.Activities++
		}
		if e.Kind == Earn {
			s.reward(e.Source.Type, 1)
		}
	case Adjust:
		s.Credited += max(e.Available, 0)
	case Spend, RefundSpend:
		s.Spent -= e.Available
	case Expire:
		s.Expired -= e.Available
	case Reverse:
		if e.Full {
			s.reward(e.Source.Type, -1)
		}
		if e.Pending == 0 && earns {
			s.Earned += e.Available - e.Absorbed
			if e.Full {
				s.Activities--
			}
		}
	}
}

func (s *Sums) reward(o SourceType, n int64) {
	if s.Rewarded == nil {
		s.Rewarded = make(map[SourceType]int64)
	}
	if s.Rewarded[o] += n; s.Rewarded[o] == 0 {
		delete(s.Rewarded, o)
	}
}

// Kind says what an entry does.
type Kind string

// The kinds of entry.
const (
	Pend        Kind = "EARN_PENDING"
	Release     Kind = "RELEASE"
	Earn        Kind = "EARN"
	Spend       Kind = "SPEND"
	Expire      Kind = "EXPIRE"
	Adjust      Kind = "ADJUST"
	Reverse     Kind = "REVERSE"
	RefundSpend Kind = "REFUND_SPEND"
)

// EntryID is the service's number of an entry, unique within a shop.
type EntryID int64

// Entry is one line of a member's ledger. It is never altered.
type Entry struct {
	ID        EntryID // given by the store
	Account   AccountID
	Seq       int64 // counts the account's entries, from 1
	Kind      Kind
	Pending   Points // change of what is pending
	Available Points // change of what is available
	Lot       int64  // the lot that it is about, by Seq of the entry that made the lot; 0: none
	Full      bool   // of Reverse: nothing of the lot is left to take back
	Absorbed  Points // of Reverse: what is not taken, because it had expired already or because there was no more; below 0: so much less than was noted before
	Source    Source
	Rule      RuleID
	Reward    RewardID
	// AvailableAt and ExpiresAt are those of the lot that the entry makes or
	// releases; zero: by approval only, and never.
	AvailableAt time.Time
	ExpiresAt   time.Time
	Description string // for the customer
	Note        string // for the merchant
	Actor       string
	OccurredAt  time.Time
	RecordedAt  time.Time
}

// Lot is points that were earned together. Seq is that of the entry that made
// them. Everything below Points follows from later entries.
type Lot struct {
	Account       AccountID
	Seq           int64
	Source        Source
	Rule          RuleID
	Points        Points
	Pending       bool      // still pending
	AvailableFrom time.Time // when it is released by itself; zero: by approval only
	ExpiresAt     time.Time // zero: never
	Remaining     Points    // can still be spent
	Expired       Points
	Reversed      Points // taken back, with Absorbed
	Absorbed      Points // of Reversed: what was not there to be taken
}

// open reports whether anything can still happen to the lot by itself.
func (l Lot) open() bool { return l.Pending || l.Remaining > 0 }

// pendingPoints returns the points that are pending.
func (l Lot) pendingPoints() Points {
	if !l.Pending {
		return 0
	}
	return l.Points - l.Reversed
}

// Use says which lot an entry's points came from or went to. It is never
// altered.
type Use struct {
	Account AccountID
	Entry   int64 // Seq
	Lot     int64 // Seq of the lot; 0: none
	Role    Role
	Points  Points // more than 0
}

// Role says what a use does.
type Role string

// The roles.
const (
	Take Role = "TAKE" // from the lot, to be gone
	Owe  Role = "OWE"  // from nowhere: debt
	Pay  Role = "PAY"  // from the lot, for debt
	Back Role = "BACK" // into the lot again
)

// sooner orders lots as they are spent: what expires first, then what is
// oldest.
func sooner(a, b Lot) int {
	switch {
	case a.ExpiresAt.Equal(b.ExpiresAt):
	case a.ExpiresAt.IsZero():
		return 1
	case b.ExpiresAt.IsZero():
		return -1
	default:
		return a.ExpiresAt.Compare(b.ExpiresAt)
	}
	return int(a.Seq - b.Seq)
}

// Expiring returns the next instant at which points of the lots expire, and how
// many then; zero when none do.
func Expiring(a Account, lots []Lot, terms Terms, zone *time.Location) (time.Time, Points) {
	if idle := terms.Expiry.idle(a.ActiveAt, zone); !idle.IsZero() {
		if a.Sums.Available <= 0 {
			return time.Time{}, 0
		}
		return idle, a.Sums.Available
	}
	sorted := slices.SortedFunc(slices.Values(lots), sooner)
	var at time.Time
	var sum Points
	for _, l := range sorted {
		if l.Remaining <= 0 || l.ExpiresAt.IsZero() {
			continue
		}
		if at.IsZero() {
			at = l.ExpiresAt
		}
		if l.ExpiresAt.Equal(at) {
			sum += l.Remaining
		}
	}
	return at, sum
}
