package platform

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/money"
)

// Profiles keeps delivery profiles: from which place things are delivered
// where, and for how much. What the platform refuses is a *Refusal whose Field
// is the path of the input at fault, with lists as "places.0.zones.1.rates.2".
type Profiles interface {
	// Profiles returns every delivery profile of the store, oldest first, including
	// those of other apps.
	Profiles(ctx context.Context, shop Shop) ([]Profile, error)
	// CreateProfile makes a profile and returns its id. It is not safe to
	// repeat: after ErrUnknown, look for a profile of that name among those
	// that are newer than the newest before.
	CreateProfile(ctx context.Context, shop Shop, p ProfileSpec) (int64, error)
	// ReplaceProfile makes a profile be what the specification says: its name,
	// its places when there are any, and further plan groups. Repeating it
	// changes nothing more. A profile that is gone is ErrNotFound.
	ReplaceProfile(ctx context.Context, shop Shop, id int64, p ProfileSpec) error
}

// Profile names a delivery profile.
type Profile struct {
	ID      int64
	Name    string
	Default bool // for all that is in no other profile
}

// ProfileSpec describes a delivery profile.
type ProfileSpec struct {
	Name   string
	Places []Place
	Groups []int64 // selling plan groups whose orders the profile is for
}

// Place is a location and the zones that it delivers to.
type Place struct {
	Location int64
	Zones    []Zone
}

// Zone is a country, a part of one, or everywhere else.
type Zone struct {
	Country  string // two letters; empty: the rest of the world
	Province string // the part's code; empty: all of the country
	Rates    []Rate
}

// Rate is a way of delivery that a buyer can choose, and its price.
type Rate struct {
	Name       string
	Price      money.Amount
	Carrier    int64 // a carrier service that says the price instead; 0: none
	Conditions []RateCondition
}

// RateCondition limits a rate to orders of some price or weight: exactly one of
// the two is set.
type RateCondition struct {
	Operator ConditionOperator
	Price    *money.Amount
	Weight   *Weight
}

// ConditionOperator compares an order with a condition.
type ConditionOperator string

// The comparisons of the platform.
const (
	AtLeast ConditionOperator = "GREATER_THAN_OR_EQUAL_TO"
	AtMost  ConditionOperator = "LESS_THAN_OR_EQUAL_TO"
)

// Weight is a weight in a unit.
type Weight struct {
	Value float64
	Unit  WeightUnit
}

// WeightUnit is what a weight is counted in.
type WeightUnit string

// The units of the platform.
const (
	Grams     WeightUnit = "GRAMS"
	Kilograms WeightUnit = "KILOGRAMS"
	Ounces    WeightUnit = "OUNCES"
	Pounds    WeightUnit = "POUNDS"
)
