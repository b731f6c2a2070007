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

// Try is a try that counts against a card: one that its bank declined, or any
// retry.
type Try struct {
	At     time.Time
	ByPlan bool // nobody asked for it
}

// Spent reports whether a card may not be tried any more for now.
func Spent(tries []Try, now time.Time) bool {
	n := 0
	for _, t := range tries {
		if t.At.After(now.Add(-TryWindow)) {
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
