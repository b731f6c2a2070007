package web

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// oneBucket is a shared bucket that does not refill.
type oneBucket struct {
	mu     sync.Mutex
	tokens int
	asked  []int // what was wanted, each time
	err    error
}

func (v *oneBucket) Take(_ context.Context, _ access.Bucket, want, back int) (access.Grant, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tokens += back
	granted := min(want, v.tokens)
	v.tokens -= granted
	v.asked = append(v.asked, want)
	return access.Grant{Granted: granted, Remains: float64(v.tokens)}, v.err
}

func leases(tokens int) (*Leases, *oneBucket, *clock.Manual) {
	v, at := &oneBucket{tokens: tokens}, clock.NewManual(time.Date(2025, 1, 31, 0, 0, 0, 0, time.UTC))
	return &Leases{Shared: v, Rate: Rate{PerSecond: 10, Burst: 40}, Clock: at}, v, at
}

func ask(t *testing.T, l Limiter) Allowance {
	t.Helper()
	a, err := l.Take(t.Context(), access.Bucket{Shop: 1, Key: 1})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestBusyNodeUsesAllTokensWithFewRequestsToSharedBucket(t *testing.T) {
	t.Parallel()
	l, v, _ := leases(40)
	for i := range 40 {
		if a := ask(t, l); !a.Granted || a.Limit != 40 || a.Remaining != 39-i {
			t.Fatalf("request %d: %+v", i, a)
		}
	}
	if len(v.asked) > 9 {
		t.Errorf("the shared bucket was asked %d times: %v", len(v.asked), v.asked)
	}
	if a := ask(t, l); a.Granted || a.RetryAfter != 100*time.Millisecond || a.Remaining != 0 {
		t.Errorf("with nothing left: %+v", a)
	}
}

func TestEmptySharedBucketIsNotAskedBeforeNextTokenIsDue(t *testing.T) {
	t.Parallel()
	l, v, at := leases(1)
	ask(t, l)
	for range 5 {
		if a := ask(t, l); a.Granted {
			t.Fatal("granted")
		}
	}
	if len(v.asked) != 2 {
		t.Errorf("asked %v", v.asked)
	}
	v.tokens = 1
	at.Set(at.Now().Add(100 * time.Millisecond))
	if a := ask(t, l); !a.Granted {
		t.Errorf("after the wait: %+v", a)
	}
}

func TestUnusedTokensAreReturnedWithNextRequest(t *testing.T) {
	t.Parallel()
	l, v, at := leases(10)
	for range 4 { // lots of 1, 2 and 4, with one token used
		ask(t, l)
	}
	if v.tokens != 3 {
		t.Fatalf("%d are left after %v", v.tokens, v.asked)
	}
	at.Set(at.Now().Add(leaseLife))
	ask(t, l)
	if got := v.asked[len(v.asked)-1]; got != 1 || v.tokens != 5 {
		t.Errorf("%d wanted, %d are left", got, v.tokens)
	}
}

func TestUnreachableSharedBucketAnswersUnavailable(t *testing.T) {
	t.Parallel()
	l, v, _ := leases(10)
	v.err = errors.New("away")
	if _, err := l.Take(t.Context(), access.Bucket{Shop: 1, Key: 1}); !fault.Is(err, fault.Unavailable) {
		t.Error(err)
	}
}

func TestRateOfShopOverridesDefault(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]Limiter{
		"in this process":     &Buckets{Clock: clock.NewManual(time.Unix(0, 0))},
		"over shared buckets": func() Limiter { l, _, _ := leases(40); return l }(),
	} {
		a, err := l.Take(t.Context(), access.Bucket{Shop: 1, Key: 1, Rate: Rate{PerSecond: 1, Burst: 1000}})
		if err != nil || a.Limit != 1000 {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

// Two nodes with a database handle each, as they are run in earnest.
func TestNodesShareLimit(t *testing.T) {
	t.Parallel()
	o := storetest.PostgresOptions(t)
	rate := Rate{PerSecond: 10, Burst: 40}
	nodes := []Limiter{Limits(storetest.Open(t, o).SharedBuckets(), rate), Limits(storetest.Open(t, o).SharedBuckets(), rate)}
	began := clock.System{}.Now()
	var granted atomic.Int32
	var together sync.WaitGroup
	for n := range 200 {
		together.Go(func() {
			a, err := nodes[n%len(nodes)].Take(t.Context(), access.Bucket{Shop: 1, Key: 1})
			if err != nil {
				t.Error(err)
			}
			if a.Granted {
				granted.Add(1)
			}
		})
	}
	together.Wait()
	most := 40 + int(math.Ceil(10*(clock.System{}.Now().Sub(began)+time.Millisecond).Seconds()))
	// What one node holds and has no request for is not granted by another.
	if got := int(granted.Load()); got < 40-leaseMost || got > most {
		t.Errorf("%d of 200 were granted, where %d may be", got, most)
	}
}

func TestSingleNodeGetsWholeLimit(t *testing.T) {
	t.Parallel()
	l := Limits(storetest.Postgres(t).SharedBuckets(), Rate{PerSecond: 0.001, Burst: 40})
	granted := 0
	for range 60 {
		if a := ask(t, l); a.Granted {
			granted++
		}
	}
	if granted != 40 {
		t.Errorf("%d were granted", granted)
	}
}
