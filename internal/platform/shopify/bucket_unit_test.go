package shopify

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/platform"
)

// mustTake takes points that are free at once.
func mustTake(t *testing.T, b *bucket, points float64, p platform.Priority) reservation {
	t.Helper()
	r, err := b.take(t.Context(), points, p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func heardOf(available, actual float64) cost {
	return cost{Requested: actual, Actual: &actual, Throttle: &throttleStatus{Maximum: 2000, Available: available, Restore: 100}}
}

func TestBucketEstimate(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name string
		do   func(t *testing.T, b *bucket)
		want float64
	}{
		{"an answer sets the level", func(t *testing.T, b *bucket) {
			b.settle(mustTake(t, b, 100, platform.Background), heardOf(1234, 60))
		}, 1234},
		{"requests under way are taken off what the platform says", func(t *testing.T, b *bucket) {
			r := mustTake(t, b, 100, platform.Background)
			mustTake(t, b, 500, platform.Background)
			b.settle(r, heardOf(1900, 100))
		}, 1400},
		{"an answer that a newer one has overtaken only gives back what was not used", func(t *testing.T, b *bucket) {
			older, newer := mustTake(t, b, 100, platform.Background), mustTake(t, b, 200, platform.Background)
			b.settle(newer, heardOf(1000, 200))
			b.settle(older, heardOf(1990, 40))
		}, 1000 - 100 + 100 - 40},
		{"an overtaken request that was throttled gives back everything", func(t *testing.T, b *bucket) {
			older, newer := mustTake(t, b, 100, platform.Background), mustTake(t, b, 200, platform.Background)
			b.settle(newer, heardOf(1000, 200))
			b.settle(older, cost{Requested: 100, Throttle: &throttleStatus{Maximum: 2000, Available: 1990, Restore: 100}})
		}, 1000},
		{"a request without an answer counts as spent", func(t *testing.T, b *bucket) {
			b.settle(mustTake(t, b, 100, platform.Background), cost{})
		}, 1900},
		{"there is never more than the bucket holds", func(t *testing.T, b *bucket) {
			b.settle(mustTake(t, b, 100, platform.Background), heardOf(9999, 1))
		}, 2000},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			b := newBucket(clock.NewManual(time.Unix(0, 0)))
			row.do(t, b)
			if b.level != row.want {
				t.Errorf("the level is %v, want %v", b.level, row.want)
			}
		})
	}
}

func TestLastPointsAreForInteractiveCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBucket(clock.System{})
		const reserve = guessMaximum * reserveShare
		mustTake(t, b, guessMaximum-reserve, platform.Background)
		before := time.Now()
		mustTake(t, b, reserve/2, platform.ForPerson)
		if took := time.Since(before); took != 0 {
			t.Errorf("a person waited %v for the reserve", took)
		}
		mustTake(t, b, reserve, platform.Background)
		// What the person took and the reserve itself come back first.
		if took := time.Since(before); took.Seconds() < reserve*3/2/guessRestore {
			t.Errorf("work in the background waited %v only and took from the reserve", took)
		}
	})
}

// restless is a task of one part, which begins a rest.
type restless func() (end func())

func (r restless) Yield() (end func()) { return r() }
func (restless) Done()                 {}

// A task that waits for points yields its worker.
func TestThrottledTaskReleasesItsSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var began, rested time.Duration
		rests := 0
		start := time.Now()
		ctx := task.WithYielder(t.Context(), restless(func() (end func()) {
			began = time.Since(start)
			return func() { rests, rested = rests+1, time.Since(start)-began }
		}))
		b := newBucket(clock.System{})
		for _, points := range []float64{guessMaximum * (1 - reserveShare), 3 * guessRestore} {
			if _, err := b.take(ctx, points, platform.Background); err != nil {
				t.Fatal(err)
			}
		}
		if rests != 1 || began != 0 || rested.Round(time.Second) != 3*time.Second {
			t.Errorf("it rested %d times, from %v on, for %v", rests, began, rested)
		}
	})
}

func TestBucketRefillsOverTime(t *testing.T) {
	t.Parallel()
	now := clock.NewManual(time.Unix(0, 0))
	b := newBucket(now)
	mustTake(t, b, guessMaximum, platform.ForPerson)
	now.Set(time.Unix(3, 0))
	if d := b.wait(300); d != 0 || b.level != 300 {
		t.Errorf("after 3 s: level %v, wait %v", b.level, d)
	}
	if d := b.wait(400); d < time.Second || d > time.Second+2*time.Millisecond {
		t.Errorf("the next 100 points are there in %v, want 1 s", d)
	}
	now.Set(time.Unix(0, 0)) // the machine's clock was set back
	if d := b.wait(300); d != 0 {
		t.Errorf("a clock that is set back costs points: wait %v", d)
	}
	now.Set(time.Unix(3600, 0))
	if b.wait(1); b.level != guessMaximum {
		t.Errorf("after an hour the level is %v, want %v", b.level, guessMaximum)
	}
	if d := b.wait(guessMaximum * 10); d != 0 {
		t.Errorf("more than a full bucket is waited for: %v", d)
	}
}

func TestThrottledAnswerOnlyRaisesCost(t *testing.T) {
	t.Parallel()
	d := newDocument("X", "query X { x }", 50)
	actual := 3.0
	for _, step := range []struct {
		heard cost
		want  int64
	}{
		{cost{}, 50},
		{cost{Requested: 10}, 50},
		{cost{Requested: 70}, 70},
		{cost{Requested: 12, Actual: &actual}, 12},
	} {
		if d.learn(step.heard); d.cost.Load() != step.want {
			t.Errorf("after %+v the price is %d, want %d", step.heard, d.cost.Load(), step.want)
		}
	}
}

func TestBulkReadingIsServedLastAndKeepsPointsBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBucket(clock.System{})
		mustTake(t, b, guessMaximum*(1-2*reserveShare), platform.Bulk)
		start := time.Now()
		mustTake(t, b, guessMaximum*reserveShare, platform.Background) // kept back for it
		if waited := time.Since(start); waited != 0 {
			t.Errorf("a charge waited %v", waited)
		}
		served := make(chan platform.Priority, 2)
		for _, p := range []platform.Priority{platform.Bulk, platform.Background} {
			go func() {
				mustTake(t, b, guessRestore, p)
				served <- p
			}()
			synctest.Wait()
		}
		if first := <-served; first != platform.Background {
			t.Errorf("bulk reading was served before a charge")
		}
		<-served
	})
}
