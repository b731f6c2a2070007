package platform

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
)

// Plans keeps groups of selling plans: how often something can be bought again,
// for how much, and which products are sold so. What the platform refuses is a
// *Refusal in its own words.
type Plans interface {
	// PlanGroup returns a group, or ErrNotFound.
	PlanGroup(ctx context.Context, shop Shop, group int64) (PlanGroup, error)
	// PlanGroupByCode returns the oldest group with the code among those made at
	// or after since, or ErrNotFound. Other apps' groups are not looked at.
	PlanGroupByCode(ctx context.Context, shop Shop, code string, since time.Time) (PlanGroup, error)
	// CreatePlanGroup makes a group, with its plans and at most MaxAssigned
	// products and variants, or nothing at all. It is not safe to repeat: after
	// ErrUnknown, look for the group by its code.
	CreatePlanGroup(ctx context.Context, shop Shop, g PlanGroupTerms, plans []SellingPlan, of Assigned) (PlanGroup, error)
	// UpdatePlanGroup makes all of the changes or none. It is safe to repeat
	// only when it creates nothing.
	UpdatePlanGroup(ctx context.Context, shop Shop, group int64, c PlanGroupChange) (PlanGroup, error)
	// DeletePlanGroup removes a group and its plans. Contracts keep what they
	// took from a plan. A group that is gone already is no error.
	DeletePlanGroup(ctx context.Context, shop Shop, group int64) error
	// AssignToPlanGroup lets products and variants be sold on the group's plans.
	// Those that are already are no error.
	AssignToPlanGroup(ctx context.Context, shop Shop, group int64, of Assigned) error
	// RemoveFromPlanGroup is the reverse. Products and variants that are not in
	// the group, or no longer in the store, are no error.
	RemoveFromPlanGroup(ctx context.Context, shop Shop, group int64, of Assigned) error
	// Titles returns the products and variants among those asked for that the
	// store has, with their titles.
	Titles(ctx context.Context, shop Shop, of Assigned) (products, variants []Titled, err error)
	// CollectionProducts returns the products of a collection, at most limit, or
	// ErrNotFound when there is no such collection.
	CollectionProducts(ctx context.Context, shop Shop, collection int64, limit int) ([]Titled, error)
	// FindProducts returns the first products by title whose titles have words that begin with each
	// word of a text; more: there are others.
	FindProducts(ctx context.Context, shop Shop, text string) (list []Titled, more bool, err error)
}

// MaxAssigned is how many products, and how many variants, the platform takes in
// one call. The methods that take longer lists make several.
const MaxAssigned = 250

// PlanGroup is a group of selling plans as the platform holds it.
type PlanGroup struct {
	ID    int64
	Code  string
	Name  string
	Plans []PlanRef // by position
}

// PlanRef names a selling plan.
type PlanRef struct {
	ID   int64
	Name string
}

// PlanGroupTerms are what a group is called. Code is the app's own name of it and
// never changes.
type PlanGroupTerms struct {
	Code    string
	Name    string
	Options []string // labels of what its plans differ in; at least one
}

// PlanGroupChange changes a group. A nil Name stays as it is; so does a plan that
// is not named.
type PlanGroupChange struct {
	Name   *string
	Create []SellingPlan
	Update []SellingPlan // by ID
	Delete []int64
}

// Assigned names products and variants.
type Assigned struct{ Products, Variants []int64 }

// Empty reports whether nothing is named.
func (a Assigned) Empty() bool { return len(a.Products) == 0 && len(a.Variants) == 0 }

// Titled is a product or a variant and what it is called.
type Titled struct {
	ID    int64
	Title string
}

// SellingPlan is a plan as it is sent to the platform. Billing and delivery have
// the same anchors.
type SellingPlan struct {
	ID          int64 // 0 for a new one
	Name        string
	Description string
	Option      string // what it says under the group's first label; unique in the group
	Position    int    // from 1
	Billing     Policy
	Delivery    Policy
	Cutoff      int    // whole days before the anchor from which an order misses it; 0: none
	AwaitAnchor bool   // the first delivery waits for the anchor; otherwise it leaves at once
	Reserve     string // when stock is set aside: ON_FULFILLMENT or ON_SALE; empty: it is not said
	Prices      []PlanPrice
}

// PlanPrice is a change of price once After orders have been billed. Amount is in
// the store's currency.
type PlanPrice struct {
	After   int
	Kind    Adjustment
	Percent float64      // of PERCENTAGE, off the price
	Amount  money.Amount // of FIXED_AMOUNT (off the price) and PRICE
}
