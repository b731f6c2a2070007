package access

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Rate is how many requests a key, and a shop over all its keys, may make.
type Rate struct {
	PerSecond float64
	Burst     int
}

// DefaultRate is the rate of an installation that does not configure one.
func DefaultRate() Rate { return Rate{PerSecond: 10, Burst: 40} }

// Or returns the rate, with what is zero taken from another one.
func (r Rate) Or(other Rate) Rate {
	if r.PerSecond == 0 {
		r.PerSecond = other.PerSecond
	}
	if r.Burst == 0 {
		r.Burst = other.Burst
	}
	return r
}

// Refill returns how long it takes until so many tokens are added.
func (r Rate) Refill(tokens float64) time.Duration {
	return time.Duration(max(0, tokens) / r.PerSecond * float64(time.Second))
}

// RateOf returns the rate that a shop's settings name; zero fields are not named.
func RateOf(s shop.Settings) Rate { return Rate{PerSecond: s.RatePerSecond, Burst: s.RateBurst} }

// Bucket is a bucket of tokens, one for a request: a key's own, which empties its
// shop's along with itself.
type Bucket struct {
	Shop shop.ID
	Key  KeyID
	Rate Rate
}

// AppBucket returns the bucket of an application that calls its own operations. It
// stands under a number that no shop has.
func AppBucket(id AppID) Bucket {
	h := fnv.New32a()
	h.Write([]byte(id)) //nolint:errcheck // it never fails
	return Bucket{Shop: -1 - shop.ID(h.Sum32()), Key: 1}
}

// ShopperBucket returns the bucket of a shopper, which has the rate of the shop and is not
// shared. Its number is not used by any shop or application.
func ShopperBucket(of shop.Shop, customer int64) Bucket {
	h := fnv.New32a()
	fmt.Fprint(h, of.ID, " ", customer)
	return Bucket{Shop: -2 - math.MaxUint32 - shop.ID(h.Sum32()), Key: 1, Rate: RateOf(of.Settings)}
}

// Grant is what was taken from a bucket.
type Grant struct {
	Granted int
	Remains float64 // tokens that are left, in the emptier of the two
}

// SharedBuckets keeps buckets that all nodes share.
type SharedBuckets interface {
	// Take gives tokens back, then takes as many as are wanted or as there are,
	// from the key's bucket and from the shop's.
	Take(ctx context.Context, b Bucket, want, back int) (Grant, error)
}

// Bounds of the rate that a shop may be given.
const (
	MaxPerSecond = 1000
	MaxBurst     = 10_000
)

// CheckRate reports what is wrong with the rate in a shop's settings.
func CheckRate(s shop.Settings) error {
	if s.RatePerSecond < 0 || s.RatePerSecond > MaxPerSecond || s.RateBurst < 0 || s.RateBurst > MaxBurst {
		return fault.New(fault.Invalid, "a shop may make up to %d requests per second and %d at once; 0 stands for the installation's rate", MaxPerSecond, MaxBurst).
			Entity("shop").Code("rateRange").Field("requestsPerSecond")
	}
	return nil
}
