package prove

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
)

// checkpoint checks what must hold at any time, in all of the database.
func (w *world) checkpoint() error {
	w.whole = true
	defer func() { w.whole = false }()
	attempts, err := w.attempts()
	if err != nil {
		return err
	}
	contracts, err := w.standings()
	if err != nil {
		return err
	}
	w.nextDates(attempts, contracts)
	log, err := w.entries()
	if err != nil {
		return err
	}
	for id, sum := range w.logged {
		w.require(I7, log.sums[id] == sum, "entry %d of the activity log was altered", id.id)
	}
	w.logged = log.sums
	for _, a := range attempts {
		d := w.dealOf(a.contract)
		w.require(I10, d != nil && int64(d.shop.id) == a.shop, "attempt %d of contract %d is another store's", a.id, a.contract)
		if a.status == "SUCCESS" {
			o := w.orders[cycleKey{a.contract, a.cycle}]
			w.require(I3, o != nil && o.ID == a.order, "attempt %d says that contract %d has order %d for cycle %d", a.id, a.contract, a.order, a.cycle)
		}
	}
	return nil
}

// nextDates holds contracts' next dates against their attempts.
func (w *world) nextDates(attempts []attempt, contracts map[int64]standing) {
	earliest := make(map[int64]time.Time)
	underWay := make(map[int64][]time.Time)
	for _, a := range attempts {
		if inFlight(a.status) {
			underWay[a.contract] = append(underWay[a.contract], a.date)
		}
		if at := earliest[a.contract]; a.status == "QUEUED" && (at.IsZero() || a.date.Before(at)) {
			earliest[a.contract] = a.date
		}
	}
	for _, id := range sorted(contracts) {
		c := contracts[id]
		if c.status == "ACTIVE" {
			w.require(I6, c.next.Equal(earliest[id]) || slices.ContainsFunc(underWay[id], c.next.Equal), "contract %d says %s is next, and its attempts say %s", id, c.next, earliest[id])
		}
	}
}

// inFlight reports whether a charge with an unknown end may exist: its
// date stays the next one of its contract until it ends.
func inFlight(status string) bool {
	return slices.Contains([]string{"REQUESTING", "PROGRESS", "SECURITY_CHALLENGE", "SHOPIFY_EXCEPTION"}, status)
}

// finish checks everything, after the calm.
func (w *world) finish() error {
	if err := w.checkpoint(); err != nil {
		return err
	}
	w.whole = true
	attempts, err := w.attempts()
	if err != nil {
		return err
	}
	contracts, err := w.standings()
	if err != nil {
		return err
	}
	log, err := w.entries()
	if err != nil {
		return err
	}
	of := make(map[int64]map[int]attempt)
	for _, a := range attempts {
		if of[a.contract] == nil {
			of[a.contract] = make(map[int]attempt)
		}
		of[a.contract][a.cycle] = a
		w.explainedEnd(a, log.ofAttempt[a.id])
	}
	w.compareOrders(attempts)
	if err := w.partsOnce(); err != nil {
		return err
	}
	for _, d := range w.dealsInOrder() {
		c, known := contracts[d.id]
		if !w.require(I2, known, "the service does not know contract %d of %s", d.id, d.shop.plan.Domain) {
			w.missed++
			continue
		}
		w.require(I10, c.shop == int64(d.shop.id), "contract %d is kept for another store", d.id)
		w.owed(d, of[d.id], log.ofAttempt)
		w.pricesByOrder(d, of[d.id])
		w.boxPrices(d, of[d.id])
		w.delivered(d, of[d.id], log)
		w.inTheirTurn(d, of[d.id], log)
		w.pursuedTo(d, of[d.id], log)
		w.entriesOnce(d, of[d.id], log)
		w.goesOn(d, c, of[d.id])
	}
	w.requestsOnce(log)
	return w.nothingWaits()
}

// partsOnce checks that every contract at the platform was made by a buyer or by a
// split, and that no split made two of them that run.
func (w *world) partsOnce() error {
	for _, s := range w.shops {
		ids, err := w.sim.Contracts(s.plan.Domain)
		if err != nil {
			return err
		}
		for _, id := range ids {
			w.require(I5, w.dealOf(id) != nil, "no buyer and no split made contract %d", id)
		}
	}
	run := make(map[*deal]int)
	for _, part := range w.parts {
		is, err := w.sim.Contract(part.id)
		if err != nil {
			return err
		}
		if is.Status == "ACTIVE" {
			run[part.parent]++
		}
	}
	for _, d := range w.dealsInOrder() {
		w.require(I1, run[d] <= d.splits, "contract %d was split %d times, and %d parts run", d.id, d.splits, run[d])
	}
	return nil
}

