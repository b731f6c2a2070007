package cadence_test

import (
	"testing"
	"time"

	. "github.com/perennialhq/perennial/internal/domain/cadence"
)

func benched(b *testing.B, p Policy) Series {
	return Series{Policy: p, Calendar: Calendar{Zone: zone(b, "America/New_York"), Hour: 9}, Start: at(b, "2026-01-31T14:00:00Z")}
}

func BenchmarkNth(b *testing.B) {
	for name, p := range map[string]Policy{
		"daily": every(1, Day), "monthly": every(1, Month), "anchored": every(1, Month, monthDay(10), monthDay(20)),
		"clamped": every(1, Month, monthDay(30), monthDay(31)),
	} {
		b.Run(name, func(b *testing.B) {
			s := benched(b, p)
			b.ReportAllocs()
			for b.Loop() {
				s.Nth(480)
			}
		})
	}
}

func BenchmarkAfter(b *testing.B) {
	for name, p := range map[string]Policy{
		"daily": every(1, Day), "monthly": every(1, Month), "anchored": every(1, Month, monthDay(10), monthDay(20)),
		"clamped": every(1, Month, monthDay(30), monthDay(31)),
	} {
		b.Run(name, func(b *testing.B) {
			s := benched(b, p)
			now := time.Date(2066, 1, 20, 0, 0, 0, 0, time.UTC)
			b.ReportAllocs()
			for b.Loop() {
				s.After(now)
			}
		})
	}
}
