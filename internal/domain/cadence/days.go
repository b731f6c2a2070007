package cadence

// days is an endless row of calendar days, in order and distinct, that starts
// with number 0. It knows nothing of zones.
type days interface {
	// day returns the nth day; false when it is after the year 9998.
	day(n int64) (int64, bool)
	// count returns how many days of the row are not after the given one.
	count(day int64) int64
}

// lastIndex is more than the days from 1900 to 9998; below it nothing overflows.
const lastIndex = 4_000_000

// days returns the row of days that starts on the given one. The policy must
// be valid.
func (p Policy) days(start int64) days {
	switch count := int64(p.Count); {
	case len(p.Anchors) > 0:
		return p.anchored(start)
	case p.Interval == Day:
		return everyDays{start, count}
	case p.Interval == Week:
		return everyDays{start, 7 * count}
	case p.Interval == Month:
		return everyMonths{start, monthOf(start), numbered(start).Day, count}
	default:
		return everyMonths{start, monthOf(start), numbered(start).Day, 12 * count}
	}
}

// within returns the day, and whether it is one that is computed with.
func within(day int64) (int64, bool) { return day, day < Never().Unix()/secondsPerDay }

type everyDays struct{ start, step int64 }

func (e everyDays) day(n int64) (int64, bool) {
	if n > lastIndex {
		return 0, false
	}
	return within(e.start + n*e.step)
}

func (e everyDays) count(day int64) int64 {
	if day < e.start {
		return 0
	}
	return (day-e.start)/e.step + 1
}

// Months are counted from start and never from the occurrence before, so that
// an order begun on the 31st falls on the last day of a short month and returns
// to the 31st after it.
type everyMonths struct {
	start, month int64
	dayOfMonth   int
	step         int64
}

func (e everyMonths) day(n int64) (int64, bool) {
	if n > lastIndex {
		return 0, false
	}
	return within(dayInMonth(e.month+n*e.step, e.dayOfMonth))
}

func (e everyMonths) count(day int64) int64 {
	if day < e.start {
		return 0
	}
	n := (monthOf(day) - e.month) / e.step
	if dayInMonth(e.month+n*e.step, e.dayOfMonth) <= day {
		n++
	}
	return n
}
