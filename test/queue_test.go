package test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/prove/oracle"
)

// queue is a contract that people do things to, and what they think of it.
type queue struct {
	*subscription
	m      *queueModel
	random *rand.Rand
	today  time.Time
	told   []string
	ids    map[int]int64 // of orders, by their attempts
	seen   int64         // the last entry that was looked at
}

// Whatever people do to orders and to the contract, in whatever order: each order that
// they left alone is made on its day, and none that they skipped.
func TestTheQueueIsWhatPeopleMadeOfIt(t *testing.T) {
	t.Parallel()
	first := time.Date(2026, 11, 11, 0, 0, 0, 0, time.UTC)
	for seed := uint64(1); seed <= 3; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 7))
			s := subscribe(t, map[string]any{"nextBillingDate": "2031-01-01T14:00:00Z"})
			s.call("POST", "/settings", map[string]any{"requestsPerSecond": 1000, "requestBurst": 1000, "enableImmediatePlaceOrder": true}, nil)
			var all []*queue
			for range 4 {
				every := anyInterval(random)
				every.MaxCycles = max(0, random.IntN(12)-4)
				of := *s
				of.id = s.checkout(map[string]any{"billingPolicy": map[string]any{"interval": every.Interval, "intervalCount": every.IntervalCount, "maxCycles": every.MaxCycles}, "nextBillingDate": first.Add(14 * time.Hour)})
				all = append(all, &queue{subscription: &of, m: newQueueModel(every, first), random: random, ids: map[int]int64{}})
			}
			today := first.AddDate(0, 0, -10)
			for range 25 {
				today = today.AddDate(0, 0, 1+random.IntN(9))
				s.until(today.Format(time.DateOnly))
				for _, q := range all {
					q.today = today
					q.m.until(today, q.putOff())
					q.compare()
					q.act()
					q.compare()
				}
			}
			for _, q := range all {
				if got := q.orderDays(); !slices.Equal(got, q.m.made) {
					t.Errorf("orders on %v, want %v\n%s", got, q.m.made, strings.Join(q.told, "\n"))
				}
			}
		})
	}
}

// anyInterval returns how often orders come.
func anyInterval(random *rand.Rand) oracle.Policy {
	return []oracle.Policy{{Interval: "WEEK", IntervalCount: 1}, {Interval: "DAY", IntervalCount: 10}, {Interval: "WEEK", IntervalCount: 2}, {Interval: "MONTH", IntervalCount: 1}}[random.IntN(4)]
}

// ask sends what somebody wants, and reports whether it was done.
func (q *queue) ask(format string, args ...any) bool {
	path := fmt.Sprintf(format, args...)
	got := q.send("PUT", q.urls.Subscriptions+api+path, q.key, nil, nil)
	q.told = append(q.told, fmt.Sprintf("%s %s: %d", q.today.Format("01-02"), path, got))
	return got == http.StatusOK || got == http.StatusNoContent
}

func (q *queue) statusTo(to string) bool {
	return q.ask("/subscription-contracts-update-status?contractId=%d&status=%s", q.id, to)
}

// compare fails the test when other orders wait than people think.
func (q *queue) compare() {
	q.t.Helper()
	queue := q.upcoming()
	want := q.m.waits()
	if !q.m.runs {
		want = nil
	}
	same := len(queue) == len(want) || len(want) > len(queue) && len(queue) >= 6
	want = want[:min(3, len(want))]
	for i, n := range want {
		if same = same && queue[i].BillingDate.Format(time.DateOnly) == q.m.on(n).Format(time.DateOnly); same {
			q.ids[n] = queue[i].ID
		}
	}
	if !same {
		var days []string
		for _, a := range queue {
			days = append(days, fmt.Sprint(a.ID, " ", a.BillingDate.Format(time.DateOnly)))
		}
		q.t.Fatalf("on %s %v wait, want %v of\n%s\n%s", q.today.Format("01-02"), days, want, q.m, strings.Join(q.told, "\n"))
	}
}

// putOff returns the orders whose charges the platform would not take on their days
// since the last time, each with the days that it was put off to.
func (q *queue) putOff() map[int][]time.Time {
	var list []struct {
		ID, EntityID                           int64
		EventSource, EventType, AdditionalInfo string
	}
	q.get(fmt.Sprintf("/activity-logs?size=100&sort=id,asc&id.greaterThan=%d", q.seen), &list)
	found := make(map[int][]time.Time)
	for _, e := range list {
		q.seen = e.ID
		if e.EventSource != "SYSTEM_EVENT" || e.EventType != "NEXT_BILLING_DATE_CHANGE" {
			continue
		}
		for n, id := range q.ids {
			if id == e.EntityID {
				var info struct{ To time.Time }
				if err := json.Unmarshal([]byte(e.AdditionalInfo), &info); err != nil {
					q.t.Fatal(err)
				}
				found[n] = append(found[n], info.To.Truncate(24*time.Hour))
				q.told = append(q.told, fmt.Sprintf("order %d was put off: %s", n, e.AdditionalInfo))
			}
		}
	}
	return found
}

// act does something to an order or to the contract.
func (q *queue) act() {
	if !q.m.runs {
		if q.random.IntN(2) == 0 && q.statusTo("ACTIVE") {
			q.m.resume(q.today)
		}
		return
	}
	waits := q.m.waits()
	if len(waits) == 0 {
		return
	}
	n := waits[q.random.IntN(min(3, len(waits)))]
	id := q.ids[n]
	day := q.today.AddDate(0, 0, 1+q.random.IntN(45))
	moved := fmt.Sprintf("/subscription-billing-attempts/reschedule-order/%d?billingDate=%s", id, day.Format(time.DateOnly))
	switch q.random.IntN(10) {
	case 0, 1: // the platform may take no charge of the order on that day yet
		if q.ask("%s", moved) && !q.m.on(n).Equal(day) {
			q.m.put[n] = day
		}
	case 2:
		if q.ask("%s&rescheduleFutureOrder=true", moved) {
			q.m.turn(n, day, q.m.every(n))
		}
	case 3:
		q.m.skipped[n] = q.ask("/subscription-billing-attempts/skip-order/%d", id)
	case 4:
		for n := range 20 {
			if q.m.skipped[n] && !q.m.gone[n] {
				q.m.skipped[n] = !q.ask("/subscription-billing-attempts/unskip-order/%d", q.ids[n])
				break
			}
		}
	case 5:
		if every := anyInterval(q.random); q.ask("/subscription-contracts-update-billing-interval?contractId=%d&interval=%s&intervalCount=%d", q.id, every.Interval, every.IntervalCount) {
			q.m.change(every)
		}
	case 6: // the platform may take no charge of the order yet
		if q.ask("/subscription-billing-attempts/attempt-billing/%d", id) {
			q.m.end(n, q.today)
		}
	default:
		q.m.runs = !q.statusTo("PAUSED")
		if q.random.IntN(2) == 0 && q.statusTo("ACTIVE") {
			q.m.resume(q.today)
		}
	}
}
