package billing

import (
	"time"
)

// Slot is the beginning of the slot of time in which an instant is counted.
func (p Policy) Slot(t time.Time) time.Time {
	return t.Truncate(max(p.Window/slots, time.Millisecond))
}

// slots is how many slots a window has.
const slots = 15

// Sendable reports whether the try may be sent, for the first time or again. After the window
// the platform must have answered, long enough after the last send, that it never received it.
func (p Policy) Sendable(a Attempt, now time.Time) bool {
	return a.FirstSentAt.IsZero() || now.Sub(a.FirstSentAt) < p.SendWindow || now.Sub(a.SentAt) >= p.Settling
}

// The engine's limits.
const (
	// QueueLength is how many upcoming attempts a contract has at least.
	QueueLength = 6
	// MaxTriggers is how many immediate charges a contract may have within
	// TriggerWindow.
	MaxTriggers   = 5
	TriggerWindow = time.Hour
	// PastTolerance is how far in the past a new billing date may lie.
	PastTolerance = 10 * time.Minute
	// MaxNote is the longest order note, in characters.
	MaxNote = 5000
)

// Policy is how long the engine waits for what. All waits are in the domain's
// time.
type Policy struct {
	// Lease is how long a claimed attempt belongs to its worker.
	Lease time.Duration
	// SendWindow is how long after the first send of a try it may be sent again
	// without further ado: shorter than the life of the platform's keys.
	SendWindow time.Duration
	// Settling is how long a send may still be on its way. After the window a
	// try is sent again only when the platform says, this long after the last
	// send, that it never saw it.
	Settling time.Duration
	// Throttled is how long to wait when the platform did nothing for us.
	Throttled time.Duration
	// InFlight is how long a cycle waits for another one of its contract.
	InFlight time.Duration
	// Retries are the waits after the first calls that found the platform
	// unreachable. After one more the attempt is PlatformException.
	Retries []time.Duration
	// Repair is the time between attempts to clear up an unknown outcome.
	Repair time.Duration
	// Polls are the waits between questions after an attempt that stays
	// pending, or whose cycle has an earlier charge that does; the last one
	// repeats. It must not be empty.
	Polls []time.Duration
	// Horizon is how long an accepted try may stay without an end before it is
	// shown as stuck. It goes on being asked for.
	Horizon time.Duration
	// Window is how far back the ends of a store's charges are looked at for a
	// spike of declines; Hold how long charges are held after the first one.
	Window, Hold time.Duration
	// Pace is how long a store's run waits at most for the ends of its charges
	// when it may send no more.
	Pace time.Duration
}

// DefaultPolicy returns the waits of the service in earnest.
func DefaultPolicy() Policy {
	return Policy{
		Lease: 5 * time.Minute, SendWindow: 20 * time.Hour, Settling: time.Hour, Throttled: time.Minute, InFlight: 10 * time.Minute,
		Retries: []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute}, Repair: time.Hour,
		Polls:   []time.Duration{10 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 6 * time.Hour},
		Horizon: 48 * time.Hour, Window: 15 * time.Minute, Hold: 30 * time.Minute, Pace: 5 * time.Second,
	}
}

// Divided returns the policy with every wait divided by n, which is positive.
func (p Policy) Divided(n float64) Policy {
	one := func(d time.Duration) time.Duration { return time.Duration(float64(d) / n) }
	all := func(list []time.Duration) []time.Duration {
		divided := make([]time.Duration, len(list))
		for i, d := range list {
			divided[i] = one(d)
		}
		return divided
	}
	return Policy{
		Lease: one(p.Lease), SendWindow: one(p.SendWindow), Settling: one(p.Settling), Throttled: one(p.Throttled), InFlight: one(p.InFlight),
		Retries: all(p.Retries), Repair: one(p.Repair), Polls: all(p.Polls), Horizon: one(p.Horizon),
		Window: one(p.Window), Hold: one(p.Hold), Pace: one(p.Pace),
	}
}

// Poll returns the wait before the next question about an attempt that was found
// pending so many times.
func (p Policy) Poll(polls int) time.Duration { return p.Polls[min(polls, len(p.Polls)-1)] }
