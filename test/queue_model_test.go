package test

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/prove/oracle"
)

// queueModel is what people think of a contract: orders that come one after another,
// each on its day unless a person moved or skipped it. A day is its
// midnight in UTC, wherever the store is.
type queueModel struct {
	turns   []queueTurn       // in the order of their orders
	put     map[int]time.Time // orders that were put on a day of their own
	skipped map[int]bool
	gone    map[int]bool // made, skipped to the end, or left out
	made    []string     // days
	paid    time.Time    // the last of them
	runs    bool
	wakes   time.Time // the day on which a pause ends; zero when it has none
	ends    bool      // a cancellation waits for deliveries: only undoing it brings orders back
	refused bool      // the next charge is declined
	unpaid  int       // the order that is tried again on a day; 0: none
	again   time.Time // that day
	left    int       // orders that are still to come, skipped ones too; those that are left out are none
}

// queueTurn is the order from which days are counted again.
type queueTurn struct {
	order  int
	start  time.Time // from which days are counted
	passed int       // of those days that are not that order's
	every  oracle.Policy
}

func newQueueModel(every oracle.Policy, first time.Time) *queueModel {
	left := every.MaxCycles
	if left == 0 {
		left = 1000
	}
	return &queueModel{left: left, turns: []queueTurn{{order: 1, start: first, every: every}}, put: map[int]time.Time{}, skipped: map[int]bool{}, gone: map[int]bool{}, runs: true}
}

func (m *queueModel) String() string {
	text := fmt.Sprintf("runs %t, left %d, made %v, gone %v, skipped %v\n", m.runs, m.left, m.made, slices.Sorted(maps.Keys(m.gone)), m.skipped)
	for _, t := range m.turns {
		text += fmt.Sprintf("from order %d: %d %s from %s, %d passed\n", t.order, t.every.IntervalCount, t.every.Interval, t.start.Format(time.DateOnly), t.passed)
	}
	for _, n := range m.next(8) {
		text += fmt.Sprintf("%d on %s, skipped %t; ", n, m.on(n).Format(time.DateOnly), m.skipped[n])
	}
	return text
}

// own returns the day of an order by the calendar.
func (m *queueModel) own(n int) time.Time {
	t := m.turns[0]
	for _, turn := range m.turns {
		if turn.order <= n {
			t = turn
		}
	}
	at, start := n-t.order+t.passed, t.start
	if at < 0 {
		return time.Time{} // the calendar that it was of is no more
	}
	if first := fixedDay(t.every, start); at > 0 && !first.Equal(start) { // a day of its own before the fixed ones
		at, start = at-1, first
	}
	for years := 1; ; years *= 2 {
		if days := oracle.Owed(t.every, start, start.AddDate(years, 0, 0), oracle.Calendar{Zone: time.UTC}); len(days) > at {
			return days[at]
		}
	}
}

// fixedDay returns the first fixed day of a policy from a day on: that day, where it has
// none.
func fixedDay(every oracle.Policy, day time.Time) time.Time {
	if len(every.Anchors) == 0 {
		return day
	}
	every.IntervalCount = 1
	return oracle.Owed(every, day.AddDate(0, 0, -1), day.AddDate(2, 0, 0), oracle.Calendar{Zone: time.UTC})[1]
}

func (m *queueModel) on(n int) time.Time {
	if day, ok := m.put[n]; ok {
		return day
	}
	return m.own(n)
}

// next returns orders to come, in the order of their days.
func (m *queueModel) next(many int) (list []int) {
	for n := 1; len(list) < min(many, m.left); n++ {
		if !m.gone[n] {
			list = append(list, n)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return m.on(a).Compare(m.on(b)) })
	return list
}

// waits returns the orders that are made when nothing else is requested.
func (m *queueModel) waits() []int {
	return slices.DeleteFunc(m.next(20), func(n int) bool { return m.skipped[n] })
}

// turn counts days again from an order that is put on one. Of the orders after
// it those follow that have not been made already.
func (m *queueModel) turn(n int, day time.Time, every oracle.Policy) {
	follows := max(n, m.reached()) + 1
	for behind := n + 1; behind < follows; behind++ {
		if !m.gone[behind] {
			m.put[behind] = m.on(behind)
		}
	}
	m.turns = slices.DeleteFunc(m.turns, func(t queueTurn) bool { return t.order >= n })
	m.turns = append(m.turns, queueTurn{order: n, start: day, every: every}, queueTurn{order: follows, start: day, passed: 1, every: every})
	m.put[n] = day
}

