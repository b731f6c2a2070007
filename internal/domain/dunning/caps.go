package dunning

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
)

// The card networks' limits: so many tries of one card that were
// declined or are retries, within so long.
const (
	MaxTries  = 15
	TryWindow = 30 * 24 * time.Hour
)

// CardLimitReached reports whether a card must not be tried for now. Tries that the
// card's bank declined and all retries count.
func CardLimitReached(tries []time.Time, now time.Time) bool {
	n := 0
	for _, at := range tries {
		if at.After(now.Add(-TryWindow)) {
			n++
		}
	}
	return n >= MaxTries
}

// TriedToday reports whether a card was tried today, for any order and by any cause.
func TriedToday(tried []time.Time, c cadence.Calendar, now time.Time) bool {
	return slices.ContainsFunc(tried, func(at time.Time) bool { return c.Day(at) == c.Day(now) })
}
