package login

import (
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/throttle"
)

// How many links may be asked for, and sign-ins with an account begun, in an hour.
const (
	perAddress       = 5
	perClient        = 20
	accountPerClient = 60
	window           = time.Hour
)

// Throttle is when something was done lately for one address or by one client.
type Throttle struct {
	Subject string // a hash: addresses are not kept for counting
	Times   []time.Time
}

// ExpiresAt returns when the throttle no longer limits requests.
func (t Throttle) ExpiresAt() time.Time {
	if len(t.Times) == 0 {
		return time.Time{}
	}
	return t.Times[len(t.Times)-1].Add(window)
}

// subjectOf returns the subject of an address, in any letter case, or a client.
func subjectOf(kind, value string) string { return throttle.Subject(kind, strings.ToLower(value)) }

// Kinds of subjects.
const (
	addressKind = "address"
	clientKind  = "client"
	accountKind = "account" // a client that signs in with an account
)

// take counts one more time. When as many as the limit lie within the window it
// is a TooMany, and nothing is counted.
func (t *Throttle) take(limit int, now time.Time) error {
	times, free := throttle.Take(t.Times, limit, window, now)
	t.Times = times
	if !free.IsZero() {
		return fault.New(fault.RateLimited, "at most %d of these requests are answered in an hour: the next one after %s", limit, free.UTC().Format(time.RFC3339)).
			Entity(entity).Code("linkLimit").RetryAfter(free.Sub(now))
	}
	return nil
}
