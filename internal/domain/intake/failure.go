package intake

import (
	"errors"
	"time"

	"github.com/perennialhq/perennial/internal/platform"
)

// happenedAt returns when the event happened. The platform does not sign that: it is the
// arrival at the latest.
func (p InboxEvent) happenedAt() time.Time {
	if p.TriggeredAt.After(p.ReceivedAt) {
		return p.ReceivedAt
	}
	return p.TriggeredAt
}

// afterOutage is how often working an event counts as failed when that was not its
// own doing: enough for the waits to grow, and never so often that it is given up.
func (p InboxEvent) afterOutage() int { return max(p.Failures, min(p.Failures+1, outageFailures)) }

// unreachable reports whether a failure is that of a platform that did not answer, or not
// to us.
func unreachable(err error) bool {
	return errors.Is(err, platform.ErrUnknown) || errors.Is(err, platform.ErrThrottled) || errors.Is(err, platform.ErrDisconnected)
}

// disconnected reports whether the platform's answer means that the store must be
// connected again before anything can be read.
func disconnected(err error) bool { return errors.Is(err, platform.ErrDisconnected) }
