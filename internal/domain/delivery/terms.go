package delivery

import "github.com/perennialhq/perennial/internal/platform"

// A profile's parts are the platform's: it holds them, and nothing is kept of
// them here once it has.
type (
	Place     = platform.Place
	Zone      = platform.Zone
	Rate      = platform.Rate
	Condition = platform.RateCondition
	Operator  = platform.ConditionOperator
	Weight    = platform.Weight
	Unit      = platform.WeightUnit
)

// Operators lists the comparisons of a condition.
var Operators = []Operator{platform.AtLeast, platform.AtMost}

// Units lists the units of a weight.
var Units = []Unit{platform.Grams, platform.Kilograms, platform.Ounces, platform.Pounds}
