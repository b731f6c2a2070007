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
type Rate struct {
	PerSecond float64
	Burst     int
}

// DefaultRate is the rate of a shop for which nobody chose one.
var DefaultRate = Rate{PerSecond: 10, Burst: 40}

// Limiter counts requests. Take asks for one more and says what is left.
type Limiter interface {
	Take(ctx context.Context, of shop.ID, key access.KeyID) (Allowance, error)
	// Full is what a caller has who has used nothing up.
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

func (a Allowance) headers(h http.Header) {
	h.Set("RateLimit-Limit", strconv.Itoa(a.Limit))
	h.Set("RateLimit-Remaining", strconv.Itoa(a.Remaining))
	h.Set("RateLimit-Reset", strconv.Itoa(seconds(a.Reset)))
	if !a.Granted {
		h.Set("Retry-After", strconv.Itoa(max(1, seconds(a.RetryAfter))))
	}
}

// seconds rounds up, so that who waits as long has waited long enough.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// Buckets is a Limiter of this process: a token bucket for each key and one for
// each shop. Its zero value has the default rate.
type Buckets struct {
	Rate  Rate        // zero: DefaultRate
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

func (b *Buckets) rate() Rate {
	if b.Rate == (Rate{}) {
		return DefaultRate
	}
	return b.Rate
}

func (b *Buckets) now() time.Time {
	if b.Clock == nil {
		return clock.System{}.Now()
	}
	return b.Clock.Now()
}

// Full returns the allowance of a full bucket.
func (b *Buckets) Full() Allowance {
	return Allowance{Granted: true, Limit: b.rate().Burst, Remaining: b.rate().Burst}
}

// Take takes one token of the shop's bucket and one of the key's, or none. It
// never fails.
func (b *Buckets) Take(_ context.Context, of shop.ID, key access.KeyID) (Allowance, error) {
	now, r := b.now(), b.rate()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.keys) >= tidyAt {
		b.tidy(now, r)
	}
	shops, keys := b.bucket(bucketID{shop: of}), b.bucket(bucketID{of, key})
	left := min(shops.TokensAt(now), keys.TokensAt(now))
	a := Allowance{Limit: r.Burst}
	if left >= 1 {
		shops.AllowN(now, 1)
		keys.AllowN(now, 1)
		a.Granted = true
		left--
	} else {
		a.RetryAfter = r.refill(1 - left)
	}
	a.Remaining, a.Reset = int(max(0, left)), r.refill(float64(r.Burst)-left)
	return a, nil
}

// refill returns how long it takes until so many tokens are added.
func (r Rate) refill(tokens float64) time.Duration {
	return time.Duration(tokens / r.PerSecond * float64(time.Second))
}

func (b *Buckets) bucket(id bucketID) *rate.Limiter {
	l, ok := b.keys[id]
	if !ok {
		if b.keys == nil {
			b.keys = map[bucketID]*rate.Limiter{}
		}
		l = rate.NewLimiter(rate.Limit(b.rate().PerSecond), b.rate().Burst)
		b.keys[id] = l
	}
	return l
}

func (b *Buckets) tidy(now time.Time, r Rate) {
	for id, l := range b.keys {
		if l.TokensAt(now) >= float64(r.Burst) {
			delete(b.keys, id)
		}
	}
}
