package cadence_test

import (
	"testing"
	"time"

	. "github.com/perennialhq/perennial/internal/domain/cadence"
)

// FuzzSeries feeds numbers that no edge would let through. Nothing may panic
// or run on, and what a valid policy answers must still hold together.
func FuzzSeries(f *testing.F) {
	f.Add("MONTH", 1, 2, 31, 0, 0, "America/New_York", 9, 0, int64(1769868000), 3, int64(1800000000))
	f.Add("week", 365, 1, 7, -1, 400, "Pacific/Apia", -1, 99, int64(1325203200), 1<<62, int64(-1<<63))
	f.Add("YEAR", 1, 3, 29, 2, 5, "Europe/Berlin", 9, 0, int64(2240524800), 15, int64(253370764800))
	f.Add("DAY", 1, 0, 0, 0, 0, "Nowhere", 23, 59, int64(1<<62), -5, int64(1<<62))
	f.Add("YEAR", 322, 0, 10, -76, -84, "UTC", 57, 114, int64(2240524910), 101, int64(253370765011))
	f.Fuzz(func(t *testing.T, interval string, count, kind, day, month, cutoff int, name string, hour, minute int, start int64, n int, after int64) {
		i, err := ParseInterval(interval)
		if (err == nil) != (i.String() != "") {
			t.Fatalf("ParseInterval(%q) = %v, %v", interval, i, err)
		}
		p := Policy{Interval: i, Count: count}
		if kind != 0 {
			p.Anchors = []Anchor{
				{Kind: AnchorKind(kind), Day: day, Month: month, Cutoff: cutoff},
				{Kind: AnchorKind(kind), Day: day - 1, Month: month},
			}
		}
		z, err := time.LoadLocation(name)
		if err != nil {
			z = nil
		}
		s := Series{Policy: p, Calendar: Calendar{Zone: z, Hour: hour, Minute: minute}, Start: time.Unix(start, 0)}
		t1, t2 := s.Nth(n), s.After(time.Unix(after, 0))
		first, next := p.First(s.Calendar, s.Start, PreAnchor(kind))
		gap := p.Approx()
		if p.Validate() != nil {
			if !t1.Equal(Never()) || !next.Equal(Never()) || gap != 0 {
				t.Fatalf("a policy that is not valid gives %s, %s, %s", t1, next, gap)
			}
			return
		}
		if gap < 24*time.Hour || next.Before(first) {
			t.Fatalf("%v: gap %s, first %s, next %s", p, gap, first, next)
		}
		if at := time.Unix(after, 0); at.Before(Never()) && !s.Nth(t2).After(at) {
			t.Fatalf("occurrence %d is not after %s", t2, at)
		}
		if !t1.Equal(Never()) && (s.After(t1) != n+1 || s.After(t1.Add(-1)) != n) {
			t.Fatalf("occurrence %d is %s, whose numbers are %d and %d", n, t1, s.After(t1), s.After(t1.Add(-1)))
		}
	})
}
