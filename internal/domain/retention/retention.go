// Package retention records what subscribers did when they considered
// cancelling: offers, answers and reasons. It applies none
// of them. Its rooms are the store's flow of cancelling, a customer's way through it, and
// the report of what it kept.
package retention

import (
	"context"
	"time"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// entity is the entity that errors of this package name.
const entity = "customerRetentionActivity"

// ID identifies a retention activity within a shop.
type ID int64

// Activity is one action of a subscriber.
type Activity struct {
	ID       ID
	Contract contract.ID
	Customer int64
	At       time.Time
	Details
}

// Details is what the subscriber's page reports. Only the lengths are checked: the
// actions are the page's own.
type Details struct {
	Action   string
	Reason   string
	Discount string // "10OFF" or "20% x 3"; shown to the subscriber, not applied
	Info     string
}

// The actions that the service itself records. Callers may report others.
const (
	Kept             = "KEPT"
	Skipped          = "SKIPPED"
	Paused           = "PAUSED"
	DiscountApplied  = "DISCOUNT_APPLIED"
	ProductSwapped   = "PRODUCT_SWAPPED"
	FrequencyChanged = "FREQUENCY_CHANGED"
	QuantityChanged  = "QUANTITY_CHANGED"
	Rescheduled      = "RESCHEDULED"
	ContactedSupport = "CONTACTED_SUPPORT"
	CancelScheduled  = "CANCEL_SCHEDULED"
	Cancelled        = "CANCELLED"
)

// Maximum lengths, in characters.
const (
	MaxAction   = 100
	MaxReason   = 500
	MaxDiscount = 255
	MaxInfo     = 10_000
)

// maxKept is how many activities of a contract are stored; older ones are removed.
const maxKept = 100

// check refuses texts of the wrong length.
func (s Details) check() error {
	for _, f := range []struct {
		name, text  string
		least, most int
	}{
		{"retentionAction", s.Action, 1, MaxAction}, {"cancellationReason", s.Reason, 0, MaxReason},
		{"discountApplied", s.Discount, 0, MaxDiscount}, {"additionalInfo", s.Info, 0, MaxInfo},
	} {
		if n := utf8.RuneCountInString(f.text); n < f.least || n > f.most {
			return fault.New(fault.Invalid, "field '%s' has %d characters: %d to %d are allowed", f.name, n, f.least, f.most).Entity(entity).Code("bodyField").Field(f.name)
		}
	}
	return nil
}

// Command is an activity of a subscriber to record.
type Command struct {
	Line     shop.Line
	Contract contract.ID
	Details  Details
	Actor    activity.Actor
}

// Writer stores activities.
type Writer interface {
	// RetentionsOf returns a contract's activities, newest first.
	RetentionsOf(ctx context.Context, c contract.ID) ([]Activity, error)
	// AddRetention inserts an activity and gives it its ID.
	AddRetention(ctx context.Context, a *Activity) error
	DeleteRetentions(ctx context.Context, ids []ID) error
	activity.Recorder
}

// Tx is one transaction on one shop's data.
type Tx interface {
	// Contracts returns contracts, locked. Unknown ids are left out.
	Contracts(ctx context.Context, ids []contract.ID) ([]contract.Contract, error)
	Writer
}

// Store runs transactions.
type Store interface {
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
}

// Service records retention activities.
type Service struct {
	Store Store
	Clock clock.Clock
}

// entryDetails is the details of an entry.
type entryDetails struct {
	Contract contract.ID `json:"contractId"`
	Action   string      `json:"retentionAction"`
	Reason   string      `json:"cancellationReason,omitempty"`
}

// Record stores an activity and removes the oldest ones beyond the limit. A subscriber
// gets NotFound for another subscriber's contract.
func (s *Service) Record(ctx context.Context, of shop.ID, cmd Command) (Activity, error) {
	if err := cmd.Details.check(); err != nil {
		return Activity{}, err
	}
	var kept Activity
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		now := s.Clock.Now()
		found, err := tx.Contracts(ctx, []contract.ID{cmd.Contract})
		if err != nil {
			return err
		}
		if len(found) == 0 || found[0].Line != cmd.Line || found[0].HiddenFrom(cmd.Actor) {
			return fault.New(fault.NotFound, "contract %d does not exist", cmd.Contract).Entity("subscriptionContract").Code("contractNotFound").Field("contractId")
		}
		kept = Activity{Contract: cmd.Contract, Customer: found[0].Customer.ID, At: clock.Trim(now), Details: cmd.Details}
		return Add(ctx, tx, &kept, cmd.Actor)
	})
	return kept, err
}

// Add stores an activity with its entry in the log, gives it its ID, and removes the
// contract's oldest ones beyond the limit.
func Add(ctx context.Context, tx Writer, a *Activity, by activity.Actor) error {
	before, err := tx.RetentionsOf(ctx, a.Contract)
	if err != nil {
		return err
	}
	if err := tx.DeleteRetentions(ctx, surplus(before)); err != nil {
		return err
	}
	if err := tx.AddRetention(ctx, a); err != nil {
		return err
	}
	return tx.Record(ctx, activity.Entry{
		EntityID: int64(a.ID), EntityType: activity.EntityCancellationManagement, Event: activity.Created, Status: activity.Info, Actor: by, At: a.At,
		Info: activity.Details(entryDetails{a.Contract, a.Details.Action, a.Details.Reason}),
	})
}

// surplus returns the activities to remove so that one more can be stored. The list has
// the newest first.
func surplus(list []Activity) []ID {
	var ids []ID
	for i, a := range list {
		if i >= maxKept-1 {
			ids = append(ids, a.ID)
		}
	}
	return ids
}
