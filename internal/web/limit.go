package web

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Rate is how many requests a key, and a shop over all its keys, may make.
type Rate = access.Rate

// Limiter counts requests. Take asks for one more and says what is left.
type Limiter interface {
	// Take takes one token of a bucket. What its rate leaves out is the
	// installation's.
	Take(ctx context.Context, b access.Bucket) (Allowance, error)
	// Full returns the allowance of a full bucket.
	Full() Allowance
}

// Allowance is what a caller may still do.
type Allowance struct {
	Granted    bool
	Limit      int
	Remaining  int
	Reset      time.Duration // until nothing is used up any more
	RetryAfter time.Duration // until a request can be granted; set when it was not
}

// allowance says what so many tokens in a bucket allow after a request.
func allowance(r Rate, granted bool, left float64) Allowance {
	a := Allowance{Granted: granted, Limit: r.Burst, Remaining: int(max(0, left)), Reset: r.Refill(float64(r.Burst) - left)}
	if !granted {
		a.RetryAfter = r.Refill(1 - left)
	}
	return a
}

func (a Allowance) headers(h http.Header) {
	h.Set("RateLimit-Limit", strconv.Itoa(a.Limit))
	h.Set("RateLimit-Remaining", strconv.Itoa(a.Remaining))
	h.Set("RateLimit-Reset", strconv.Itoa(seconds(a.Reset)))
	if !a.Granted {
		h.Set("Retry-After", strconv.Itoa(max(1, seconds(a.RetryAfter))))
	}
}

// seconds rounds up, so that a client that waits as long has waited long enough.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// Limits returns the limiter of an installation: over buckets that all nodes
// share, or of this process alone when there is none. The machine's time fills
// the buckets, also where the service follows another clock.
func Limits(shared access.SharedBuckets, r Rate) Limiter {
	if shared == nil {
		return &Buckets{Rate: r}
	}
	return &Leases{Shared: shared, Rate: r}
}

// Buckets is a Limiter of this process: a token bucket for each key and one for
// each shop. Its zero value has the default rate.
type Buckets struct {
	Rate  Rate        // zero: access.DefaultRate
	Clock clock.Clock // nil: the system's; a clock that stands still refills nothing

	mu   sync.Mutex
	keys map[bucketID]*rate.Limiter
}

// bucketID names a bucket: a shop's own has no key.
type bucketID struct {
	shop shop.ID
	key  access.KeyID
}

// tidyAt is how many buckets are held before the full ones are dropped: a full
// bucket says nothing that a new one does not.
const tidyAt = 10_000

func nowOn(c clock.Clock) time.Time {
	if c == nil {
		return clock.System{}.Now()
	}
	return c.Now()
}

// Full returns the allowance of a full bucket.
func (b *Buckets) Full() Allowance {
	r := b.Rate.Or(access.DefaultRate())
	return allowance(r, true, float64(r.Burst))
}

// Take takes one token of the shop's bucket and one of the key's, or none. It
// never fails.
func (b *Buckets) Take(_ context.Context, of access.Bucket) (Allowance, error) {
	now, r := nowOn(b.Clock), of.Rate.Or(b.Rate).Or(access.DefaultRate())
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.keys) >= tidyAt {
		b.tidy(now)
	}
	shops, keys := b.bucket(bucketID{shop: of.Shop}, r, now), b.bucket(bucketID{of.Shop, of.Key}, r, now)
	left := min(shops.TokensAt(now), keys.TokensAt(now))
	if left < 1 {
		return allowance(r, false, left), nil
	}
	shops.AllowN(now, 1)
	keys.AllowN(now, 1)
	return allowance(r, true, left-1), nil
}

// bucket returns a bucket, with the rate that it has now.
func (b *Buckets) bucket(id bucketID, r Rate, now time.Time) *rate.Limiter {
	l, ok := b.keys[id]
	if !ok {
		if b.keys == nil {
			b.keys = map[bucketID]*rate.Limiter{}
		}
		l = rate.NewLimiter(rate.Limit(r.PerSecond), r.Burst)
		b.keys[id] = l
	}
	if l.Burst() != r.Burst || l.Limit() != rate.Limit(r.PerSecond) {
		l.SetBurstAt(now, r.Burst)
		l.SetLimitAt(now, rate.Limit(r.PerSecond))
	}
	return l
}

func (b *Buckets) tidy(now time.Time) {
	for id, l := range b.keys {
		if l.TokensAt(now) >= float64(l.Burst()) {
			delete(b.keys, id)
		}
	}
}
