package report

import (
	"math"
	"testing"
)

// The values are those of the papers that the methods are from.
func TestIntervalsAreThoseOfThePapers(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		is        Share
		low, high float64
	}{
		"81 of 263": {Share{81, 263}, 0.2553, 0.3662}, "15 of 148": {Share{15, 148}, 0.0624, 0.1605},
		"none of 20": {Share{0, 20}, 0, 0.1611}, "one of 29": {Share{1, 29}, 0.0061, 0.1718}, "of nothing": {Share{}, 0, 1},
	} {
		low, high := row.is.Interval()
		if math.Abs(low-row.low) > 0.00005 || math.Abs(high-row.high) > 0.00005 {
			t.Errorf("%s: %.4f to %.4f, want %.4f to %.4f", name, low, high, row.low, row.high)
		}
	}
	for name, row := range map[string]struct {
		a, b      Share
		low, high float64
		clear     bool
	}{
		"56 of 70 and 48 of 80":    {Share{56, 70}, Share{48, 80}, 0.0524, 0.3339, true},
		"9 of 10 and 3 of 10":      {Share{9, 10}, Share{3, 10}, 0.1705, 0.8090, true},
		"5 of 56 and none of 29":   {Share{5, 56}, Share{0, 29}, -0.0381, 0.1926, false},
		"none of 10 and of 20":     {Share{0, 10}, Share{0, 20}, -0.1611, 0.2775, false},
		"all of 10 and none of 20": {Share{10, 10}, Share{0, 20}, 0.6791, 1, true},
	} {
		d := row.a.Minus(row.b)
		if math.Abs(d.Low-row.low) > 0.00005 || math.Abs(d.High-row.high) > 0.00005 || d.Clear() != row.clear {
			t.Errorf("%s: %.4f to %.4f (clear: %t), want %.4f to %.4f", name, d.Low, d.High, d.Clear(), row.low, row.high)
		}
	}
	if d := (Share{1, 2}).Minus(Share{}); d.Known || d.Clear() {
		t.Errorf("of nothing: %+v", d)
	}
}
