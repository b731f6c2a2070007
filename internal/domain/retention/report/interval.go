package report

import "math"

// z is the quantile of the normal distribution of an interval of 95 percent.
const z = 1.959963984540054

// Share is how many of a number.
type Share struct{ Is, Of int }

// Value returns the share, from 0 to 1; 0 of nothing.
func (s Share) Value() float64 {
	if s.Of == 0 {
		return 0
	}
	return float64(s.Is) / float64(s.Of)
}

// Interval returns the interval in which the true share lies with a confidence of 95 percent, by
// Wilson's score method without continuity correction (E. B. Wilson, Journal of the American
// Statistical Association 22, 1927). Of nothing it is from 0 to 1.
func (s Share) Interval() (low, high float64) {
	if s.Of == 0 {
		return 0, 1
	}
	n, p := float64(s.Of), s.Value()
	middle, half := 2*n*p+z*z, z*math.Sqrt(z*z+4*n*p*(1-p))
	return max(0, (middle-half)/(2*(n+z*z))), min(1, (middle+half)/(2*(n+z*z)))
}

// Difference is the difference of two shares, with the interval in which the true one lies with a
// confidence of 95 percent.
type Difference struct {
	Is, Low, High float64
	Known         bool // there is something on both sides
}

// Clear reports whether the interval leaves out that there is no difference.
func (d Difference) Clear() bool { return d.Known && (d.Low > 0 || d.High < 0) }

// Minus returns the difference of two shares. Its interval is the hybrid score interval of
// R. G. Newcombe (Statistics in Medicine 17, 1998, pages 873 to 890, method 10), which holds for
// small numbers, too.
func (s Share) Minus(o Share) Difference {
	if s.Of == 0 || o.Of == 0 {
		return Difference{}
	}
	p, q := s.Value(), o.Value()
	sLow, sHigh := s.Interval()
	oLow, oHigh := o.Interval()
	return Difference{p - q, p - q - math.Hypot(p-sLow, oHigh-q), p - q + math.Hypot(sHigh-p, q-oLow), true}
}
