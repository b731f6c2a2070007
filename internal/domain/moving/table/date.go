package table

import (
	"strconv"
	"strings"
	"time"
)

// order is which part of a date such as 03/04/2026 comes first.
type order int

// The orders.
const (
	unknown order = iota
	dayFirst
	monthFirst
)

// day is a date of a calendar with what is written behind it.
type day struct {
	year, month, day int
	rest             string // time of day
	swappable        bool   // day and month may be the other way round
}

// firstYear and lastYear bound the years that a date is read with.
const (
	firstYear = 1900
	lastYear  = 9998
)

// Dates that are numbers count days from the end of 1899, as spreadsheet programs do. Those of
// five digits are from 1927 to 2173.
const (
	firstSerial = 10_000
	lastSerial  = 99_999
)

// orderOf returns the order that a date must have been written in; unknown: it does not say.
func orderOf(text string) order {
	a, b, _, _, sign, ok := threeParts(text)
	switch {
	case !ok || sign == '.' || len(a) > 2:
		return unknown
	case atoi(a) > 12 && atoi(b) <= 12:
		return dayFirst
	case atoi(b) > 12 && atoi(a) <= 12:
		return monthFirst
	}
	return unknown
}

// threeParts splits a date of three numbers, with one sign between them.
func threeParts(text string) (a, b, c, rest string, sign byte, ok bool) {
	i := 0
	part := func() string {
		from := i
		for i < len(text) && text[i] >= '0' && text[i] <= '9' {
			i++
		}
		return text[from:i]
	}
	a = part()
	if a == "" || i == len(text) || strings.IndexByte("./-", text[i]) < 0 {
		return a, b, c, rest, 0, false
	}
	sign = text[i]
	i++
	b = part()
	if b == "" || len(b) > 2 || i == len(text) || text[i] != sign {
		return a, b, c, rest, 0, false
	}
	i++
	c = part()
	return a, b, c, text[i:], sign, c != ""
}

func atoi(text string) int {
	n, _ := strconv.Atoi(text) // digits; one that is too large is no part of a date
	return n
}

// parseDay reads the parts of a date that is written in numbers.
func parseDay(text string, o order) (day, bool) {
	a, b, c, rest, sign, ok := threeParts(text)
	if !ok {
		return day{}, false
	}
	var d day
	switch {
	case len(a) == 4 && len(c) <= 2:
		d = day{year: atoi(a), month: atoi(b), day: atoi(c), rest: rest}
	case len(a) > 2, len(c) != 2 && len(c) != 4:
		return day{}, false
	default:
		d = day{year: atoi(c), month: atoi(b), day: atoi(a), rest: rest}
		if len(c) == 2 {
			d.year += 2000
		}
		if sign != '.' {
			d.swappable = d.day <= 12 && d.month <= 12 && d.day != d.month
			if d.month > 12 || d.swappable && o == monthFirst {
				d.day, d.month = d.month, d.day
			}
		}
	}
	return d, d.exists()
}

func (d day) exists() bool {
	if d.year < firstYear || d.year > lastYear || d.month < 1 || d.month > 12 || d.day < 1 {
		return false
	}
	return d.day <= time.Date(d.year, time.Month(d.month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// clocks are the ways in which a time of day is written behind a date.
var clocks = []string{
	"15:04:05Z07:00", "15:04:05", "15:04:05Z0700", "15:04:05 Z07:00", "15:04:05 Z0700", "15:04:05 MST", "15:04:05Z07",
	"15:04", "15:04Z07:00", "15:04Z0700", "15:04 Z07:00", "15:04 Z0700", "15:04 MST",
	"3:04 PM", "3:04:05 PM", "3:04PM",
	"3:04:05PM",
}

// named are the ways in which a date is written with the name of its month.
var named = []string{
	"2 Jan 2006", "2 January 2006", "2-Jan-2006", "Jan 2, 2006", "January 2, 2006", "Jan 2 2006", "Mon, 2 Jan 2006",
	"Mon, 02 Jan 2006 15:04:05 -0700",
}

// parseTime reads a date, with or without a time of day. Without a zone it is of the given one.
// Unsure is set when day and month may be the other way round and no order says which: at is then one
// of the two.
func parseTime(text string, o order, zone *time.Location) (at time.Time, unsure, ok bool) {
	if d, ok := parseDay(text, orderFor(text, o)); ok {
		at, ok := d.in(zone)
		return at, d.swappable && o == unknown, ok
	}
	if len(text) == len("20060102") && digits(text) {
		at, err := time.ParseInLocation("20060102", text, zone)
		return at, false, err == nil && at.Year() >= firstYear
	}
	if at, ok := serial(text, zone); ok {
		return at, false, true
	}
	for _, layout := range named {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return at, false, at.Year() >= firstYear
		}
	}
	return time.Time{}, false, false
}

// orderFor returns the order that a date is read in: the usual one of its sign where none is known.
func orderFor(text string, o order) order {
	switch {
	case o != unknown:
		return o
	case strings.Contains(text, "/"):
		return monthFirst
	}
	return dayFirst
}

// in returns the instant of a date in a zone.
func (d day) in(zone *time.Location) (time.Time, bool) {
	midnight := time.Date(d.year, time.Month(d.month), d.day, 0, 0, 0, 0, zone)
	rest := strings.TrimPrefix(strings.TrimLeft(d.rest, " \u202f,"), "T")
	if rest == "" {
		return midnight, true
	}
	rest = strings.ToUpper(strings.ReplaceAll(rest, "\u202f", " "))
	for _, layout := range clocks {
		clock, err := time.ParseInLocation(layout, rest, time.UTC)
		if err != nil {
			continue
		}
		if strings.Contains(layout, "Z07") || strings.Contains(layout, "MST") {
			if name, _ := clock.Zone(); strings.HasSuffix(layout, "MST") && name != "UTC" && name != "GMT" {
				return time.Time{}, false // its offset is not known
			}
			zone = clock.Location()
		}
		hour, minute, second := clock.Clock()
		return time.Date(d.year, time.Month(d.month), d.day, hour, minute, second, clock.Nanosecond(), zone), true
	}
	return time.Time{}, false
}

// serial reads the number of a day in a spreadsheet program; its decimals are the time of day.
func serial(text string, zone *time.Location) (time.Time, bool) {
	whole, part, _ := strings.Cut(strings.Replace(text, ",", ".", 1), ".")
	n := atoi(whole)
	if len(whole) != 5 || !digits(whole) || !digits(part) || len(part) > 15 || n < firstSerial || n > lastSerial {
		return time.Time{}, false
	}
	of, err := strconv.ParseFloat("0."+part+"0", 64)
	if err != nil {
		return time.Time{}, false
	}
	seconds := int(of*24*60*60 + 0.5)
	return time.Date(1899, time.December, 30+n, 0, 0, seconds, 0, zone), true
}
