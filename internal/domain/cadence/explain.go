package cadence

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// String returns the policy as part of a sentence: "every 2 weeks on Monday and
// Thursday".
func (p Policy) String() string {
	unit := strings.ToLower(p.Interval.String())
	text := "every " + unit
	if p.Count != 1 {
		text = fmt.Sprintf("every %d %ss", p.Count, unit)
	}
	if len(p.Anchors) == 0 {
		return text
	}
	anchors := make([]string, len(p.Anchors))
	for i, a := range p.Anchors {
		anchors[i] = a.String()
	}
	return text + " on " + listed(anchors)
}

// String returns the anchor's day as part of a sentence: "Monday", "the 15th",
// "29 February".
func (a Anchor) String() string {
	switch a.Kind {
	case Weekday:
		return time.Weekday(a.Day % 7).String()
	case YearDay:
		return fmt.Sprintf("%d %s", a.Day, time.Month(a.Month))
	default:
		return "the " + ordinal(a.Day)
	}
}

// String returns the order time and the zone as part of a sentence: "09:00 in
// Europe/Berlin".
func (c Calendar) String() string { return fmt.Sprintf("%s in %s", c.OrderTime(), c.zone()) }

// OrderTime returns the time of day at which orders fall due, as 09:00.
func (c Calendar) OrderTime() string { return timeOfDay(c.secondOfDay()) }

// String returns the rule of the series as part of a sentence: "every month,
// counted from 2025-01-31, at 09:00 in Europe/Berlin".
func (s Series) String() string {
	return fmt.Sprintf("%s, counted from %s, at %s", s.Policy, s.Day(s.Start), s.Calendar)
}

// Explain returns sentences that say why occurrence n does not fall on the day
// and at the time that the rule of the series names; none when it does. They
// call the occurrence "it".
func (s Series) Explain(n int) []string {
	row, ok := s.row()
	if !ok || n < 0 {
		return nil
	}
	day, ok := s.planned(row, int64(n))
	if !ok {
		return []string{"It would be after the last year of the calendar."}
	}
	var why []string
	if a, anchored := row.(anchored); anchored && n == 0 && a.lead > 0 {
		why = append(why, fmt.Sprintf("The series starts on a day of its own, %s: the fixed days count from the next order on.", numbered(day)))
	} else if wanted := s.wanted(row, day); wanted > numbered(day).Day {
		d := numbered(day)
		why = append(why, fmt.Sprintf("%s %d has no %s, so it falls on the last day of the month, the %s.", d.Month, d.Year, ordinal(wanted), ordinal(d.Day)))
	}
	return append(why, s.explainTime(day)...)
}

// wanted returns the day of the month on which the rule puts an occurrence, which
// its month may not have; 0 when the rule names none.
func (s Series) wanted(row days, day int64) int {
	d := numbered(day)
	switch row := row.(type) {
	case everyMonths:
		return row.dayOfMonth
	case anchored:
		wanted := 0
		for _, a := range s.Anchors {
			if a.Kind == Weekday || a.Kind == YearDay && time.Month(a.Month) != d.Month || a.Day < d.Day {
				continue
			}
			if a.Day == d.Day {
				return 0 // it falls on this one as it is
			}
			if wanted == 0 || a.Day < wanted {
				wanted = a.Day
			}
		}
		return wanted
	}
	return 0
}

// explainTime says what the clocks make of the order time of a day.
func (s Series) explainTime(day int64) []string {
	at := s.local(day)
	fallen := s.Calendar.day(at)
	if fallen != day {
		return append([]string{fmt.Sprintf("The day %s does not exist in %s, so it falls on the next day that does, %s.", numbered(day), s.zone(), numbered(fallen))}, s.explainTime(fallen)...)
	}
	wanted, shown := s.secondOfDay(), s.reading(at)-day*secondsPerDay
	clocks := fmt.Sprintf("On %s the clocks in %s", numbered(day), s.zone())
	switch {
	case shown > wanted:
		return []string{fmt.Sprintf("%s skip %s, so it falls at %s, the first time after.", clocks, timeOfDay(wanted), timeOfDay(shown))}
	case shown < wanted:
		return []string{fmt.Sprintf("%s skip %s and what is left of the day, so it falls at %s, the last minute before.", clocks, timeOfDay(wanted), timeOfDay(shown))}
	case s.repeated(at):
		return []string{fmt.Sprintf("%s show %s twice: the first time counts.", clocks, timeOfDay(wanted))}
	}
	return nil
}

// repeated reports whether the clocks show the same time once more within a day.
func (c Calendar) repeated(at time.Time) bool {
	until := at.Add(24 * time.Hour)
	for t := at.In(c.zone()); t.Before(until); {
		if t = steadyUntil(t); t.IsZero() {
			return false
		}
		if back := c.offset(at) - c.offset(t); back > 0 {
			again := at.Add(time.Duration(back) * time.Second)
			return !again.Before(t) && c.reading(again) == c.reading(at)
		}
	}
	return false
}

func timeOfDay(second int64) string { return fmt.Sprintf("%02d:%02d", second/3600, second/60%60) }

// ordinal returns 1st, 2nd, 3rd, 4th and so on.
func ordinal(n int) string {
	ends := map[int]string{1: "st", 2: "nd", 3: "rd"}
	if end, ok := ends[n%10]; ok && n/10%10 != 1 {
		return fmt.Sprintf("%d%s", n, end)
	}
	return fmt.Sprintf("%dth", n)
}

// listed joins words as people do: "a, b and c".
func listed(words []string) string {
	words = slices.Compact(words)
	if len(words) == 1 {
		return words[0]
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
