// Package delivery keeps delivery profiles: from which place subscriptions are
// delivered where, and for how much. The platform holds them; what is kept here
// is which are ours and what is not yet known to be done.
package delivery

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

const entity = "deliveryProfile"

// ID is the service's number of a delivery profile, unique within a shop.
type ID int64

// Profile is a delivery profile that the service made.
type Profile struct {
	ID         ID
	PlatformID int64 // 0 while it is not known whether the platform has it
	Name       string
	Groups     []int64 // selling plan groups whose orders it is for
	Pending    *Change // nil: what is here is what the platform has
	BusyUntil  time.Time
	DueAt      time.Time // when a job completes the pending change; zero: never
	CreatedAt  time.Time
	UpdatedAt  time.Time
	Version    int64
}

// Change is what the platform was asked for without its answer being known. A
// profile without a PlatformID is being made, any other changed.
type Change struct {
	Name   string
	Places []platform.Place // of a change nil: they stay
	Groups []int64          // all that the profile is for then
	Newest int64            // the newest profile of the store before this one was sent
	SentAt time.Time
	Tries  int
	Actor  activity.Actor
}

// Ref names a profile: by our number, by the platform's, or by a number that may
// be either, ours first.
type Ref struct {
	Number   int64
	Platform bool // only the platform's
}

// ReadTx is one read-only transaction on one shop's data.
type ReadTx interface {
	shop.Reader
}

// Tx is one transaction on one shop's data. Rows that it reads are locked until
// it ends.
type Tx interface {
	shop.Reader
	// LockProfiles makes other changes of the shop's profiles wait until this
	// transaction ends.
	LockProfiles(ctx context.Context) error
	// DeliveryProfile returns a profile, or NotFound.
	DeliveryProfile(ctx context.Context, r Ref) (Profile, error)
	// DeliveryProfiles returns all profiles, oldest first.
	DeliveryProfiles(ctx context.Context) ([]Profile, error)
	// PutDeliveryProfile inserts a profile whose ID is 0, giving it one, and
	// writes any other if its Version is still what was read; otherwise it
	// fails with a Conflict. It raises the version.
	PutDeliveryProfile(ctx context.Context, p *Profile) error
	// DeleteDeliveryProfile removes a profile under the same rule.
	DeleteDeliveryProfile(ctx context.Context, p Profile) error
	// SellingPlanGroups returns the platform's ids of the shop's selling plan
	// groups that the platform has, in order.
	SellingPlanGroups(ctx context.Context) ([]int64, error)
	activity.Recorder
}

// Store runs transactions. Update commits when fn returns nil; View is for what only reads.
// Both run fn again when the database asks for it.
type Store interface {
	View(ctx context.Context, of shop.ID, fn func(ReadTx) error) error
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
}

// Work is the task of finding out what became of a shop's profiles.
type Work struct {
	Shop shop.ID `json:"shop"`
}

// Kind names the task.
func (Work) Kind() string { return "delivery_work" }
