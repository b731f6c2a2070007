package plan

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// ReadTx is one read-only transaction on one shop's data.
type ReadTx interface {
	shop.Reader
	GroupReader
}

// Tx is one transaction on one shop's data.
type Tx interface {
	shop.Tx
	GroupTx
	activity.Recorder
}

// GroupReader reads groups, also those that are being made.
type GroupReader interface {
	// PlanGroup returns a group of any state with all that belongs to it, or NotFound. A Tx
	// locks it.
	PlanGroup(ctx context.Context, id ID) (Group, error)
	// PlanGroupsSelling returns the numbers of the line's groups in which one
	// of the products or variants is sold; none named: in which anything is.
	PlanGroupsSelling(ctx context.Context, line shop.Line, of platform.Assigned) ([]ID, error)
	// WaitingPlanGroups returns at most limit groups whose DueAt is at or before
	// now, earliest first.
	WaitingPlanGroups(ctx context.Context, now time.Time, limit int) ([]ID, error)
}

// GroupTx reads and writes groups.
type GroupTx interface {
	GroupReader
	// PutPlanGroup inserts a group whose ID is 0, giving it one, and writes
	// others if their Version is still what was read; otherwise it fails with a
	// Conflict. It raises the version. Options are written with their group;
	// products and variants are not.
	PutPlanGroup(ctx context.Context, g *Group) error
	// PutPlanItems adds and removes products and variants of a group.
	PutPlanItems(ctx context.Context, id ID, add Items, remove platform.Assigned) error
	// DeletePlanGroup removes a group and all that belongs to it.
	DeletePlanGroup(ctx context.Context, id ID) error
}

// Store runs transactions. Update commits when fn returns nil; View is for what only reads.
// Both run fn again when the database asks for it.
type Store interface {
	View(ctx context.Context, of shop.ID, fn func(ReadTx) error) error
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
}

// Book reads groups without a transaction. Groups that are being made are not in
// it.
type Book interface {
	// PlanGroup returns one of the line's groups, or NotFound.
	PlanGroup(ctx context.Context, of shop.ID, line shop.Line, id ID) (Group, error)
	// PlanGroupID returns the number of the line's group that has the number, or has
	// it at the platform; with atPlatform only the latter. Or NotFound.
	PlanGroupID(ctx context.Context, of shop.ID, line shop.Line, number int64, atPlatform bool) (ID, error)
	// PlanGroups returns a page of the line's groups and how many there are.
	PlanGroups(ctx context.Context, of shop.ID, line shop.Line, p page.Request) ([]Group, int, error)
	// PlanOptions returns a page of the line's options, group by group, and how
	// many there are. With numbers of selling plans only those.
	PlanOptions(ctx context.Context, of shop.ID, line shop.Line, sellingPlans []int64, p page.Request) ([]Offer, int, error)
	Offers
}

// Offers reads options by what they are at the platform.
type Offers interface {
	// OffersOf returns the options of the line that are the selling plans, group by
	// group.
	OffersOf(ctx context.Context, of shop.ID, line shop.Line, sellingPlans []int64) ([]Offer, error)
}

// Offer is an option and the group that it belongs to.
type Offer struct {
	Option
	Group       ID
	GroupName   string
	CustomerTag string // of the group
}

// CustomerTags are the tags of customers who subscribe to the option.
func (o Offer) CustomerTags() []string { return SplitTags(o.CustomerTag) }

// Fields by which the list of groups can be sorted.
const (
	FieldID        = "id"
	FieldName      = "groupName"
	FieldCreatedAt = "createdAt"
	FieldUpdatedAt = "updatedAt"
)

// SortFields lists them.
var SortFields = []string{FieldID, FieldName, FieldCreatedAt, FieldUpdatedAt}
