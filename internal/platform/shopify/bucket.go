package shopify

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/platform"
)

// What a store's bucket is thought to be until its first answer: the smallest
// that the platform gives.
const (
	guessMaximum = 2000 // points
	guessRestore = 100  // points a second
)

// reserveShare is the part of a bucket that only calls of a higher priority may use: on
// the smallest plan two changes of a contract at once. It is kept back once for each
// priority, not again with every point that is restored.
const reserveShare = 0.1

// bucket follows a store's leaky bucket of points and lets callers through when
// there are enough for them, so that the platform never has to refuse one. It is
// the platform's count that matters: every answer corrects ours.
type bucket struct {
	clock clock.Clock
	sleep func(ctx context.Context, least, most time.Duration) error // nil: as the machine's time passes

	mu       sync.Mutex
	maximum  float64
	restore  float64 // points a second
	level    float64 // points that are free at the instant at
	at       time.Time
	inFlight float64 // points of the requests that were not answered yet
	sent     uint64  // number of the last request
	heard    uint64  // number of the newest request whose answer set the level
	queues   [platform.Bulk + 1][]*waiter
}

// waiter is a caller in a queue. Its turn is signalled whenever it may have
// become the first, or the first's wait may have become shorter.
type waiter struct {
	need float64
	turn chan struct{}
}

// reservation is what one request took.
type reservation struct {
	number uint64
	points float64
}

// throttleStatus is what the platform says of a bucket.
type throttleStatus struct {
	Maximum   float64 `json:"maximumAvailable"`
	Available float64 `json:"currentlyAvailable"`
	Restore   float64 `json:"restoreRate"`
}

func newBucket(c clock.Clock) *bucket {
	return &bucket{clock: c, maximum: guessMaximum, restore: guessRestore, level: guessMaximum, at: c.Now()}
}

// take takes points, and rests until they are free. It fails with
// platform.ErrThrottled when the context ends first, or surely will.
func (b *bucket) take(ctx context.Context, points float64, p platform.Priority) (reservation, error) {
	if r, ok := b.takeNow(points, p); ok {
		return r, nil
	}
	defer task.Yield(ctx)()
	return b.takeInTurn(ctx, points, p)
}

// takeNow takes points if they are there without a wait.
func (b *bucket) takeNow(points float64, p platform.Priority) (reservation, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.idle(p) || b.wait(b.needed(points, p)) > 0 {
		return reservation{}, false
	}
	return b.reserve(points), true
}

// needed returns how many points must be free for a caller to be served.
func (b *bucket) needed(points float64, p platform.Priority) float64 {
	return points + b.maximum*reserveShare*float64(p)
}

// takeInTurn waits until the points are free and takes them.
func (b *bucket) takeInTurn(ctx context.Context, points float64, p platform.Priority) (reservation, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	need := b.needed(points, p)
	w := &waiter{need: need, turn: make(chan struct{}, 1)}
	b.queues[p] = append(b.queues[p], w)
	defer b.leave(p, w)
	for {
		var timer <-chan time.Time
		var d time.Duration
		if b.first() == w {
			if d = b.wait(need); d == 0 {
				return b.reserve(points), nil
			}
			if end, ok := ctx.Deadline(); ok && end.Sub(b.clock.Now()) < d {
				return reservation{}, fmt.Errorf("%w: the points are there in %v", platform.ErrThrottled, d)
			}
			if b.sleep == nil {
				timer = time.After(d)
			}
		}
		if err := b.await(ctx, w, timer, d); err != nil {
			return reservation{}, fmt.Errorf("%w: %w", platform.ErrThrottled, err)
		}
	}
}

// lookEvery is how often a caller polls for its turn when it cannot be notified.
const lookEvery = 10 * time.Millisecond

// await lets others use the bucket until the timer ends or w may be the first.
func (b *bucket) await(ctx context.Context, w *waiter, timer <-chan time.Time, d time.Duration) error {
	b.mu.Unlock()
	defer b.mu.Lock()
	if b.sleep != nil {
		d = max(d, lookEvery)
		return b.sleep(ctx, d, d)
	}
	select {
	case <-timer:
	case <-w.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// settle gives back what a request took and was not charged, and believes what
// the platform says of the bucket.
func (b *bucket) settle(r reservation, c cost) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refill()
	b.inFlight -= r.points
	switch {
	case c.Throttle == nil: // no answer: the points count as spent
	case r.number > b.heard:
		b.heard = r.number
		b.maximum, b.restore = c.Throttle.Maximum, c.Throttle.Restore
		// Requests still under way may be counted twice here, never not at all.
		b.level = c.Throttle.Available - b.inFlight
	case c.Actual != nil:
		// A newer answer was faster: it is the better witness of the level.
		b.level += r.points - *c.Actual
	default:
		b.level += r.points
	}
	b.level = min(b.level, b.maximum)
	b.signal()
}

// reserve takes points off the level.
func (b *bucket) reserve(points float64) reservation {
	b.level -= points
	b.inFlight += points
	b.sent++
	return reservation{b.sent, points}
}

// wait returns how long it takes until need points are free; more than the
// bucket holds is never waited for.
func (b *bucket) wait(need float64) time.Duration {
	b.refill()
	missing := min(need, b.maximum) - b.level
	if missing <= 0 {
		return 0
	}
	if b.restore <= 0 {
		return time.Second // a bucket that says it never fills: ask again
	}
	// The clock counts milliseconds: one more than needed is never too early.
	return time.Duration(math.Ceil(missing/b.restore*1000)+1) * time.Millisecond
}

// refill adds what was restored since the last time.
func (b *bucket) refill() {
	now := b.clock.Now()
	if d := now.Sub(b.at); d > 0 {
		b.level = min(b.maximum, b.level+d.Seconds()*b.restore)
	}
	b.at = now
}

// idle reports whether no waiter would be served before a caller of a priority.
func (b *bucket) idle(p platform.Priority) bool {
	for _, q := range b.queues[:p+1] {
		if len(q) > 0 {
			return false
		}
	}
	return true
}

// first returns who is served next, or nil.
func (b *bucket) first() *waiter {
	for _, q := range b.queues {
		if len(q) > 0 {
			return q[0]
		}
	}
	return nil
}

// leave takes w out of its queue and wakes the first waiter.
func (b *bucket) leave(p platform.Priority, w *waiter) {
	q := b.queues[p]
	for i := range q {
		if q[i] == w {
			copy(q[i:], q[i+1:])
			q[len(q)-1] = nil
			b.queues[p] = q[:len(q)-1]
			break
		}
	}
	b.signal()
}

// signal wakes the first waiter, if there is one.
func (b *bucket) signal() {
	if w := b.first(); w != nil {
		select {
		case w.turn <- struct{}{}:
		default:
		}
	}
}
