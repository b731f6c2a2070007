// Package throttle counts what was done lately for one subject, in a window that slides.
package throttle

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"
)

// Subject returns what is counted under: a hash, because addresses are not stored for
// counting. The kind keeps equal values of different limits apart.
func Subject(kind, value string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + value))
	return hex.EncodeToString(sum[:])
}

// Take counts now, and drops what is older than the window. When as many as the limit lie
// within it nothing is counted, and free is when the next one may be; otherwise free is zero.
func Take(times []time.Time, limit int, window time.Duration, now time.Time) (counted []time.Time, free time.Time) {
	times = slices.DeleteFunc(times, func(at time.Time) bool { return !at.After(now.Add(-window)) })
	if len(times) >= limit {
		return times, times[len(times)-limit].Add(window)
	}
	return append(times, now), time.Time{}
}
