package loyalty

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform"
)

// RewardID is the service's number of a reward, unique within a shop.
type RewardID int64

// Reward is a reward that a member took.
type Reward struct {
	ID          RewardID
	Account     AccountID
	Payer       AccountID // who spent the points: another one, when they were merged since
	Customer    int64
	Rule        RuleID
	Type        RedeemType
	State       State
	Code        string // empty for store credit
	PlatformID  string // graph id of the discount; empty before it is issued
	Description string
	Points      Points // that were spent
	Value       money.Amount
	Percent     int
	MinPurchase money.Amount
	Combines    bool
	Entry       EntryID // that spent the points
	EntrySeq    int64
	Order       int64 // that it was used on
	OrderName   string
	Uses        int
	Failures    int    // calls that found the platform unreachable
	Reason      string // why it was cancelled
	DueAt       time.Time
	CreatedAt   time.Time
	IssuedAt    time.Time
	ExpiresAt   time.Time
	UsedAt      time.Time
	UpdatedAt   time.Time
	Version     int64
}

// State is how far a reward is.
type State string

// The states of a reward.
const (
	Reserved  State = "RESERVED"  // points are spent; the platform does not have it yet
	Issued    State = "ISSUED"    // can be used
	Used      State = "USED"      // by an order
	Lapsed    State = "EXPIRED"   // was not used in time
	Returning State = "RETURNING" // is being taken away at the platform
	Cancelled State = "CANCELLED" // points were given back
)

// States lists every state.
var States = []State{Reserved, Issued, Used, Lapsed, Returning, Cancelled}

// moves lists every move between states.
var moves = map[State][]State{
	Reserved:  {Issued, Cancelled},
	Issued:    {Used, Lapsed, Returning},
	Used:      {Issued, Returning},
	Lapsed:    {Issued, Used},
	Returning: {Cancelled, Used},
}

// move changes the state, or says why it cannot.
func (r *Reward) move(to State) error {
	for _, allowed := range moves[r.State] {
		if allowed == to {
			r.State = to
			return nil
		}
	}
	return fault.New(fault.FailedPrecondition, "the reward %d is %s and cannot become %s", r.ID, r.Status(), standings[to]).Entity("loyaltyReward").Code("rewardStatus").Field("status")
}

// RewardStatus is what callers are told of a reward's state.
type RewardStatus string

// The standings.
const (
	Unused      RewardStatus = "UNUSED"
	StatusUsed  RewardStatus = "USED"
	Refunded    RewardStatus = "REFUNDED"
	ExpiredCode RewardStatus = "EXPIRED"
)

// RewardStatuses lists every standing.
var RewardStatuses = []RewardStatus{Unused, StatusUsed, Refunded, ExpiredCode}

var standings = map[State]RewardStatus{
	Reserved: Unused, Issued: Unused, Used: StatusUsed, Lapsed: ExpiredCode, Returning: Refunded, Cancelled: Refunded,
}

// RewardStatus returns what callers are told.
func (r Reward) Status() RewardStatus { return standings[r.State] }

// StatesOf returns the states that have a standing.
func StatesOf(s RewardStatus) []State {
	var in []State
	for _, state := range States {
		if standings[state] == s {
			in = append(in, state)
		}
	}
	return in
}

// CreditID is the service's number of store credit that was given, unique within a
// shop.
type CreditID int64

// Credit is store credit that was given to a member.
type Credit struct {
	ID      CreditID // given by the store
	Account AccountID
	Source  Source
	Amount  money.Amount
	Note    string
	Actor   string
	At      time.Time
}

// codeOf returns the discount code of a reward. It is a function of the store, the
// reward's number and when it was taken, so that it cannot be guessed from another
// code. The number alone would not do: a restored database hands numbers out once
// more, and the platform has the code of whoever had the number before.
func codeOf(prefix string, secret platform.Token, id RewardID, taken time.Time) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "reward|%d|%d|%s", id, taken.UnixMilli(), string(secret)))
	text := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:8])[:10]
	if prefix == "" {
		return text
	}
	return prefix + "-" + text
}
