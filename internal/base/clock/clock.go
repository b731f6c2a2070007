// Package clock is the only reader of the system's time. Rules take an instant;
// services hold a Clock.
package clock

import (
	"sync"
	"time"
)

// Clock tells the time in UTC, to the millisecond: what is stored and what is
// compared then never differ by less than can be written down.
type Clock interface {
	Now() time.Time
}

// System is the machine's clock.
type System struct{}

// Now returns the machine's time.
func (System) Now() time.Time { return Trim(time.Now()) }

// Manual is a clock that stands still until it is set. It is safe for
// concurrent use.
type Manual struct {
	mu  sync.RWMutex
	now time.Time
}

// NewManual returns a clock that stands at t.
func NewManual(t time.Time) *Manual { return &Manual{now: Trim(t)} }

// Now returns the instant at which the clock stands.
func (m *Manual) Now() time.Time {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.now
}

// Set moves the clock to t.
func (m *Manual) Set(t time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = Trim(t)
}

// Trim returns t as it is stored: UTC, whole milliseconds.
func Trim(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
