package cadence_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	. "github.com/perennialhq/perennial/internal/domain/cadence"
)

func every(count int, i Interval, anchors ...Anchor) Policy {
	return Policy{Interval: i, Count: count, Anchors: anchors}
}

func weekday(day int) Anchor        { return Anchor{Kind: Weekday, Day: day} }
func monthDay(day int) Anchor       { return Anchor{Kind: MonthDay, Day: day} }
func yearDay(month, day int) Anchor { return Anchor{Kind: YearDay, Month: month, Day: day} }

func TestNames(t *testing.T) {
	t.Parallel()
	for _, i := range []Interval{Day, Week, Month, Year} {
		for _, s := range []string{i.String(), strings.ToLower(i.String())} {
			if got, err := ParseInterval(s); got != i || err != nil {
				t.Errorf("ParseInterval(%q) = %v, %v", s, got, err)
			}
		}
	}
	for _, k := range []AnchorKind{Weekday, MonthDay, YearDay} {
		for _, s := range []string{k.String(), strings.ToLower(k.String())} {
			if got, err := ParseAnchorKind(s); got != k || err != nil {
				t.Errorf("ParseAnchorKind(%q) = %v, %v", s, got, err)
			}
		}
	}
	for _, b := range []PreAnchor{ASAP, Next} {
		for _, s := range []string{b.String(), strings.ToLower(b.String())} {
			if got, err := ParsePreAnchor(s); got != b || err != nil {
				t.Errorf("ParsePreAnchor(%q) = %v, %v", s, got, err)
			}
		}
	}
	if Month.String() != "MONTH" || MonthDay.String() != "MONTHDAY" || Next.String() != "NEXT" {
		t.Errorf("names are %q, %q, %q", Month, MonthDay, Next)
	}
	if s := Interval(0).String() + Interval(99).String() + AnchorKind(-1).String() + PreAnchor(2).String(); s != "" {
		t.Errorf("what is none is called %q", s)
	}
	for _, s := range []string{"", "MONTHS", "fortnight", " DAY"} {
		_, interval := ParseInterval(s)
		_, kind := ParseAnchorKind(s)
		_, behaviour := ParsePreAnchor(s)
		for _, err := range []error{interval, kind, behaviour} {
			if !fault.Is(err, fault.Invalid) {
				t.Errorf("parsing %q: %v", s, err)
			}
		}
	}
}

