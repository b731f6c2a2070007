// Package parts moves what a store has beside contracts: it reads plan groups, swap rules, bundles and
// members of the service that is left, says what of them can be at the one that they go to, and makes it there once the
// merchant lets it.
package parts

import (
	"context"
	"log/slog"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/platform"
)

// Source is the service that parts leave.
type Source interface {
	// Parts returns a page of the parts of a kind, from 0. Those of members are unread. It is NotFound
	// when the service has no list of the kind.
	Parts(ctx context.Context, of shop.Shop, kind moving.PartKind, line shop.Line, page int) (moving.PartPage, error)
	// Member returns a member as it is now, or NotFound.
	Member(ctx context.Context, of shop.Shop, customer int64) (moving.Member, error)
}

// Other is the service that parts go to.
type Other interface {
	Source
	// MakePart creates a plan group, a swap rule or a bundle under a key, and returns it as the service has
	// it: without its number where the service does not say it.
	MakePart(ctx context.Context, of shop.Shop, p moving.Part, key string) (moving.Part, error)
	// Enrol makes a customer a member of the loyalty programme.
	Enrol(ctx context.Context, of shop.Shop, m moving.Member, key string) error
	// ChangePoints adds points to a member, or removes some when there are less than 0.
	ChangePoints(ctx context.Context, of shop.Shop, customer int64, by loyalty.Points, note, key string) error
}

// Platform knows what the store has.
type Platform interface {
	Variants(ctx context.Context, at platform.Shop, ids []int64) ([]platform.Variant, error)
	Customers(ctx context.Context, at platform.Shop, ids []int64) ([]platform.Customer, error)
	Titles(ctx context.Context, at platform.Shop, of platform.Assigned) (products, variants []platform.Titled, err error)
}

// Service reads and makes parts.
type Service struct {
	Store    moving.Store
	Other    func(moving.Peer) Other
	Platform Platform
	Plans    *plan.Service
	PlanBook plan.Book
	Swaps    *swap.Service
	SwapBook swap.Book
	Bundles  *bundle.Service
	Shelf    bundle.Shelf
	Points   *loyalty.Service
	Portal   *portal.Service
	Clock    clock.Clock
	Log      *slog.Logger
}
