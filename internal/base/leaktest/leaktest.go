// Package leaktest starts and stops something many times and fails the test when
// that costs memory, goroutines or time.
package leaktest

import (
	"runtime"
	"slices"
	"testing"
	"time"
)

const (
	runs   = 15
	warmUp = 5 // runs after which caches are full
)

// Bounds on what the runs after the warm-up leave behind, and on how long half of all
// stops take at most: a stop takes less than a tenth of a second, more on a busy machine, and
// net/http waits for five seconds for an unused connection.
const (
	leftHeap       = 1 << 20 // bytes
	leftGoroutines = 5
	medianStop     = 3 * time.Second
)

// StartAndStop calls run 15 times, which starts something, stops it and returns how
// long stopping took. It measures the whole process: the test must not be parallel.
func StartAndStop(t *testing.T, run func() time.Duration) {
	t.Helper()
	stops := make([]time.Duration, 0, runs)
	for range warmUp {
		stops = append(stops, run())
	}
	heap, goroutines := measure()
	for range runs - warmUp {
		stops = append(stops, run())
	}
	heapAfter, goroutinesAfter := measure()
	slices.Sort(stops)
	median := stops[runs/2]
	t.Logf("median stop %s, longest %s; heap %d and %d bytes, %d and %d goroutines after %d and %d runs",
		median, stops[runs-1], heap, heapAfter, goroutines, goroutinesAfter, warmUp, runs)
	if median > medianStop {
		t.Errorf("the median stop took %s, want %s at most", median, medianStop)
	}
	if heapAfter > heap+leftHeap {
		t.Errorf("the heap grew from %d to %d bytes", heap, heapAfter)
	}
	if goroutinesAfter > goroutines+leftGoroutines {
		stacks := make([]byte, 1<<16)
		t.Errorf("%d goroutines became %d:\n%s", goroutines, goroutinesAfter, stacks[:runtime.Stack(stacks, true)])
	}
}

// measure returns what the process holds after a collection: bytes and goroutines.
func measure() (heap uint64, goroutines int) {
	for range 2 { // the second frees what the first finalized
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc, runtime.NumGoroutine()
}
