package vectors

import "strings"

// Tables returns the rows of both tables for every zone of a database, worked out.
func Tables(db *Database) map[string][]Row {
	tables := make(map[string][]Row)
	for i, z := range db.Zones {
		c := chooser{zone: z, turn: i, tables: tables}
		c.monthEnds()
		c.leapDays()
		c.steps()
		c.anchors()
		c.edges()
		c.dateLine()
		c.first()
	}
	return tables
}

// chooser chooses the rows of a zone. What would make the tables too long is
// spread over the zones by turns.
type chooser struct {
	zone   *Zone
	turn   int
	tables map[string][]Row
}

// OrderTimes are local minutes of the day. At most of them some zone's clocks change.
var OrderTimes = []int{9 * 60, 0, 30, 2*60 + 30, 12 * 60, 23*60 + 30, 1 * 60, 6*60 + 45}

func (c chooser) orderTime() int { return OrderTimes[c.turn%len(OrderTimes)] }

// add adds a series that starts at noon of a date, and some of its orders.
func (c chooser) add(year, month, date, minute int, interval string, count int, anchors string, orders ...int) {
	c.addFrom(numberOf(year, month, date), minute, interval, count, anchors, orders...)
}

func (c chooser) addFrom(start, minute int, interval string, count int, anchors string, orders ...int) {
	row := Row{Place: c.zone.Name, Series: c.series(start, minute, interval, count, anchors)}
	for _, n := range orders {
		row.N = n
		c.tables[SeriesFile] = append(c.tables[SeriesFile], row.expect(c.zone, SeriesFile))
	}
}

func (c chooser) series(start, minute int, interval string, count int, anchors string) Series {
	s := Series{Zone: c.zone, Interval: interval, Count: count, Minute: minute}
	s.Start, _ = c.zone.At(start, 12*60)
	for _, text := range strings.Fields(anchors) {
		a, err := parseAnchor(text)
		if err != nil {
			panic(err) // they are written in this file
		}
		s.Anchors = append(s.Anchors, a)
	}
	return s
}

// monthEnds are series that begun on the last days of January: in February, in
// leap Februaries, in short and in long months after them.
func (c chooser) monthEnds() {
	year := 2026 + c.turn%3
	c.add(year, 1, 28, c.orderTime(), Month, 1, "", 1)
	for _, date := range []int{29, 30, 31} {
		c.add(year, 1, date, c.orderTime(), Month, 1, "", 1, 13, 2+date%2)
	}
	c.add(year, 1, 31, c.orderTime(), Month, 3, "", 1)
	c.add(year, 12, 31, c.orderTime(), Month, 2, "", 1)
}

// leapDays are series that begun on a 29th of February.
func (c chooser) leapDays() {
	c.add(2024, 2, 29, c.orderTime(), Year, 1, "", 1, 4)
	c.add(2028, 2, 29, c.orderTime(), Month, 12, "", 3)
}

// steps are series of days and weeks over most of a year.
func (c chooser) steps() {
	c.add(2026, 1, 5, c.orderTime(), Day, 10, "", 20+c.turn%10)
	c.add(2026, 1, 5, c.orderTime(), Week, 2, "", 9+c.turn%9)
}

// anchors are series on fixed days, that start on one and beside them.
func (c chooser) anchors() {
	for i, row := range []struct {
		interval string
		count    int
		anchors  string
	}{
		{Week, 1, "WEEKDAY:1 WEEKDAY:4"},
		{Week, 2, "WEEKDAY:7"},
		{Month, 1, "MONTHDAY:10 MONTHDAY:20"},
		{Month, 2, "MONTHDAY:30 MONTHDAY:31"},
		{Month, 3, "YEARDAY:01-01 YEARDAY:04-01 YEARDAY:07-01 YEARDAY:10-01"},
		{Year, 1, "YEARDAY:02-29 YEARDAY:07-04"},
	} {
		c.add(2026+i%3, 1+(c.turn+i)%12, 10+(c.turn*7+i)%19, c.orderTime(), row.interval, row.count, row.anchors, 1+c.turn%2, 5+(c.turn+i)%7)
	}
}

// edges are orders at times of day that clocks leave out, and that they show
// twice: at both ends of the latest such hour before 2038, and in its middle.
func (c chooser) edges() {
	for _, lost := range []bool{true, false} {
		change, found := c.latest(lost)
		if !found || change.after-change.before >= secondsPerDay/2 {
			continue
		}
		for i, reading := range change.readings() {
			number, minute := dayOf(reading), minuteOf(reading)
			c.addFrom(number-2, minute, Day, 1, "", 2)
			if i == 0 {
				c.addFrom(number-21, minute, Week, 1, "", 3)
			}
		}
	}
}

// latest returns the latest change before 2038, but after a few weeks of 1990,
// by which clocks leave something out, or show something twice.
func (c chooser) latest(lost bool) (change, bool) {
	for i := len(c.zone.changes) - 1; i > 0; i-- {
		if is := c.zone.changes[i]; is.lost() == lost && dayOf(is.at) < numberOf(2038, 1, 1) && dayOf(is.at) > firstDay+30 {
			return is, true
		}
	}
	return change{}, false
}

// dateLine are orders around a day that a zone left out, or had twice, because it
// was moved across the date line.
func (c chooser) dateLine() {
	for _, is := range c.zone.changes[1:] {
		if moved := is.after - is.before; moved < secondsPerDay/2 && -moved < secondsPerDay/2 {
			continue
		}
		gone := days[dayOf(is.at+is.before)-firstDay]
		c.addFrom(gone.number-2, 9*60, Day, 1, "", 0, 1, 2, 3, 4)
		c.addFrom(gone.number-7, 9*60, Week, 1, "", 1, 2)
		c.addFrom(gone.number-8, 23*60+30, Week, 1, weekdays(gone.weekday, gone.weekday%7+1), 1, 2, 3, 4)
		c.addFrom(gone.number-8, 0, Week, 1, weekdays((gone.weekday+5)%7+1, gone.weekday%7+1), 1, 2, 3, 4)
		c.addFrom(gone.number-60, 9*60, Month, 1, "MONTHDAY:30 MONTHDAY:31", 2, 3, 4, 5)
	}
}

func weekdays(a, b int) string {
	return Anchor{Kind: Weekday, Day: a}.String() + " " + Anchor{Kind: Weekday, Day: b}.String()
}

// first are new orders before, within and after the cutoff of their anchor.
func (c chooser) first() {
	anchors := []struct {
		interval, anchors string
		year, month, date int
	}{
		{Month, "MONTHDAY:15/5", 2026, 3, 15},
		{Month, "MONTHDAY:31/3", 2026, 2, 28},
		{Week, "WEEKDAY:3/2", 2026, 3, 11},
		{Year, "YEARDAY:02-29/10", 2027, 2, 28},
		{Month, "MONTHDAY:1/4 MONTHDAY:15", 2026, 10, 1},
	}
	a := anchors[c.turn%len(anchors)]
	anchor, cutoff := numberOf(a.year, a.month, a.date), []int{5, 3, 2, 10, 4}[c.turn%len(anchors)]
	for _, before := range []int{cutoff + 1, cutoff * (c.turn % 2)} {
		for _, next := range []bool{false, true} {
			row := Row{Place: c.zone.Name, Next: next, Series: c.series(anchor-before, c.orderTime(), a.interval, 1, a.anchors)}
			c.tables[FirstFile] = append(c.tables[FirstFile], row.expect(c.zone, FirstFile))
		}
	}
}
