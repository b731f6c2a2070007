//go:build soak

package table_test

import (
	"io"
	"runtime"
	"testing"
)

// A file of a million rows takes no more memory than one of ten thousand while it is read after its scan.
func TestMemoryStaysFlat(t *testing.T) {
	heap := func(rows int) (most, contracts uint64) {
		for _, err := range readTwice(t, func() io.Reader { return lines(rows) }) {
			if err != nil {
				t.Fatal(err)
			}
			if contracts++; contracts%(uint64(rows)/8) == 0 { //nolint:gosec // not negative
				var stats runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&stats)
				most = max(most, stats.HeapAlloc)
			}
		}
		return most, contracts
	}
	few, _ := heap(10_000)
	many, contracts := heap(1_000_000)
	if grown := int64(many) - int64(few); grown > int64(contracts)*2 || contracts != 750_001 { //nolint:gosec // small
		t.Errorf("%d contracts took %d bytes more than few", contracts, grown)
	} else {
		t.Logf("%d contracts took %d bytes more than few", contracts, grown)
	}
}
