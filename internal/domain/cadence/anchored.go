package cadence

// anchored is the row of a policy's anchor days in every Count-th period. The
// first period is the one that holds the first anchor day at or after the
// start; a start that is no anchor day is a day of its own before it.
type anchored struct {
	policy Policy
	start  int64
	lead   int64 // 1 when the start is a day of its own
	first  int64 // the period in which the row starts
	passed int64 // anchor days of that period that are before the start
	sizes  sizes
}

func (p Policy) anchored(start int64) anchored {
	next := p.upcoming(start).day
	a := anchored{policy: p, start: start, first: p.Interval.period(next), sizes: p.sizes()}
	if next != start {
		a.lead = 1
	}
	for _, d := range p.anchorDays(a.first) {
		if d.day < start {
			a.passed++
		}
	}
	return a
}

func (a anchored) day(n int64) (int64, bool) {
	if n < a.lead {
		return within(a.start)
	}
	if n > lastIndex {
		return 0, false
	}
	period, i := a.first, n-a.lead+a.passed
	step := int64(a.policy.Count)
	if each := a.sizes.each; each > 0 {
		period, i = period+i/each*step, i%each
	} else {
		limit := a.policy.Interval.period(Never().Unix() / secondsPerDay)
		for ; i >= a.sizes.of(period) && period < limit; period += step {
			i -= a.sizes.of(period)
		}
		if period >= limit {
			return 0, false
		}
	}
	return within(a.policy.anchorDays(period)[i].day)
}

func (a anchored) count(day int64) int64 {
	if day < a.start {
		return 0
	}
	period, step := a.policy.Interval.period(day), int64(a.policy.Count)
	if period < a.first {
		return a.lead
	}
	steps := (period - a.first) / step
	n := a.lead - a.passed
	if each := a.sizes.each; each > 0 {
		n += steps * each
	} else {
		for k := range steps {
			n += a.sizes.of(a.first + k*step)
		}
	}
	for _, d := range a.policy.anchorDays(a.first + steps*step) {
		if d.day <= day {
			n++
		}
	}
	return n
}

// sizes says how many anchor days a period has.
type sizes struct {
	each   int64 // of every period; 0 when they differ
	months [12][2]int64
	yearly bool
}

// shortestMonth is the length below which no anchors fall together.
const shortestMonth = 28

// sizes counts each length of period once. Periods differ where anchors fall
// together in short months only, or where they name months.
func (p Policy) sizes() sizes {
	late := 0
	named := false
	for _, a := range p.Anchors {
		if a.Kind != Weekday && a.Day >= shortestMonth {
			late++
		}
		named = named || a.Kind == YearDay && p.Interval == Month
	}
	const leap, common = 2000, 2001
	switch {
	case p.Interval == Week || late < 2 && !named:
		return sizes{each: int64(len(p.anchorDays(common)))}
	case p.Interval == Year:
		s := sizes{yearly: true}
		s.months[0] = [2]int64{int64(len(p.anchorDays(common))), int64(len(p.anchorDays(leap)))}
		return s
	default:
		var s sizes
		for month := range s.months {
			s.months[month] = [2]int64{
				int64(len(p.anchorDays(common*12 + int64(month)))),
				int64(len(p.anchorDays(leap*12 + int64(month)))),
			}
		}
		return s
	}
}

// of returns the number of anchor days in a period of months or years.
func (s sizes) of(period int64) int64 {
	year, month := period, int64(0)
	if !s.yearly {
		year, month = floorDiv(period, 12), floorMod(period, 12)
	}
	leap := 0
	if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		leap = 1
	}
	return s.months[month][leap]
}
