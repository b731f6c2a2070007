package sandbox

import (
	"regexp"
	"strconv"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// span is an ISO 8601 duration, such as P1Y2M10DT2H30M. Its years and months
// have no fixed length: they are counted on the calendar.
type span struct {
	months, days int
	clock        time.Duration
}

var spanForm = regexp.MustCompile(`^P(?:(\d{1,4})Y)?(?:(\d{1,5})M)?(?:(\d{1,5})W)?(?:(\d{1,6})D)?(T(?:(\d{1,6})H)?(?:(\d{1,7})M)?(?:(\d{1,9}(?:\.\d{1,3})?)S)?)?$`)

// parseSpan reads an ISO 8601 duration that does not go back in time.
func parseSpan(s string) (span, error) {
	m := spanForm.FindStringSubmatch(s)
	if m == nil || s == "P" || m[5] == "T" {
		return span{}, fault.New(fault.Invalid, "%q is not an ISO 8601 duration such as P30D, P1Y or PT1H", s)
	}
	whole := func(i int) int {
		n, _ := strconv.Atoi(m[i]) // only digits, and few of them; absent is 0
		return n
	}
	seconds, _ := strconv.ParseFloat(m[8], 64)
	return span{
		months: 12*whole(1) + whole(2),
		days:   7*whole(3) + whole(4),
		clock: time.Duration(whole(6))*time.Hour + time.Duration(whole(7))*time.Minute +
			time.Duration(seconds*1000+0.5)*time.Millisecond,
	}, nil
}

// after returns the instant that lies the span after t. A day that the month
// reached does not have becomes its last one.
func (s span) after(t time.Time) time.Time {
	y, m, d := t.Date()
	first := time.Date(y, m+time.Month(s.months), 1, 0, 0, 0, 0, t.Location())
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(d, last)-1+s.days).Add(sinceMidnight(t) + s.clock)
}

func sinceMidnight(t time.Time) time.Duration {
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute +
		time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
}
