package test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// queueModel is what people think of a contract: orders that come one after another,
// each on its day unless somebody put it on another one or skips it.
type queueModel struct {
	weeks   int               // between two orders; 0: a month
	turns   map[int]time.Time // from an order on, days are counted from one
	put     map[int]time.Time // orders that were put on a day of their own
	skipped map[int]bool
	gone    map[int]bool // made, skipped to the end, or left out
	made    []string     // days
	runs    bool
}

// own returns the day of an order by the calendar.
func (m *queueModel) own(n int) time.Time {
	from := 1
	for at := range m.turns {
		if at <= n {
			from = max(from, at)
		}
	}
	start := m.turns[from]
	if m.weeks > 0 {
		return start.AddDate(0, 0, 7*m.weeks*(n-from))
	}
	month := time.Date(start.Year(), start.Month(), 1, 0, 0, 0, 0, time.UTC).AddDate(0, n-from, 0)
	return month.AddDate(0, 0, min(start.Day(), month.AddDate(0, 1, -1).Day())-1)
}

func (m *queueModel) on(n int) time.Time {
	if day, ok := m.put[n]; ok {
		return day
	}
	return m.own(n)
}

// next returns orders to come, in the order of their days.
func (m *queueModel) next(many int) (list []int) {
	for n := 1; len(list) < many; n++ {
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

// until lets time pass.
func (m *queueModel) until(today time.Time) {
	for _, n := range m.next(20) {
		if m.on(n).After(today) || !m.runs {
			continue
		}
		if m.gone[n] = true; !m.skipped[n] {
			m.made = append(m.made, m.on(n).Format("01-02"))
		}
	}
}

// resume leaves out the orders whose days were past while the contract stood still. One
// that was put off to a day to come is made then, if no later one is left out.
func (m *queueModel) resume(today time.Time) {
	m.runs = true
	made := 0
	for n := range m.gone {
		made = max(made, n)
	}
	calendar := made + 1
	for m.skipped[calendar] || !m.own(calendar).After(today) {
		calendar++
	}
	first := calendar
	for n := calendar - 1; n > made && (m.skipped[n] || m.put[n].After(today)); n-- {
		if !m.skipped[n] {
			first = n
		}
	}
	for n := 1; n < calendar+20; n++ {
		if n < first {
			m.gone[n] = true
		} else if !m.put[n].After(today) {
			delete(m.put, n)
		}
	}
}

// Whatever people do to orders and to the contract, in whatever order: each order that
// they left alone is made on its day, and none that they skipped.
func TestTheQueueIsWhatPeopleMadeOfIt(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= 6; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 7))
			weeks := random.IntN(3)
			every := map[string]any{"interval": "MONTH", "intervalCount": 1}
			if weeks > 0 {
				every = map[string]any{"interval": "WEEK", "intervalCount": weeks}
			}
			s := subscribe(t, map[string]any{"billingPolicy": every})
			s.call("POST", "/settings", map[string]any{"requestsPerSecond": 1000, "requestBurst": 1000}, nil)
			first := time.Date(2026, 11, 11, 0, 0, 0, 0, time.UTC)
			m := &queueModel{weeks: weeks, turns: map[int]time.Time{1: first}, put: map[int]time.Time{}, skipped: map[int]bool{}, gone: map[int]bool{}, runs: true}
			today := first.AddDate(0, 0, -10)
			var told []string
			ask := func(format string, args ...any) bool {
				path := fmt.Sprintf(format, args...)
				got := s.send("PUT", s.urls.Subscriptions+api+path, s.key, nil, nil)
				told = append(told, fmt.Sprintf("%s %s: %d", today.Format("01-02"), path, got))
				return got == http.StatusOK || got == http.StatusNoContent
			}
			compare := func() (queue []attempt) {
				t.Helper()
				queue = s.upcoming()
				want := m.waits()[:3]
				if !m.runs {
					want = nil
				}
				same := len(queue) >= len(want) && (m.runs || len(queue) == 0)
				for i, n := range want {
					same = same && queue[i].BillingDate.Format(time.DateOnly) == m.on(n).Format(time.DateOnly)
				}
				if !same {
					t.Fatalf("on %s %+v wait, want %+v\n%s", today.Format("01-02"), queue, m, strings.Join(told, "\n"))
				}
				return queue
			}
			status := func(to string) bool {
				return ask("/subscription-contracts-update-status?contractId=%d&status=%s", s.id, to)
			}
			for range 25 {
				today = today.AddDate(0, 0, 1+random.IntN(9))
				s.until(today.Format(time.DateOnly))
				m.until(today)
				queue := compare()
				if !m.runs {
					if random.IntN(2) == 0 && status("ACTIVE") {
						m.resume(today)
					}
					compare()
					continue
				}
				at := random.IntN(3)
				n, id := m.waits()[at], queue[at].ID
				day := today.AddDate(0, 0, 1+random.IntN(45))
				moved := fmt.Sprintf("/subscription-billing-attempts/reschedule-order/%d?billingDate=%s", id, day.Format(time.DateOnly))
				switch random.IntN(6) {
				case 0, 1: // the platform may take no charge of the order on that day yet
					if ask("%s", moved) && !m.on(n).Equal(day) {
						m.put[n] = day
					}
				case 2:
					if ask("%s&rescheduleFutureOrder=true", moved) {
						m.turns[n], m.put[n] = day, day
						for later := range m.turns {
							if later > n {
								delete(m.turns, later)
							}
						}
					}
				case 3:
					m.skipped[n] = ask("/subscription-billing-attempts/skip-order/%d", id)
				default:
					m.runs = !status("PAUSED")
					if random.IntN(2) == 0 && status("ACTIVE") {
						m.resume(today)
					}
				}
				compare()
			}
			if got := s.orderDays(); !slices.Equal(got, m.made) {
				t.Errorf("orders on %v, want %v\n%s", got, m.made, strings.Join(told, "\n"))
			}
		})
	}
}
