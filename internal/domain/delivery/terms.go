package delivery

import "github.com/perennialhq/perennial/internal/platform"

// A profile's parts are the platform's: it holds them, and nothing is kept of
// them here once it has.
type (
	// Place is where parcels come from.
	Place = platform.Place
	// Zone is where they go.
	Zone = platform.Zone
	// Rate is what that costs.
	Rate = platform.Rate
	// Condition says for which orders a rate is.
	Condition = platform.RateCondition
	// Operator compares in a condition.
	Operator = platform.ConditionOperator
	// Weight is a weight.
	Weight = platform.Weight
	// Unit is what a weight is counted in.
	Unit = platform.WeightUnit
)

// Operators lists the comparisons of a condition.
var Operators = []Operator{platform.AtLeast, platform.AtMost}

// Units lists the units of a weight.
var Units = []Unit{platform.Grams, platform.Kilograms, platform.Ounces, platform.Pounds}
