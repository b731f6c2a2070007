package test

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/prove/oracle"
)

// queueModel is what people think of a contract: orders that come one after another,
// each on its day unless somebody put it on another one or skips it. Days begin at
// midnight in UTC.
type queueModel struct {
	turns   []queueTurn       // in the order of their orders
	put     map[int]time.Time // orders that were put on a day of their own
	skipped map[int]bool
	gone    map[int]bool // made, skipped to the end, or left out
	made    []string     // days
	runs    bool
	left    int // orders that are still to come, skipped ones too; those that are left out are none
}

// queueTurn is where the counting of days begins anew, with an order.
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
	at := n - t.order + t.passed
	if at < 0 {
		return time.Time{} // the calendar that it was of is no more
	}
	for years := 1; ; years *= 2 {
		if days := oracle.Owed(t.every, t.start, t.start.AddDate(years, 0, 0), oracle.Calendar{Zone: time.UTC}); len(days) > at {
			return days[at]
		}
	}
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

// waits returns the orders that are made if nobody does anything.
func (m *queueModel) waits() []int {
	return slices.DeleteFunc(m.next(20), func(n int) bool { return m.skipped[n] })
}

// turn lets days be counted anew from an order that is put on one. Of the orders after
// it those follow that have not been made already.
func (m *queueModel) turn(n int, day time.Time, every oracle.Policy) {
	follows := n + 1
	for made := range m.gone {
		follows = max(follows, made+1)
	}
	for behind := n + 1; behind < follows; behind++ {
		if !m.gone[behind] {
			m.put[behind] = m.on(behind)
		}
	}
	m.turns = slices.DeleteFunc(m.turns, func(t queueTurn) bool { return t.order >= n })
	m.turns = append(m.turns, queueTurn{order: n, start: day, every: every}, queueTurn{order: follows, start: day, passed: 1, every: every})
	m.put[n] = day
}

// change lets orders come as often as is said. The one that waits stays, and the days
// go that others were put on.
func (m *queueModel) change(every oracle.Policy) {
	waits := m.waits()[0]
	day, behind := m.on(waits), waits
	for made := range m.gone {
		behind = max(behind, made)
	}
	for n := 1; n <= behind; n++ {
		if !m.skipped[n] && n != waits {
			m.gone[n] = true
		} else if !m.gone[n] {
			m.put[n] = m.on(n)
		}
	}
	m.turns = nil
	m.turn(waits, day, every)
	maps.DeleteFunc(m.put, func(n int, _ time.Time) bool { return n > behind })
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
	for m.runs {
		list := m.next(20)
		if len(list) == 0 || m.on(list[0]).After(today) {
			return
		}
		n := list[0]
		if later := putOff[n]; len(later) > 0 && !m.skipped[n] {
			putOff[n] = later[1:]
			every := m.every(n)
			rest := slices.DeleteFunc(slices.Clone(m.turns), func(t queueTurn) bool { return t.order <= n || t.passed > 0 || !t.start.After(later[0]) })
			m.turn(n, later[0], every)
			m.turns = append(m.turns, rest...)
			continue
		}
		m.end(n, m.on(n))
	}
}

// end is the end of an order on a day: it is made, or skipped for good.
func (m *queueModel) end(n int, day time.Time) {
	m.gone[n] = true
	m.left--
	if !m.skipped[n] {
		m.made = append(m.made, day.Format("01-02"))
	}
}

// resume leaves out the orders whose days were past while the contract stood still. One
// that was put off to a day to come is made then.
func (m *queueModel) resume(today time.Time) {
	m.runs = true
	for n := range 200 {
		if n == 0 || m.gone[n] || m.put[n].After(today) {
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
