// Package retention keeps what subscribers did and said when they thought of
// leaving: what they were offered, what they took, why they went. It applies nothing
// of it.
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

// entity is what failures of this package are about, in the interface's words.
const entity = "customerRetentionActivity"

// ID is the service's number of a retention activity, unique within a shop.
type ID int64

// Activity is one thing that a subscriber did or said.
type Activity struct {
	ID       ID
	Contract contract.ID
	Customer int64
	At       time.Time
	Details
}

// Details is what the subscriber's page tells of it. Beyond the lengths it may be
// anything: the words of an action are the page's own.
type Details struct {
	Action   string
	Reason   string
	Discount string // "10OFF" or "20% x 3"; it was shown, and is not given by this
	Info     string
}

// How long the texts may be, in characters.
const (
	MaxAction   = 100
	MaxReason   = 500
	MaxDiscount = 255
	MaxInfo     = 10_000
)

// maxKept is how many activities of a contract are kept: the newest.
const maxKept = 100

// check refuses what nobody could make sense of later.
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

// Command asks to keep what a subscriber did about a contract.
type Command struct {
	Line     shop.Line
	Contract contract.ID
	Details  Details
	Actor    activity.Actor
}

// Tx is one transaction on one shop's data.
type Tx interface {
	// Contracts returns contracts, locked. Unknown ids are left out.
	Contracts(ctx context.Context, ids []contract.ID) ([]contract.Contract, error)
	// RetentionsOf returns what is kept of a contract, newest first.
	RetentionsOf(ctx context.Context, c contract.ID) ([]Activity, error)
	// AddRetention inserts an activity and gives it its ID.
	AddRetention(ctx context.Context, a *Activity) error
	DropRetentions(ctx context.Context, ids []ID) error
	Record(ctx context.Context, entries ...activity.Entry) error
}

// Store runs transactions.
type Store interface {
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
}

// Service keeps retention activities.
type Service struct {
	Store Store
	Clock clock.Clock
}

// note is the information of an entry.
type note struct {
	Contract contract.ID `json:"contractId"`
	Action   string      `json:"retentionAction"`
	Reason   string      `json:"cancellationReason,omitempty"`
}

// Record keeps an activity, for as long as it is among the newest of its contract. To
// a subscriber another one's contract does not exist.
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
		before, err := tx.RetentionsOf(ctx, cmd.Contract)
		if err != nil {
			return err
		}
		if err := tx.DropRetentions(ctx, tooMany(before)); err != nil {
			return err
		}
		kept = Activity{Contract: cmd.Contract, Customer: found[0].Customer.ID, At: clock.Trim(now), Details: cmd.Details}
		if err := tx.AddRetention(ctx, &kept); err != nil {
			return err
		}
		return tx.Record(ctx, activity.Entry{
			EntityID: int64(kept.ID), EntityType: activity.EntityCancellationManagement, Event: activity.Created, Status: activity.Info, Actor: cmd.Actor, At: now,
			Info: activity.Details(note{cmd.Contract, cmd.Details.Action, cmd.Details.Reason}),
		})
	})
	return kept, err
}

// tooMany returns what has to go so that one more can be kept. The list has the
// newest first.
func tooMany(list []Activity) []ID {
	var ids []ID
	for i, a := range list {
		if i >= maxKept-1 {
			ids = append(ids, a.ID)
		}
	}
	return ids
}
