package prove

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/platform/simulator"
)

// journal is the activity log, as the checker reads it.
type journal struct {
	sums       map[entryKey]uint64
	ofAttempt  map[int64][]entry
	ofContract map[int64][]entry
	by         map[string][]entry // those of requests, by requester
}

// count counts entries of an event with a status.
func count(list []entry, event, status string) (n int) {
	for _, e := range list {
		if e.event == event && e.status == status {
			n++
		}
	}
	return n
}

// unchanging are requests that may find that everything is so already, and leave no entry.
var unchanging = []deed{addOnce, moveIt, moveAll, overtake, newLimits, newDelivery, newInterval, newQuantity, newPrice}

// requestsOnce checks that each request that was answered has entries, and none twice.
func (w *world) requestsOnce(log journal) {
	for i, r := range w.requests {
		list := log.by[requester(i)]
		if r.deed == chargeNow && r.done {
			continue // what comes of it is the charge's
		}
		w.require(I16, !r.done || len(list) > 0 || slices.Contains(unchanging, r.deed), "contract %d was changed (%s), and no entry says so", r.deal.id, r.deed)
		seen := make(map[string]bool)
		for _, e := range list {
			if strings.HasPrefix(e.event, "SEND_") {
				continue // one request may move several orders, and each move has a message
			}
			what := fmt.Sprint(e.of, e.event, e.status)
			w.require(I16, !seen[what], "contract %d was changed once (%s), and %s %s was recorded twice of %d", r.deal.id, r.deed, e.event, e.status, e.of)
			seen[what] = true
		}
	}
}

// entriesOnce checks the entries of what became of a contract and its cycles against the
// platform's books.
func (w *world) entriesOnce(d *deal, has map[int]attempt, log journal) {
	mine := log.ofContract[d.id]
	w.require(I16, count(mine, "CONTRACT_CREATED", "SUCCESS") == 1, "contract %d has %d entries of having been made", d.id, count(mine, "CONTRACT_CREATED", "SUCCESS"))
	for cycle, a := range has {
		key, list := cycleKey{d.id, cycle}, log.ofAttempt[a.id]
		orders := 0
		if w.orders[key] != nil {
			orders = 1
		}
		n := count(list, "BILLING_ATTEMPT_TRIGGERED", "SUCCESS")
		w.require(I16, n == orders, "cycle %d of contract %d has %d orders and %d entries of them%s", cycle, d.id, orders, n, historyOf(has, log.ofAttempt))
		if !d.touched.IsZero() || d.parent != nil || slices.ContainsFunc(d.plan.Outcomes, func(o outcome) bool {
			return o.Cycle == cycle && (o.Code == simulator.Challenge || o.Code == simulator.Never)
		}) {
			continue
		}
		declined := 0
		for _, e := range w.ends[key] {
			if e.Code != "" {
				declined++
			}
		}
		n = count(list, "BILLING_ATTEMPT_TRIGGERED", "FAILURE")
		w.require(I16, n == declined, "cycle %d of contract %d was declined %d times and has %d entries of it%s", cycle, d.id, declined, n, historyOf(has, log.ofAttempt))
		for _, event := range []string{"DUNNING_PAUSED", "DUNNING_CANCELLED", "DUNNING_SKIPPED"} {
			n = count(list, event, "SUCCESS")
			w.require(I16, n <= 1, "cycle %d of contract %d has %d entries of %s%s", cycle, d.id, n, event, historyOf(has, log.ofAttempt))
		}
		n = count(list, "BILLING_ATTEMPT_SKIPPED", "SKIPPED")
		w.require(I16, n <= 1 && (n == 0) == (a.status != "SKIPPED"), "cycle %d of contract %d is %s and has %d entries of being left out%s", cycle, d.id, a.status, n, historyOf(has, log.ofAttempt))
	}
}
