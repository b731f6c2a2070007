package sandbox

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
)

func TestSpansFollowTheCalendar(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, span, from, want string }{
		{"a month after the 31st is the last day of a shorter one", "P1M", "2027-01-31T12:00:00Z", "2027-02-28T12:00:00Z"},
		{"a year after 29 February is 28 February", "P1Y", "2028-02-29T00:00:00Z", "2029-02-28T00:00:00Z"},
		{"a year is the same day of the next one", "P1Y", "2026-11-01T12:00:00Z", "2027-11-01T12:00:00Z"},
		{"days have 24 hours", "P30D", "2026-11-01T12:00:00Z", "2026-12-01T12:00:00Z"},
		{"weeks have seven days", "P2W", "2026-11-01T12:00:00Z", "2026-11-15T12:00:00Z"},
		{"hours and minutes follow the T", "PT1H30M", "2026-11-01T12:00:00Z", "2026-11-01T13:30:00Z"},
		{"M means months before the T", "P1MT1M", "2026-11-01T12:00:00Z", "2026-12-01T12:01:00Z"},
		{"seconds may have a fraction", "PT1.5S", "2026-11-01T12:00:00Z", "2026-11-01T12:00:01.5Z"},
		{"everything at once", "P1Y2M3W4DT5H6M7S", "2026-11-01T12:00:00Z", "2028-01-26T17:06:07Z"},
		{"nothing at all is allowed when it is said", "P0D", "2026-11-01T12:00:00Z", "2026-11-01T12:00:00Z"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, err := parseSpan(row.span)
			if err != nil {
				t.Fatal(err)
			}
			from, err := time.Parse(time.RFC3339, row.from)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.after(from).Format(time.RFC3339Nano); got != row.want {
				t.Errorf("%s after %s is %s, want %s", row.span, row.from, got, row.want)
			}
		})
	}
}

func TestInvalidDurationsAreRefused(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "P", "PT", "P1DT", "30D", "P-1D", "-P1D", "P1H", "PT1D", "P1.5D", "p1d", "P1D ", "P99999999D", "P1D1Y", "1 day"} {
		if got, err := parseSpan(s); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q was read as %+v (%v)", s, got, err)
		}
	}
}