// change lets orders come as often as is said. The one that waits stays, or waits for
// the first fixed day, and the days go that others were put on.
func (m *queueModel) change(today time.Time, every oracle.Policy) {
	if !m.runs {
		m.leaveOut(today)
	}
	waits := m.waits()[0]
	_, chosen := m.put[waits]
	day, behind := fixedDay(every, m.on(waits)), max(waits, m.reached())
	for n := 1; n <= behind; n++ {
		if !m.skipped[n] && n != waits {
			m.gone[n] = true
		} else if !m.gone[n] {
			m.put[n] = m.on(n)
		}
	}
	m.turns = nil
	m.turn(waits, day, every)
	maps.DeleteFunc(m.put, func(n int, _ time.Time) bool { return n > behind || n == waits && !chosen })
}

// every returns how often orders come, from an order on.
func (m *queueModel) every(n int) oracle.Policy {
	every := m.turns[0].every
	for _, t := range m.turns {
		if t.order <= n {
			every = t.every
		}
	}
	return every
}

// until lets time pass. The platform took the charges of some orders only on later
// days: those that follow are counted from them.
func (m *queueModel) until(today time.Time, putOff map[int][]time.Time) {
	if !m.runs && !m.ends && !m.wakes.IsZero() && !m.wakes.After(today) {
		m.resume(m.wakes.AddDate(0, 0, -1))
	}
	for m.runs {
		list := m.next(20)
		if m.unpaid > 0 && !m.again.After(today) && (len(list) == 0 || m.on(list[0]).After(m.again)) {
			m.pay(m.again)
			continue
		}
		if len(list) == 0 || m.on(list[0]).After(today) {
			return
		}
		n := list[0]
		if m.unpaid > 0 { // which comes first
			m.gone[n] = true
			m.left--
			continue
		}
		day := m.on(n)
		if _, chosen := m.put[n]; !chosen && !m.skipped[n] && day.Equal(m.paid) { // two orders on one day were not asked for
			if day = day.AddDate(0, 0, 1); day.After(today) {
				return
			}
		}
		if later := putOff[n]; len(later) > 0 && !m.skipped[n] {
			putOff[n] = later[1:]
			every := m.every(n)
			rest := slices.DeleteFunc(slices.Clone(m.turns), func(t queueTurn) bool { return t.order <= n || t.passed > 0 || !t.start.After(later[0]) })
			m.turn(n, later[0], every)
			m.turns = append(m.turns, rest...)
			continue
		}
		m.end(n, day)
	}
}

// end is the end of an order on a day: it is made, or skipped for good, or declined and
// tried again on the next day.
func (m *queueModel) end(n int, day time.Time) {
	m.gone[n] = true
	m.left--
	switch {
	case m.skipped[n]:
	case m.refused:
		m.refused, m.unpaid, m.again = false, n, day.AddDate(0, 0, 1)
	default:
		m.pay(day)
	}
}

// pay lets an order be made. One that could not be paid before it is given up.
func (m *queueModel) pay(day time.Time) {
	m.made, m.paid, m.unpaid = append(m.made, day.Format("01-02")), day, 0
}

// stop lets the contract stand still, or end. An order that could not be paid is given up.
func (m *queueModel) stop() { m.runs, m.unpaid = false, 0 }

// resume lets the contract run again. Orders whose days were past while it stood still
// are left out. One that was put off to a day to come is made then.
func (m *queueModel) resume(today time.Time) {
	m.runs, m.ends, m.wakes = true, false, time.Time{}
	m.leaveOut(today)
}

// reached returns the last order that is gone.
func (m *queueModel) reached() (last int) {
	for n := range m.gone {
		last = max(last, n)
	}
	return last
}

// leaveOut leaves out the orders whose days are past. One that was put on a day of the past
// comes on that of the calendar if that is to come.
func (m *queueModel) leaveOut(today time.Time) {
	for n := 1; n < 200; n++ {
		if m.gone[n] || m.put[n].After(today) {
			continue
		}
		if delete(m.put, n); m.own(n).After(today) {
			continue
		}
		if m.gone[n] = true; m.skipped[n] {
			m.left--
		}
	}
}
