package staff

import (
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/throttle"
)

// limit is how often something may be tried in a time.
type limit struct {
	kind   string // keeps subjects of limits apart
	times  int
	window time.Duration
}

// The limits.
var (
	signInsOfAccount = limit{"account", 10, 15 * time.Minute}
	signInsOfClient  = limit{"client", 60, 15 * time.Minute}
	codesOfUser      = limit{"code", 10, 15 * time.Minute}
	resetsOfAccount  = limit{"reset", 5, time.Hour}
	resetsOfClient   = limit{"reset client", 30, time.Hour}
	invitesOfStore   = limit{"invitation", 50, time.Hour}
)

// Throttle is when something was tried lately.
type Throttle struct {
	Subject   string // a hash of an account or a client: neither is stored for counting
	Times     []time.Time
	ExpiresAt time.Time // afterwards it limits nothing
}

func (l limit) subject(value string) string { return throttle.Subject(l.kind, value) }

// take counts one more try. At the limit it is RateLimited, and nothing is counted.
func (l limit) take(t *Throttle, now time.Time) error {
	times, free := throttle.Take(t.Times, l.times, l.window, now)
	t.Times = times
	if !free.IsZero() {
		return fault.New(fault.RateLimited, "too many attempts: try again later").Entity(entity).Code("tooManyAttempts").RetryAfter(free.Sub(now))
	}
	t.ExpiresAt = now.Add(l.window)
	return nil
}
