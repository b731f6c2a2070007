package locale

import (
	"strconv"
	"strings"
	"time"
)

// Date writes a day out, with its weekday: "Friday, January 2, 2026". The day is that of
// the time's own zone.
func (p *Printer) Date(t time.Time) string { return p.when(p.formats.date, t) }

// ShortDate writes a day briefly: "Jan 2, 2026".
func (p *Printer) ShortDate(t time.Time) string { return p.when(p.formats.short, t) }

// Time writes the time of a day in hours and minutes: "3:04 PM".
func (p *Printer) Time(t time.Time) string { return p.when(p.formats.clock, t) }

// when fills a pattern of formats.
func (p *Printer) when(pattern string, t time.Time) string {
	f := p.formats
	return fill(pattern, func(part string) (string, bool) {
		switch part {
		case "weekday":
			return f.weekdays[t.Weekday()], true
		case "day":
			if f.firstDay != "" && t.Day() == 1 {
				return f.firstDay, true
			}
			return strconv.Itoa(t.Day()), true
		case "dd":
			return t.Format("02"), true
		case "month":
			return f.months[t.Month()-1], true
		case "mon":
			return f.shortMonths[t.Month()-1], true
		case "mm":
			return t.Format("01"), true
		case "year":
			return strconv.Itoa(t.Year()), true
		case "hour":
			return strconv.Itoa(t.Hour()), true
		case "hh":
			return t.Format("15"), true
		case "halfday":
			return t.Format("3"), true
		case "minute":
			return t.Format("04"), true
		case "noon":
			return t.Format("PM"), true
		}
		return "", false
	})
}

// List joins parts as a language lists them: "A, B, and C".
func (p *Printer) List(parts []string) string {
	l := p.formats.list
	switch len(parts) {
	case 0:
		return ""
	case 1:
		return parts[0]
	case 2:
		return parts[0] + p.and(l.two, parts[1]) + parts[1]
	}
	last := parts[len(parts)-1]
	return strings.Join(parts[:len(parts)-1], l.comma) + p.and(l.last, last) + last
}

// and returns the word between the last parts of a list. Spanish has another one before
// a word that begins with its sound.
func (p *Printer) and(word, next string) string {
	if b, _ := p.language.Base(); b.String() != "es" {
		return word
	}
	next = strings.ToLower(next)
	diphthong := strings.HasPrefix(next, "hia") || strings.HasPrefix(next, "hie")
	if (strings.HasPrefix(next, "i") || strings.HasPrefix(next, "hi") || strings.HasPrefix(next, "í")) && !diphthong {
		return " e "
	}
	return word
}
