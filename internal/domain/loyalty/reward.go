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

// RewardID is the id of a reward, unique within a shop.
type RewardID int64

// Reward is a reward that a member redeemed points for.
type Reward struct {
	ID          RewardID
	Account     AccountID
	Payer       AccountID // spent the points; differs from Account after a merge
	Customer    int64
	Rule        RuleID
	Type        RedeemType
	State       State
	Code        string // empty for store credit
	PlatformID  string // graph id of the discount; empty until it is issued
	Description string
	Points      Points // spent
	Value       money.Amount
	Percent     int
	MinPurchase money.Amount
	Combines    bool
	Entry       EntryID // of the entry that spent the points
	EntrySeq    int64
	Order       int64 // that used it
	OrderName   string
	Uses        int
	Failures    int    // failed calls to the platform
	Reason      string // for the cancellation
	DueAt       time.Time
	CreatedAt   time.Time
	IssuedAt    time.Time
	ExpiresAt   time.Time
	UsedAt      time.Time
	UpdatedAt   time.Time
	Version     int64
}

// State is the internal state of a reward.
type State string

// The states of a reward.
const (
	Reserved  State = "RESERVED"  // the points are spent; the code is not on the platform yet
	Issued    State = "ISSUED"    // the code can be used
	Used      State = "USED"      // an order used the code
	Lapsed    State = "EXPIRED"   // the code ended unused
	Returning State = "RETURNING" // the code is being ended on the platform
	Cancelled State = "CANCELLED" // the points were refunded
)

// States lists every state.
var States = []State{Reserved, Issued, Used, Lapsed, Returning, Cancelled}

// moves lists the allowed transitions.
var moves = map[State][]State{
	Reserved:  {Issued, Cancelled},
	Issued:    {Used, Lapsed, Returning},
	Used:      {Issued, Returning},
	Lapsed:    {Issued, Used},
	Returning: {Cancelled, Used},
}

// move changes the state, or fails when the transition is not allowed.
func (r *Reward) move(to State) error {
	for _, allowed := range moves[r.State] {
		if allowed == to {
			r.State = to
			return nil
		}
	}
	return fault.New(fault.FailedPrecondition, "the reward %d is %s and cannot become %s", r.ID, r.Status(), statusOf[to]).Entity("loyaltyReward").Code("rewardStatus").Field("status")
}

// RewardStatus is the public status of a reward.
type RewardStatus string

// The public statuses.
const (
	Unused      RewardStatus = "UNUSED"
	StatusUsed  RewardStatus = "USED"
	Refunded    RewardStatus = "REFUNDED"
	ExpiredCode RewardStatus = "EXPIRED"
)

// RewardStatuses lists every public status.
var RewardStatuses = []RewardStatus{Unused, StatusUsed, Refunded, ExpiredCode}

var statusOf = map[State]RewardStatus{
	Reserved: Unused, Issued: Unused, Used: StatusUsed, Lapsed: ExpiredCode, Returning: Refunded, Cancelled: Refunded,
}

// Status returns the public status.
func (r Reward) Status() RewardStatus { return statusOf[r.State] }

// StatesOf returns the states with a public status.
func StatesOf(s RewardStatus) []State {
	var in []State
	for _, state := range States {
		if statusOf[state] == s {
			in = append(in, state)
		}
	}
	return in
}

// codeOf returns the discount code of a reward. It is a hash of the store's token, the
// reward's id and the time of the redemption, so that it cannot be guessed from another
// code. The id alone is not enough: a restored database assigns ids again, and the
// platform still has the code of the reward that had the id before.
func codeOf(prefix string, secret platform.Token, id RewardID, taken time.Time) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "reward|%d|%d|%s", id, taken.UnixMilli(), string(secret)))
	text := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:8])[:10]
	if prefix == "" {
		return text
	}
	return prefix + "-" + text
}

// CreditID is the id of store credit, unique within a shop.
type CreditID int64

// Credit is store credit that a member received.
type Credit struct {
	ID      CreditID // assigned by the store
	Account AccountID
	Source  Source
	Amount  money.Amount
	Note    string
	Actor   string
	At      time.Time
}
