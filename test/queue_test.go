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

// queueStore is a store, and how often and from which day on its customers have orders.
type queueStore struct {
	name  string
	in    oracle.Calendar
	first time.Time
	every []oracle.Policy

	delivery map[string]any // how often what is paid is delivered; nil: with each order
}

func queueStores(t *testing.T) []queueStore {
	in := func(zone string, hour, minute int) oracle.Calendar {
		found, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		return oracle.Calendar{Zone: found, Hour: hour, Minute: minute}
	}
	on := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	every := func(count int, interval string, fixed ...oracle.Anchor) oracle.Policy {
		return oracle.Policy{Interval: interval, IntervalCount: count, Anchors: fixed}
	}
	week := func(day int) oracle.Anchor { return oracle.Anchor{Type: "WEEKDAY", Day: day} }
	month := func(day int) oracle.Anchor { return oracle.Anchor{Type: "MONTHDAY", Day: day} }
	return []queueStore{
		{"any day", in("America/New_York", 9, 0), on(2026, 11, 11), []oracle.Policy{every(1, "WEEK"), every(10, "DAY"), every(2, "WEEK"), every(1, "MONTH")}, nil},
		{"the last day of a month, in an hour that clocks skip", in("America/New_York", 2, 30), on(2027, 1, 31), []oracle.Policy{every(1, "MONTH"), every(2, "WEEK"), every(2, "MONTH")}, nil},
		{"fixed days, shortly before midnight", in("Australia/Lord_Howe", 23, 15), on(2027, 1, 25), []oracle.Policy{
			every(1, "WEEK", week(1)), every(2, "WEEK", week(1), week(4)), every(1, "MONTH", month(31)), every(1, "MONTH", month(15), month(30)), every(1, "MONTH"),
		}, nil},
		{"paid for several deliveries", in("Europe/Berlin", 6, 30), on(2026, 11, 30), []oracle.Policy{every(2, "WEEK"), every(28, "DAY"), every(3, "WEEK")}, map[string]any{"interval": "WEEK", "intervalCount": 1}},
	}
}

// at returns when orders of a day are charged.
func (of queueStore) at(day time.Time) time.Time {
	noon := time.Date(day.Year(), day.Month(), day.Day(), 12, 0, 0, 0, of.in.Zone)
	return oracle.Owed(oracle.Policy{Interval: "DAY", IntervalCount: 1}, noon, noon.AddDate(0, 0, 1), of.in)[0]
}

// day returns the store's day of an instant.
func (of queueStore) day(at time.Time) time.Time {
	y, m, d := at.In(of.in.Zone).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// queue is a contract that people do things to, and what they think of it.
type queue struct {
	*subscription
	of     queueStore
	m      *queueModel
	random *rand.Rand
	today  time.Time
	steps  []string
	ids    map[int]int64 // of orders, by their attempts
	seen   int64         // the last entry that was looked at
}

// Whatever people do to orders and to the contract, in whatever order: each order that
// they left alone is made on its day, and none that they skipped.
func TestQueueMatchesModel(t *testing.T) {
	t.Parallel()
	for _, of := range sample(queueStores(t)) {
		for seed := uint64(1); seed <= 1; seed++ {
			t.Run(fmt.Sprint(of.name, " ", seed), func(t *testing.T) {
				t.Parallel()
				random := rand.New(rand.NewPCG(seed, 7))
				s, all := of.open(t, random)
				today := of.first.AddDate(0, 0, -10)
				pass := func(days int) {
					today = today.AddDate(0, 0, days)
					s.call("POST", "/clock", map[string]any{"to": time.Date(today.Year(), today.Month(), today.Day(), 23, 30, 0, 0, of.in.Zone)}, nil)
					for _, q := range all {
						q.today = today
						q.m.until(today, q.putOff())
						q.compare()
					}
				}
				for range 18 {
					pass(1 + random.IntN(9))
					for _, q := range all {
						q.act()
						q.compare()
					}
				}
				pass(1)
				for _, q := range all {
					if got := q.days(); !slices.Equal(got, q.m.made) {
						t.Errorf("orders on %v, want %v\n%s", got, q.m.made, strings.Join(q.steps, "\n"))
					}
				}
			})
		}
	}
}

// open opens the store, with contracts that have their first orders on its first day.
func (of queueStore) open(t *testing.T, random *rand.Rand) (s *subscription, all []*queue) {
	s = subscribe(t, map[string]any{"nextBillingDate": "2031-01-01T14:00:00Z"})
	var opened struct{ Shop, APIKey string }
	s.call("POST", "/platform/shops", map[string]any{"domain": "queue.myshopify.com", "ianaTimeZone": of.in.Zone.String(), "currencyCode": "USD", "localOrderHour": of.in.Hour, "localOrderMinute": of.in.Minute}, &opened)
	s.key = opened.APIKey
	s.call("POST", "/settings", map[string]any{"shop": opened.Shop, "requestsPerSecond": 1000, "requestBurst": 1000, "enableImmediatePlaceOrder": true}, nil)
	var variants []struct{ VariantID int64 }
	s.call("GET", "/platform/variants?shop="+opened.Shop, nil, &variants)
	for n := range 3 {
		every := of.every[random.IntN(len(of.every))]
		every.MaxCycles = max(0, random.IntN(12)-4)
		one := *s
		spec := map[string]any{
			"customer": map[string]any{"email": fmt.Sprintf("%d@shopper.example", n), "firstName": "Ana"}, // cards are not tried twice a day
			"shop":     opened.Shop, "billingPolicy": every, "nextBillingDate": of.at(of.first),
			"lines": []any{map[string]any{"variantId": variants[0].VariantID, "quantity": 2, "currentPrice": "12.50"}},
		}
		if of.delivery != nil {
			spec["deliveryPolicy"] = of.delivery
		}
		one.id = s.checkout(spec)
		all = append(all, &queue{subscription: &one, of: of, m: newQueueModel(every, of.first), random: random, ids: map[int]int64{}})
	}
	return s, all
}

// days returns the days of the platform's orders of the contract.
func (q *queue) days() (days []string) {
	var orders []order
	q.call("GET", fmt.Sprintf("/platform/orders?shop=queue.myshopify.com&contractId=%d", q.id), nil, &orders)
	for _, o := range orders {
		days = append(days, q.of.day(o.At).Format("01-02"))
	}
	return days
}

// ask sends a request, and reports whether it was done.
func (q *queue) ask(format string, args ...any) bool {
	path := fmt.Sprintf(format, args...)
	got := q.send("PUT", q.urls.Subscriptions+api+path, q.key, nil, nil)
	q.steps = append(q.steps, fmt.Sprintf("%s %s: %d", q.today.Format("01-02"), path, got))
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
		if same = same && queue[i].BillingDate.Equal(q.of.at(q.m.on(n))); same {
			q.ids[n] = queue[i].ID
		}
	}
	if !same {
		var days []string
		for _, a := range queue {
			days = append(days, fmt.Sprint(a.ID, " ", a.BillingDate.In(q.of.in.Zone)))
		}
		q.t.Fatalf("on %s %v wait, want %v of\n%s\n%s", q.today.Format("01-02"), days, want, q.m, strings.Join(q.steps, "\n"))
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
				found[n] = append(found[n], q.of.day(info.To))
				q.steps = append(q.steps, fmt.Sprintf("order %d was put off: %s", n, e.AdditionalInfo))
			}
		}
	}
	return found
}