// cutoff is until when what fell due must be settled in the end.
func (w *world) cutoff() time.Time { return w.now.Add(-2 * day) }

// compareOrders holds the platform's orders against our attempts, both ways.
func (w *world) compareOrders(attempts []attempt) {
	matched := make(map[cycleKey]bool, len(w.orders))
	ours := make(map[cycleKey]string, len(attempts))
	of := make(map[int64]*deal, len(w.deals))
	for _, d := range w.dealsInOrder() {
		of[d.id] = d
	}
	for _, a := range attempts {
		key := cycleKey{a.contract, a.cycle}
		ours[key] = fmt.Sprintf("attempt %d is %s", a.id, a.status)
		if a.status != "SUCCESS" {
			continue
		}
		o := w.orders[key]
		if o == nil || o.ID != a.order {
			continue // reported at the checkpoint
		}
		matched[key] = true
		amount, err := money.Parse(o.Amount, o.Currency)
		w.require(I3, err == nil && amount == a.amount, "order %s of contract %d is over %s %s, and attempt %d says %s %s", o.Name, a.contract, o.Amount, o.Currency, a.id, a.amount, a.amount.Currency)
		if d := of[a.contract]; d != nil && d.touched.IsZero() && !d.adrift {
			w.require(I18, amount.Minor == a.expected, "order %s of contract %d is over %s %s, and %d was expected in minor units", o.Name, a.contract, o.Amount, o.Currency, a.expected)
		}
		var lines []struct {
			Variant  int64 `json:"variant"`
			Quantity int   `json:"quantity"`
			Price    int64 `json:"price"`
		}
		if err := json.Unmarshal([]byte(a.lines), &lines); err != nil {
			w.violated(I3, "the lines of attempt %d cannot be read: %v", a.id, err)
			continue
		}
		same := len(lines) == len(o.Lines)
		for i := range o.Lines {
			price, err := money.Parse(o.Lines[i].Price, o.Currency)
			same = same && err == nil && lines[i].Variant == o.Lines[i].Variant && lines[i].Quantity == o.Lines[i].Quantity && lines[i].Price == price.Minor
		}
		w.require(I3, same, "order %s of contract %d has the lines %+v, and attempt %d says %s", o.Name, a.contract, o.Lines, a.id, a.lines)
	}
	for _, key := range slices.SortedFunc(maps.Keys(w.orders), cycleKey.compare) {
		o := w.orders[key]
		w.require(I3, matched[key], "order %s of cycle %d of contract %d, made at %s, is in no attempt: %s", o.Name, key.cycle, key.contract, o.At.Format(time.RFC3339), cmp.Or(ours[key], "there is none"))
	}
}

// nothingWaits checks that no row waits to be acted on.
func (w *world) nothingWaits() error {
	late := w.now.Add(-2 * time.Hour).UnixMilli()
	for _, q := range []struct {
		is    Invariant
		what  string
		query string
	}{
		{I4, "attempts that are due", "SELECT COUNT(*) FROM attempts WHERE due_at <= "},
		{I4, "attempts to publish to the platform", "SELECT COUNT(*) FROM attempts WHERE publish_at <= "},
		{I4, "annotations", "SELECT COUNT(*) FROM annotations WHERE due_at <= "},
		{I4, "contracts with changes that are due", "SELECT COUNT(*) FROM contracts WHERE amend_at <= "},
		{I8, "events that wait", "SELECT COUNT(*) FROM inbox WHERE finished_at IS NULL AND due_at <= "},
		{I8, "events that were given up", "SELECT COUNT(*) FROM inbox WHERE finished_at IS NULL AND due_at IS NULL AND received_at <= "},
		{I8, "messages that wait", "SELECT COUNT(*) FROM messages WHERE due_at <= "},
	} {
		var n int
		if err := w.books.QueryRowContext(context.Background(), q.query+strconv.FormatInt(late, 10)).Scan(&n); err != nil {
			return err
		}
		w.require(q.is, n == 0, "there are %d %s", n, q.what)
	}
	return nil
}

func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
