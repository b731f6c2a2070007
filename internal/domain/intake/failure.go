package intake

import (
	"errors"
	"time"

	"github.com/perennialhq/perennial/internal/platform"
)

// happenedAt returns when the event happened: at its arrival at the latest, because the
// platform does not sign the time.
func (p InboxEvent) happenedAt() time.Time {
	if p.TriggeredAt.After(p.ReceivedAt) {
		return p.ReceivedAt
	}
	return p.TriggeredAt
}

// afterOutage is the number of failures after one that the event did not cause: it
// raises the wait, but never so far that the event is given up.
func (p InboxEvent) afterOutage() int { return max(p.Failures, min(p.Failures+1, outageFailures)) }

// unreachable reports whether the platform did not answer, or refused the connection.
func unreachable(err error) bool {
	return errors.Is(err, platform.ErrUnknown) || errors.Is(err, platform.ErrThrottled) || errors.Is(err, platform.ErrDisconnected)
}

// disconnected reports whether the store must be connected again before anything can be
// read.
func disconnected(err error) bool { return errors.Is(err, platform.ErrDisconnected) }
