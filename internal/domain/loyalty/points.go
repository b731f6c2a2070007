// Package loyalty keeps members' points in append-only ledgers. It has the rules by which
// points are earned and redeemed, and the rewards that members redeem them for.
package loyalty

import (
	"math"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// Points counts hundredths of a point.
type Points int64

// One is one whole point.
const One Points = 100

// MaxPoints is the most points that one entry can move or a rule can give.
const MaxPoints = 1_000_000_000 * One

// Float returns whole points, for the wire.
func (p Points) Float() float64 { return float64(p) / float64(One) }

// String writes whole points, with decimals only where there are any.
func (p Points) String() string { return strconv.FormatFloat(p.Float(), 'f', -1, 64) }

// whole rounds down to whole points.
func (p Points) whole() Points { return p - p%One }

// ParsePoints parses a number of points: positive, with at most two decimals.
func ParsePoints(param string, n float64) (Points, error) {
	switch scaled := n * float64(One); {
	case math.IsNaN(n) || n <= 0:
		return 0, fault.New(fault.Invalid, "%s must be more than 0", param).Entity(entity).Code("pointsInvalid").Field(param)
	case scaled > float64(MaxPoints):
		return 0, fault.New(fault.Invalid, "%s must be at most %s", param, MaxPoints).Entity(entity).Code("pointsInvalid").Field(param)
	case math.Abs(scaled-math.Round(scaled)) > 1e-6:
		return 0, fault.New(fault.Invalid, "%s has more than two decimals", param).Entity(entity).Code("pointsInvalid").Field(param)
	default:
		return Points(math.Round(scaled)), nil
	}
}

// entity is the entity of this package's failures.
const entity = "loyaltyCustomer"
