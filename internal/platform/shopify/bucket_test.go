package shopify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perennialhq/perennial/internal/platform"
)

// fakeLimit plays the platform's side of the limit: it charges what a document
// asks for, works for a while, and gives back what it did not use.
type fakeLimit struct {
	mu        sync.Mutex
	maximum   float64
	restore   float64
	level     float64
	at        time.Time
	requested float64
	actual    float64
	work      time.Duration
	spent     float64
	answered  int
	throttled int
	bodies    []string
}

func (l *fakeLimit) refill() {
	now := time.Now()
	l.level = min(l.maximum, l.level+now.Sub(l.at).Seconds()*l.restore)
	l.at = now
}

func (l *fakeLimit) RoundTrip(r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	l.mu.Lock()
	l.bodies = append(l.bodies, string(body))
	l.refill()
	if l.level < l.requested {
		l.throttled++
		defer l.mu.Unlock()
		return answers(200, `{"errors":[{"message":"Throttled","extensions":{"code":"THROTTLED"}}],`+l.extensions("null")+`}`)(r)
	}
	l.level -= l.requested
	l.mu.Unlock()
	time.Sleep(l.work)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refill()
	l.level += l.requested - l.actual
	l.spent += l.actual
	l.answered++
	return answers(200, `{"data":{"shop":{"id":"gid://shopify/Shop/1"}},`+l.extensions(fmt.Sprint(l.actual))+`}`)(r)
}

func (l *fakeLimit) extensions(actual string) string {
	return fmt.Sprintf(`"extensions":{"cost":{"requestedQueryCost":%v,"actualQueryCost":%s,"throttleStatus":{"maximumAvailable":%v,"currentlyAvailable":%d,"restoreRate":%v}}}`,
		l.requested, actual, l.maximum, int(l.level), l.restore)
}

func TestManyCallersUseWholeBudgetUnthrottled(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name  string
		limit *fakeLimit
	}{
		{"small documents on a standard plan", &fakeLimit{maximum: 2000, restore: 100, requested: 30, actual: 14, work: 80 * time.Millisecond}},
		{"large batches on a standard plan", &fakeLimit{maximum: 2000, restore: 100, requested: 750, actual: 320, work: 900 * time.Millisecond}},
		{"large batches on the largest plan", &fakeLimit{maximum: 20000, restore: 1000, requested: 750, actual: 320, work: 900 * time.Millisecond}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const callers, length = 16, 5 * time.Minute
				limit := row.limit
				limit.at = time.Now() // and empty, so that nothing but what is restored can be used
				c := New(Options{HTTP: &http.Client{Transport: limit}})
				ctx, cancel := context.WithTimeout(t.Context(), length)
				defer cancel()
				var wg sync.WaitGroup
				for range callers {
					wg.Go(func() {
						for {
							_, err := c.Store(ctx, demo)
							if errors.Is(err, platform.ErrThrottled) || ctx.Err() != nil {
								return // there is no time left for another
							}
							if err != nil {
								t.Errorf("a call failed: %v", err)
							}
						}
					})
				}
				wg.Wait()
				limit.mu.Lock()
				defer limit.mu.Unlock()
				t.Logf("%d answers, %.0f points, %d throttled", limit.answered, limit.spent, limit.throttled)
				restored := limit.restore * length.Seconds()
				if share := limit.spent / restored; share < 0.95 {
					t.Errorf("%.1f %% of the restored points were used, want 95", 100*share)
				}
				// Before the first answer the price is a guess.
				if allowed := callers; limit.throttled > allowed {
					t.Errorf("throttled %d times in %d answers, want at most %d", limit.throttled, limit.answered, allowed)
				}
			})
		})
	}
}

func TestThrottledRequestIsRepeatedUnchanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		// Another app emptied the bucket.
		limit := &fakeLimit{maximum: 2000, restore: 100, requested: 500, actual: 500, at: time.Now()}
		c := New(Options{HTTP: &http.Client{Transport: limit}})
		before := time.Now()
		if _, err := c.Store(t.Context(), demo); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(before); took < 7*time.Second || took > 8*time.Second {
			t.Errorf("it took %v, want little more than the 7 s in which 500 points and the reserve come back", took)
		}
		if len(limit.bodies) != 2 || limit.bodies[0] != limit.bodies[1] {
			t.Errorf("%d bodies were sent, want the same one twice", len(limit.bodies))
		}
	})
}

func TestCallerWithShortDeadlineIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limit := &fakeLimit{maximum: 2000, restore: 100, requested: 500, actual: 500, at: time.Now()}
		c := New(Options{HTTP: &http.Client{Transport: limit}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		before := time.Now()
		_, err := c.Store(ctx, demo)
		if !errors.Is(err, platform.ErrThrottled) || errors.Is(err, platform.ErrUnknown) {
			t.Errorf("got %v, want ErrThrottled", err)
		}
		if took := time.Since(before); took > 100*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}

func TestEndlessThrottlingIsAnError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sent := 0
		c := newClient(func(r *http.Request) (*http.Response, error) {
			sent++
			return answers(200, topLevel(codeThrottled))(r)
		})
		if _, err := c.Store(t.Context(), demo); !errors.Is(err, platform.ErrThrottled) {
			t.Errorf("got %v, want ErrThrottled", err)
		}
		if sent != maxThrottled {
			t.Errorf("sent %d times, want %d", sent, maxThrottled)
		}
	})
}

func TestInteractiveCallGoesBeforeBackground(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limit := &fakeLimit{maximum: 2000, restore: 100, requested: 500, actual: 500, at: time.Now()}
		c := New(Options{HTTP: &http.Client{Transport: limit}})
		if _, err := c.Store(t.Context(), demo); err != nil { // learns the price
			t.Fatal(err)
		}
		var mu sync.Mutex
		var order []string
		var wg sync.WaitGroup
		call := func(ctx context.Context, name string) {
			wg.Go(func() {
				if _, err := c.Store(ctx, demo); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				mu.Lock()
				defer mu.Unlock()
				order = append(order, name)
			})
			synctest.Wait()
		}
		call(t.Context(), "first")
		call(t.Context(), "second")
		call(platform.Interactive(t.Context()), "person")
		wg.Wait()
		if got := strings.Join(order, " "); got != "person first second" {
			t.Errorf("served %s", got)
		}
	})
}

func TestCancelledCallerLetsNextThrough(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limit := &fakeLimit{maximum: 2000, restore: 100, requested: 500, actual: 500, at: time.Now()}
		c := New(Options{HTTP: &http.Client{Transport: limit}})
		if _, err := c.Store(t.Context(), demo); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := c.Store(ctx, demo); !errors.Is(err, platform.ErrThrottled) {
				t.Errorf("the one that gives up: %v", err)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if _, err := c.Store(t.Context(), demo); err != nil {
				t.Errorf("the next one: %v", err)
			}
		})
		synctest.Wait()
		cancel()
		wg.Wait()
	})
}
