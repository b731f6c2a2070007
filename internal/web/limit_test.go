package web

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

func take(t *testing.T, b *Buckets, of shop.ID, key access.KeyID) Allowance {
	t.Helper()
	a, err := b.Take(t.Context(), access.Bucket{Shop: of, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestBucketsRefuseRequestsAboveRate(t *testing.T) {
	t.Parallel()
	start := time.Date(2025, 1, 31, 0, 0, 0, 0, time.UTC)
	at := clock.NewManual(start)
	b := &Buckets{Rate: Rate{PerSecond: 2, Burst: 3}, Clock: at}
	for i, remaining := range []int{2, 1, 0} {
		if a := take(t, b, 1, 1); !a.Granted || a.Remaining != remaining || a.Limit != 3 {
			t.Errorf("request %d: %+v", i, a)
		}
	}
	if a := take(t, b, 1, 1); a.Granted || a.Remaining != 0 || a.RetryAfter != 500*time.Millisecond || a.Reset != 1500*time.Millisecond {
		t.Errorf("the fourth: %+v", a)
	}
	if a := take(t, b, 1, 2); a.Granted {
		t.Errorf("another key of the shop got past the shop's bucket: %+v", a)
	}
	if a := take(t, b, 2, 1); !a.Granted || a.Remaining != 2 {
		t.Errorf("another shop: %+v", a)
	}
	at.Set(start.Add(500 * time.Millisecond))
	if a := take(t, b, 1, 1); !a.Granted {
		t.Errorf("after the wait: %+v", a)
	}
	if a := take(t, b, 1, 1); a.Granted {
		t.Errorf("at once after that: %+v", a)
	}
	at.Set(start.Add(time.Hour))
	if a := take(t, b, 1, 1); !a.Granted || a.Remaining != 2 || a.Reset != 500*time.Millisecond {
		t.Errorf("after an hour: %+v", a)
	}
}

func TestRefusedRequestTakesNoTokenOfShop(t *testing.T) {
	t.Parallel()
	at := clock.NewManual(time.Date(2025, 1, 31, 0, 0, 0, 0, time.UTC))
	b := &Buckets{Rate: Rate{PerSecond: 1, Burst: 2}, Clock: at}
	take(t, b, 1, 1)
	take(t, b, 1, 1)
	for range 5 {
		take(t, b, 1, 1)
	}
	at.Set(at.Now().Add(time.Second))
	if a := take(t, b, 1, 2); !a.Granted {
		t.Errorf("refused requests used up the shop's tokens: %+v", a)
	}
}

func TestFullBucketsAreDropped(t *testing.T) {
	t.Parallel()
	at := clock.NewManual(time.Date(2025, 1, 31, 0, 0, 0, 0, time.UTC))
	b := &Buckets{Clock: at}
	for id := range shop.ID(tidyAt / 2) {
		take(t, b, id, 1)
	}
	take(t, b, 1, 1)
	if len(b.keys) != tidyAt {
		t.Fatalf("%d buckets", len(b.keys))
	}
	at.Set(at.Now().Add(time.Minute))
	take(t, b, 1, 1)
	if len(b.keys) != 2 {
		t.Errorf("%d buckets are held", len(b.keys))
	}
}
