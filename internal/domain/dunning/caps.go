package dunning

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
)

// What the card networks permit, and we hold: so many tries of one card that were
// declined or are retries, within so long.
const (
	MaxTries  = 15
	TryWindow = 30 * 24 * time.Hour
)

// CardLimitReached reports whether a card may not be tried any more for now. The tries that
// count against it are those that its bank declined, and all retries.
func CardLimitReached(tries []time.Time, now time.Time) bool {
	n := 0
	for _, at := range tries {
		if at.After(now.Add(-TryWindow)) {
			n++
		}
	}
	return n >= MaxTries
}

// TriedToday reports whether a card was tried on this day already, for whatever
// order and whoever asked for it.
func TriedToday(tried []time.Time, c cadence.Calendar, now time.Time) bool {
	return slices.ContainsFunc(tried, func(at time.Time) bool { return c.Day(at) == c.Day(now) })
}