func TestParseDate(t *testing.T) {
	t.Parallel()
	if d, err := ParseDate("2024-02-29"); err != nil || d != (Date{Year: 2024, Month: time.February, Day: 29}) || d.String() != "2024-02-29" {
		t.Errorf("got %v, %v", d, err)
	}
	for _, s := range []string{"", "2023-02-29", "2024-2-9", "2024-02-29T00:00:00Z"} {
		if d, err := ParseDate(s); !fault.Is(err, fault.Invalid) {
			t.Errorf("ParseDate(%q) = %v, %v", s, d, err)
		}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	cutoff := func(days int) Anchor { return Anchor{Kind: MonthDay, Day: 15, Cutoff: days} }
	for _, row := range []struct {
		name        string
		policy      Policy
		field, want string // empty: valid
	}{
		{"a plain policy is valid", every(1, Month), "", ""},
		{"the highest count is valid", every(365, Year), "", ""},
		{"several anchors are valid", every(2, Week, weekday(1), weekday(7)), "", ""},
		{"the month of a month day is ignored", every(1, Month, Anchor{Kind: MonthDay, Day: 31, Month: 12}), "", ""},
		{"a yearly policy has year days", every(1, Year, yearDay(2, 29)), "", ""},
		{"a quarterly policy may have year days", every(3, Month, yearDay(1, 1), yearDay(4, 1)), "", ""},
		{"the longest cutoff is valid", every(1, Month, cutoff(365)), "", ""},
		{"the zero policy is not", Policy{}, "interval", "the interval must be DAY, WEEK, MONTH or YEAR"},
		{"an unknown interval is not", every(1, Interval(5)), "interval", "the interval must be DAY, WEEK, MONTH or YEAR"},
		{"no count is not", every(0, Day), "intervalCount", "the interval count is 0 and must be from 1 to 365"},
		{"a negative count is not", every(-1, Day), "intervalCount", "the interval count is -1 and must be from 1 to 365"},
		{"too high a count is not", every(366, Day), "intervalCount", "the interval count is 366 and must be from 1 to 365"},
		{"a daily policy has no anchors", every(1, Day, weekday(1)), "anchors", "a DAY interval has no anchors"},
		{"a weekly policy has no month days", every(1, Week, monthDay(1)), "anchors", "a WEEK interval has no MONTHDAY anchors"},
		{"a monthly policy has no weekdays", every(1, Month, weekday(1)), "anchors", "a MONTH interval has no WEEKDAY anchors"},
		{"a yearly policy has no month days", every(1, Year, monthDay(1)), "anchors", "a YEAR interval has no MONTHDAY anchors"},
		{"an anchor has a kind", every(1, Month, Anchor{Day: 1}), "anchors", "the kind of anchor must be WEEKDAY, MONTHDAY or YEARDAY"},
		{"weekdays start with 1", every(1, Week, weekday(0)), "anchors", "the day of a WEEKDAY anchor is 0 and must be from 1 (Monday) to 7"},
		{"weekdays end with 7", every(1, Week, weekday(8)), "anchors", "the day of a WEEKDAY anchor is 8 and must be from 1 (Monday) to 7"},
		{"months end with 31", every(1, Month, monthDay(15), monthDay(32)), "anchors", "the day of a MONTHDAY anchor is 32 and must be from 1 to 31"},
		{"a year day has a month", every(1, Year, yearDay(0, 1)), "anchors", "the month of a YEARDAY anchor is 0 and must be from 1 to 12"},
		{"years have 12 months", every(1, Year, yearDay(13, 1)), "anchors", "the month of a YEARDAY anchor is 13 and must be from 1 to 12"},
		{"a cutoff is not negative", every(1, Month, cutoff(-1)), "anchors", "the cutoff of an anchor is -1 and must be from 0 to 365 days"},
		{"a cutoff is at most a year", every(1, Month, cutoff(366)), "anchors", "the cutoff of an anchor is 366 and must be from 0 to 365 days"},
		{"anchors have an end", every(1, Year, make([]Anchor, 367)...), "anchors", "there are 367 anchors and there can be at most 366"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			err := row.policy.Validate()
			if row.want == "" {
				if err != nil {
					t.Errorf("got %v", err)
				}
				return
			}
			f, ok := errors.AsType[*fault.Error](err)
			if !ok || f.Kind != fault.Invalid || f.Param != row.field || f.Message != row.want {
				t.Errorf("got %+v, want %q at %s", f, row.want, row.field)
			}
		})
	}
}

func TestApprox(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		policy Policy
		days   int
	}{
		{"a day", every(1, Day), 1},
		{"ten days", every(10, Day), 10},
		{"two weeks", every(2, Week), 14},
		{"February is the shortest month", every(1, Month), 28},
		{"two months", every(2, Month), 59},
		{"a year of months is a year", every(12, Month), 365},
		{"a year", every(1, Year), 365},
		{"four years miss a leap day in 2100", every(4, Year), 1460},
		{"Monday to Thursday is shorter than Thursday to Monday", every(1, Week, weekday(1), weekday(4)), 3},
		{"every second week still has Monday to Thursday", every(2, Week, weekday(4), weekday(1)), 3},
		{"one weekday every second week", every(2, Week, weekday(3)), 14},
		{"the 10th and the 20th", every(1, Month, monthDay(10), monthDay(20)), 10},
		{"the 1st and the 31st", every(1, Month, monthDay(31), monthDay(1)), 1},
		{"quarters by year days", every(3, Month, yearDay(1, 1), yearDay(4, 1), yearDay(7, 1), yearDay(10, 1)), 90},
		{"centuries are the most that a duration holds", every(365, Year), 106751},
		{"a policy that is not valid", every(0, Month), 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := row.policy.Approx(); got != time.Duration(row.days)*24*time.Hour {
				t.Errorf("got %v, want %d days", got, row.days)
			}
		})
	}
}

func TestCovers(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		whole, part Policy
		want        int
	}{
		{every(3, Month), every(1, Month), 3},
		{every(1, Month), every(1, Month, monthDay(31)), 1},
		{every(1, Year), every(2, Month), 6},
		{every(4, Week), every(14, Day), 2},
		{every(1, Month), every(1, Week), 0},
		{every(3, Month), every(2, Month), 0},
		{every(1, Month), every(3, Month), 0},
		{every(1, Month), Policy{}, 0},
	} {
		if got := row.whole.Covers(row.part); got != row.want {
			t.Errorf("%v covers %d of %v, want %d", row.whole, got, row.part, row.want)
		}
	}
}
