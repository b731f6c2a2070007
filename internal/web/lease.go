package web

import (
	"context"
	"sync"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
)

const (
	// leaseMost is how many tokens a node takes from a shared bucket at once.
	leaseMost = 8
	// leaseLife is how long it may hold them. Over any span of time all nodes
	// together grant the burst, the rate times the span, and at most the rate
	// times this more: tokens that were taken before the span and used in it.
	leaseLife = 500 * time.Millisecond
)

// Leases is a Limiter over buckets that all nodes share. A node takes tokens in small
// lots, larger ones the faster they are used, so that most requests of a busy caller need
// no database; tokens that it does not use in time it returns with its next request. It
// never grants more than it took, and when the bucket is empty it refuses without asking
// until the next token is due.
type Leases struct {
	Shared access.SharedBuckets
	Rate   Rate        // zero: access.DefaultRate
	Clock  clock.Clock // of this node, for the life of lots; nil: the system's

	mu   sync.Mutex
	lots map[bucketID]*lot
}

// lot is what a node holds of a key's bucket.
type lot struct {
	mu      sync.Mutex
	tokens  int       // taken and not used
	until   time.Time // the tokens are not used after this
	size    int       // how many are taken next
	remains float64   // what the shared bucket had left
	asked   time.Time // when it said so
	refused time.Time // until then the shared bucket has nothing
	rate    Rate      // that was so; another one ends it
}

// Full returns the allowance of a full bucket.
func (l *Leases) Full() Allowance {
	r := l.Rate.Or(access.DefaultRate())
	return allowance(r, true, float64(r.Burst))
}

// Take uses a token that the node holds, or takes a lot from the shared bucket.
func (l *Leases) Take(ctx context.Context, of access.Bucket) (Allowance, error) {
	of.Rate = of.Rate.Or(l.Rate).Or(access.DefaultRate())
	held := l.lot(bucketID{of.Shop, of.Key})
	held.mu.Lock()
	defer held.mu.Unlock()
	now := nowOn(l.Clock)
	if held.tokens > 0 && now.Before(held.until) {
		held.tokens--
		return held.says(true, now), nil
	}
	if now.Before(held.refused) && held.rate == of.Rate {
		return held.says(false, now), nil
	}
	grant, err := l.Shared.Take(ctx, of, held.next(now), held.tokens)
	if err != nil {
		return Allowance{}, fault.Because(fault.Unavailable, err, "the rate limit could not be asked for")
	}
	// The life is counted from before the bucket was asked, and what it had left
	// from after.
	held.tokens, held.until, held.rate = grant.Granted, now.Add(leaseLife), of.Rate
	held.remains, held.asked = grant.Remains, nowOn(l.Clock)
	if held.tokens == 0 {
		held.refused = held.asked.Add(of.Rate.Refill(1 - held.remains))
		return held.says(false, held.asked), nil
	}
	held.tokens--
	return held.says(true, held.asked), nil
}

// next says how many tokens to take: twice as many as before when those were used
// in time, and one when they were not.
func (h *lot) next(now time.Time) int {
	switch {
	case h.tokens == 0 && now.Before(h.until):
		h.size = min(2*h.size, leaseMost)
	default:
		h.size = 1
	}
	h.size = max(1, h.size)
	return h.size
}

// says answers a request by what is known of the bucket.
func (h *lot) says(granted bool, now time.Time) Allowance {
	left := h.remains + now.Sub(h.asked).Seconds()*h.rate.PerSecond + float64(h.tokens)
	if !granted {
		left = min(left, 0.999) // whatever the clocks say, a whole token would have been granted
	}
	return allowance(h.rate, granted, min(left, float64(h.rate.Burst)))
}

func (l *Leases) lot(id bucketID) *lot {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lots) >= tidyAt {
		l.tidy()
	}
	h, ok := l.lots[id]
	if !ok {
		if l.lots == nil {
			l.lots = map[bucketID]*lot{}
		}
		h = &lot{}
		l.lots[id] = h
	}
	return h
}

// tidy drops lots that are idle and expired. A token lost with one comes back to the
// bucket, which refills.
func (l *Leases) tidy() {
	now := nowOn(l.Clock)
	for id, h := range l.lots {
		if !h.mu.TryLock() {
			continue
		}
		if !now.Before(h.until) && !now.Before(h.refused) {
			delete(l.lots, id)
		}
		h.mu.Unlock()
	}
}
