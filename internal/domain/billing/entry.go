package billing

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/swap"
)

// NoLongerSkipped is the reason in the entry about a skip that was undone.
const NoLongerSkipped = "no longer skipped"

// EntryInfo is the additional information of an entry about an attempt.
type EntryInfo struct {
	Cycle        int    `json:"cycle,omitempty"`
	Try          int    `json:"try,omitempty"`
	OrderID      int64  `json:"orderId,omitempty"`
	OrderName    string `json:"orderName,omitempty"`
	Amount       string `json:"amount,omitempty"`
	Currency     string `json:"currency,omitempty"`
	ErrorCode    string `json:"errorCode,omitempty"`
	ErrorMessage string `json:"errorMessage,omitempty"`
	Reason       string `json:"reason,omitempty"`
	From         string `json:"from,omitempty"` // date-time, UTC; of a box, pieces, or an amount in the contract's currency
	To           string `json:"to,omitempty"`

	Variant   int64          `json:"variantId,omitempty"`
	Quantity  int            `json:"quantity,omitempty"`
	Rule      int64          `json:"ruleId,omitempty"`
	RuleName  string         `json:"ruleName,omitempty"`
	Silent    bool           `json:"silent,omitempty"` // the rule sends no e-mail
	Removed   []swap.Product `json:"removed,omitempty"`
	Added     []swap.Product `json:"added,omitempty"`
	AppliesAt time.Time      `json:"appliesAt,omitzero"` // of a swap that is announced: when its order is due
	Target    string         `json:"target,omitempty"`   // graph id
	Tags      []string       `json:"tags,omitempty"`
	Untagged  []string       `json:"removedTags,omitempty"`
}

// NewEntry returns an entry about an attempt.
func NewEntry(a Attempt, event activity.EventType, status activity.Status, by activity.Actor, now time.Time, o EntryInfo) activity.Entry {
	return activity.Entry{
		EntityID: int64(a.ID), EntityType: activity.EntitySubscriptionBillingAttempt, Event: event, Status: status,
		Actor: by, At: now, Info: activity.Details(o),
	}
}
