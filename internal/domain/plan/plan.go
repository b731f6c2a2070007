// Package plan is how something can be bought again and again: groups of plan
// options, what they cost, who may choose them, and which products are sold on
// them. What a contract took from a plan belongs to the contract.
package plan

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// ID is the service's number of a group, unique within a shop.
type ID int64

// Group is a subscription group: the options that are offered together.
type Group struct {
	ID         ID
	PlatformID int64     // the platform's selling plan group; 0 until it is made
	Line       shop.Line // the side of the business on which it was made
	Terms
	Options   []Option          // in the order in which they are shown
	Products  []platform.Titled // sold on the options, by number
	Variants  []platform.Titled // the same for single variants
	State     State
	Pending   *Change   // the change in progress on the platform; nil when SYNCED
	DueAt     time.Time // when a repair looks at it; zero when SYNCED
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int64
}

// Terms are the attributes of a group other than its options. Tags are comma-separated
// lists. The texts at the end are kept for the merchant's storefront and mean nothing here, but for
// RulesJSON: new ones are refused.
type Terms struct {
	Name           string `json:"name"`
	CustomerTag    string `json:"customerTag,omitempty"`    // for customers who subscribe
	OrderTag       string `json:"orderTag,omitempty"`       // for first orders
	MemberOrderTag string `json:"memberOrderTag,omitempty"` // for renewals

	ProductID           string `json:"productId,omitempty"`
	AccessoryProductIDs string `json:"accessoryProductIds,omitempty"`
	Translations        string `json:"translations,omitempty"`
	RulesJSON           string `json:"rules,omitempty"`
	FormFieldsJSON      string `json:"formFields,omitempty"`
}

// Draft is the desired state of a group.
type Draft struct {
	Terms
	Options []Option // those without an ID are new
}

// Draft returns what the group is, to be changed.
func (g Group) Draft() Draft { return Draft{g.Terms, append([]Option(nil), g.Options...)} }

// Assigned returns the numbers of what is sold on the group's options.
func (g Group) Assigned() platform.Assigned {
	return platform.Assigned{Products: numbers(g.Products), Variants: numbers(g.Variants)}
}

func numbers(list []platform.Titled) []int64 {
	ids := make([]int64, len(list))
	for i, t := range list {
		ids[i] = t.ID
	}
	return ids
}

// Option returns the group's option with the platform's number, and false when
// it has none.
func (g Group) Option(sellingPlan int64) (Option, bool) {
	for _, o := range g.Options {
		if o.ID == sellingPlan {
			return o, true
		}
	}
	return Option{}, false
}

// What crosses the boundary to the platform means the same on both sides.
type (
	// Assigned names products and variants.
	Assigned = platform.Assigned
	// Titled is a product or a variant and what it is called.
	Titled = platform.Titled
)

// State is how far a group agrees with the platform.
type State string

// The states. While a group is not SYNCED it shows what it was before; one that
// is being made does not show at all.
const (
	Synced   State = "SYNCED"
	Creating State = "CREATING"
	Updating State = "UPDATING"
	Deleting State = "DELETING"
)

// Change is a desired change of a group, stored before the platform is called.
type Change struct {
	Terms   Terms             `json:"terms"`
	Options []Option          `json:"options"`
	Add     Items             `json:"add,omitzero"`
	Remove  platform.Assigned `json:"remove,omitzero"`
	Actor   activity.Actor    `json:"actor"`
	Undo    bool              `json:"undo,omitempty"` // takes back what a refused change did; leaves no trace
}

// Items are products and variants with their titles.
type Items struct {
	Products []platform.Titled `json:"products,omitempty"`
	Variants []platform.Titled `json:"variants,omitempty"`
}

// Assigned returns the numbers of the items.
func (i Items) Assigned() platform.Assigned {
	return platform.Assigned{Products: numbers(i.Products), Variants: numbers(i.Variants)}
}