// act does something to an order or to the contract.
func (q *queue) act() {
	waits := q.m.waits()
	if !q.m.runs {
		switch q.random.IntN(5) {
		case 0, 1, 4:
			if q.statusTo("ACTIVE") {
				q.m.resume(q.today)
			}
		case 2:
			q.changeInterval()
		case 3:
			q.cancel()
		}
		return
	}
	if len(waits) == 0 {
		return
	}
	n := waits[q.random.IntN(min(3, len(waits)))]
	id := q.ids[n]
	day := q.today.AddDate(0, 0, 1+q.random.IntN(45))
	moved := fmt.Sprintf("/subscription-billing-attempts/reschedule-order/%d?billingDate=%s", id, day.Format(time.DateOnly))
	switch q.random.IntN(12) {
	case 11:
		if q.m.unpaid == 0 {
			q.decline()
		} else if q.random.IntN(2) == 0 {
			if q.ask("/subscription-billing-attempts/reschedule-order/%d?billingDate=%s", q.ids[q.m.unpaid], day.Format(time.DateOnly)) {
				q.m.again = day
			}
		} else if q.ask("/subscription-billing-attempts/attempt-billing/%d", q.ids[q.m.unpaid]) {
			q.m.pay(q.today)
		}
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
		q.changeInterval()
	case 6: // the platform may take no charge of the order yet
		if q.ask("/subscription-billing-attempts/attempt-billing/%d", id) {
			q.m.end(n, q.today)
		}
	case 7:
		q.cancel()
	default:
		switch q.random.IntN(3) {
		case 0:
			if q.statusTo("PAUSED") {
				q.m.stop()
			}
		case 1:
			if q.statusTo("PAUSED") {
				q.m.stop()
			}
			if q.statusTo("ACTIVE") {
				q.m.resume(q.today)
			}
		default:
			if q.statusTo("PAUSED&pauseTillDate=" + day.Format(time.DateOnly)) {
				q.m.stop()
				q.m.wakes = day
			}
		}
	}
}

// cancel lets the contract end with the deliveries that are paid, one each week.
func (q *queue) cancel() {
	if q.of.delivery != nil && q.today.Before(q.m.paid.AddDate(0, 0, 7)) && q.statusTo("CANCELLED") {
		q.m.stop()
		q.m.ends = true
	}
}

// decline lets the next charge be declined, which is made again on the next day, where
// that is over when the day is looked at.
func (q *queue) decline() {
	if q.of.in.Hour < 23 && !q.m.refused {
		q.call("POST", "/platform/outcomes", map[string]any{"contractId": q.id, "code": "CARD_DECLINED"}, nil)
		q.steps = append(q.steps, q.today.Format("01-02")+" the next charge will be declined")
		q.m.refused = true
	}
}

// changeInterval lets orders come as often as in another of the store's policies. Fixed
// days stay if the unit does.
func (q *queue) changeInterval() {
	waits := q.m.waits()
	if len(waits) == 0 {
		return
	}
	every := q.of.every[q.random.IntN(len(q.of.every))]
	if every.Anchors = nil; every.Interval == q.m.every(waits[0]).Interval {
		every.Anchors = q.m.every(waits[0]).Anchors
	}
	if q.ask("/subscription-contracts-update-billing-interval?contractId=%d&interval=%s&intervalCount=%d", q.id, every.Interval, every.IntervalCount) {
		q.m.change(q.today, every)
	}
}
