package loyalty

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
)

// AccountID is the id of a member, unique within a shop.
type AccountID int64

// Account is a member. It stores the sums of the member's ledger, so that reading
// them is cheap; Rebuild computes them from the entries.
type Account struct {
	ID           AccountID
	Person       Person
	Status       Status
	Born         string // YYYY-MM-DD, may be empty
	ReferralCode string
	EnrolledAt   time.Time
	ActiveAt     time.Time // when points last moved, except by expiry
	Sums         Sums
	Spent        money.Amount // on orders in the store's currency
	Credit       money.Amount // store credit received, in the store's currency
	Seq          int64        // of the last entry
	DueAt        time.Time    // when points are next released or expire, or the member is reminded of that; zero: never
	Reminded     Reminded
	CreatedAt    time.Time
	UpdatedAt    time.Time
	Version      int64
}

// inCurrency returns the account with its amounts in the store's currency. Amounts in
// a currency that the store had before count as zero.
func (a Account) inCurrency(store money.Currency) Account {
	if a.Spent.Currency != store {
		a.Spent, a.Credit = money.Amount{Currency: store}, money.Amount{Currency: store}
	}
	return a
}

// Status says whether a member participates in the programme.
type Status string

// The statuses of a member.
const (
	Active             Status = "ACTIVE"
	Inactive           Status = "INACTIVE"
	Excluded           Status = "EXCLUDED"
	ExcludedByCustomer Status = "EXCLUDED_BY_CUSTOMER"
)

// takesPart reports whether the member earns and redeems points.
func (s Status) takesPart() bool { return s == Active }

// Sums are the totals of a member's entries.
type Sums struct {
	Available  Points // can be spent; negative when more was reversed than was available
	Pending    Points
	Credited   Points // all points ever made available, earned or added manually
	Spent      Points // on rewards that were not refunded
	Expired    Points
	Earned     Points // earned by activities, less what was reversed
	Debt       Points // reversed points that the member no longer had
	Activities int64  // activities that earned available points and were not reversed
	// Rewarded counts, by type, the activities that earned points, pending ones
	// included, and were not reversed.
	Rewarded map[SourceType]int64
}

// apply adds an entry to the totals. It does not change Debt, which follows from uses.
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

// Kind is the kind of an entry.
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

// EntryID is the id of an entry, unique within a shop.
type EntryID int64

// Entry is one posting in a member's ledger. Entries are immutable.
type Entry struct {
	ID        EntryID // assigned by the store
	Account   AccountID
	Seq       int64 // position in the account's ledger, from 1
	Kind      Kind
	Pending   Points // change of the pending points
	Available Points // change of the available points
	Lot       int64  // Seq of the entry that created the lot concerned; 0: none
	Full      bool   // Reverse only: the whole lot is now reversed
	Absorbed  Points // Reverse only: points not deducted, because they had expired or the member had no more; negative: a correction of an earlier entry
	Source    Source
	Rule      RuleID
	Reward    RewardID
	// AvailableAt and ExpiresAt are those of the lot that the entry creates or
	// releases. Zero means by approval only, and never.
	AvailableAt time.Time
	ExpiresAt   time.Time
	Description string // for the customer
	Note        string // for the merchant
	Actor       string
	OccurredAt  time.Time
	RecordedAt  time.Time
}

// Lot is a batch of points that were earned together. Seq is that of the entry that
// created it. Every field below Points follows from later entries.
type Lot struct {
	Account       AccountID
	Seq           int64
	Source        Source
	Rule          RuleID
	Points        Points
	Pending       bool
	AvailableFrom time.Time // when it is released automatically; zero: by approval only
	ExpiresAt     time.Time // zero: never
	Remaining     Points    // can still be spent
	Expired       Points
	Reversed      Points // including Absorbed
	Absorbed      Points // the part of Reversed that could not be deducted
}

// open reports whether the lot can still be released or expire.
func (l Lot) open() bool { return l.Pending || l.Remaining > 0 }

// pendingPoints returns the points of the lot that are pending.
func (l Lot) pendingPoints() Points {
	if !l.Pending {
		return 0
	}
	return l.Points - l.Reversed
}

// Use says which lot an entry's points came from or went to. Uses are immutable.
type Use struct {
	Account AccountID
	Entry   int64 // Seq
	Lot     int64 // Seq of the lot's entry; 0: none
	Role    Role
	Points  Points // more than 0
}

// Role is the direction of a use.
type Role string

// The roles.
const (
	Take Role = "TAKE" // from the lot
	Owe  Role = "OWE"  // adds to the member's debt
	Pay  Role = "PAY"  // from the lot, to reduce debt
	Back Role = "BACK" // returned to the lot
)

// byExpiry orders lots as they are spent: soonest expiry first, then oldest first.
func byExpiry(a, b Lot) int {
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

// Expiring returns when points of the lots next expire and how many expire then. Both
// are zero when none do.
func Expiring(a Account, lots []Lot, terms Terms, zone *time.Location) (time.Time, Points) {
	if idle := terms.Expiry.idle(a.ActiveAt, zone); !idle.IsZero() {
		if a.Sums.Available <= 0 {
			return time.Time{}, 0
		}
		return idle, a.Sums.Available
	}
	sorted := slices.SortedFunc(slices.Values(lots), byExpiry)
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
