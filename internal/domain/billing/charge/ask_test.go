package charge

import (
	"reflect"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/billing"
)

func TestFailedRequestsAreSplitIntoSmallerBatches(t *testing.T) {
	t.Parallel()
	var requests []request
	for _, failures := range []int{4, 0, 1, 4, 1, 9, 0} {
		for range 20 {
			requests = append(requests, request{Attempt: billing.Attempt{Failures: failures}})
		}
	}
	sizes := make(map[int]map[int]int) // of the calls, by failures
	covered := 0
	for _, p := range pieces(requests) {
		if p.from != covered {
			t.Fatalf("a call begins with request %d, want %d", p.from, covered)
		}
		covered = p.to
		failures := requests[p.from].Failures
		if sizes[failures] == nil {
			sizes[failures] = make(map[int]int)
		}
		sizes[failures][p.to-p.from]++
		for _, e := range requests[p.from:p.to] {
			if e.Failures != failures {
				t.Errorf("a call mixes requests that failed %d and %d times", failures, e.Failures)
			}
		}
	}
	want := map[int]map[int]int{0: {25: 1, 15: 1}, 1: {12: 3, 4: 1}, 4: {1: 40}, 9: {1: 20}}
	if covered != len(requests) || !reflect.DeepEqual(sizes, want) {
		t.Errorf("calls of these sizes: %v, want %v", sizes, want)
	}
}
