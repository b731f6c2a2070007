package prove

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/prove/oracle"
)

// attempt is a row of attempts, as the checker reads it.
type attempt struct {
	shop, id, contract int64
	cycle              int
	status             string
	date               time.Time
	moved, manual      bool
	sent               time.Time
	updated            time.Time
	code               string
	order              int64
	amount             money.Amount
	lines              string
	opened             time.Time // the first decline, by its case; zero: none
}

func (w *world) attempts() (list []attempt, err error) {
	rows, err := w.books.QueryContext(context.Background(), `SELECT shop_id, id, contract_id, cycle, status, billing_date, moved, manual, sent_at, updated_at, error_code, order_id, amount, currency, lines, dunning
		FROM attempts ORDER BY contract_id, cycle`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var a attempt
		var date, sent, updated int64
		var pursuit string
		err := rows.Scan(&a.shop, &a.id, &a.contract, &a.cycle, &a.status, &date, &a.moved, &a.manual, &sent, &updated, &a.code, &a.order, &a.amount.Minor, &a.amount.Currency, &a.lines, &pursuit)
		if err != nil {
			return nil, err
		}
		a.date, a.sent, a.updated = time.UnixMilli(date).UTC(), time.UnixMilli(sent).UTC(), time.UnixMilli(updated).UTC()
		if pursuit != "" {
			var says struct {
				OpenedAt time.Time `json:"openedAt"`
			}
			if err := json.Unmarshal([]byte(pursuit), &says); err != nil {
				return nil, err
			}
			a.opened = says.OpenedAt
		}
		list = append(list, a)
	}
	return list, rows.Err()
}

// standing is a row of contracts.
type standing struct {
	shop, id int64
	status   string
	next     time.Time // zero: none
	from     int       // cycle with which its series begins
	max      int
	passed   int     // cycles before it that were never an order
	ending   *ending // a cancellation that waits; nil: none
}

// ending is what a row of contracts says of a cancellation that waits.
type ending struct {
	Cycle int       `json:"cycle"` // the last one that is charged
	At    time.Time `json:"at"`
}

// last returns the last cycle that is charged, and false when there is no end to
// them.
func (c standing) last() (int, bool) {
	last, ends := c.max+c.passed, c.max > 0
	if c.ending != nil && (!ends || c.ending.Cycle < last) {
		last, ends = c.ending.Cycle, true
	}
	return last, ends
}

func (w *world) standings() (map[int64]standing, error) {
	rows, err := w.books.QueryContext(context.Background(), "SELECT shop_id, id, status, next_billing_date, series_cycle, max_cycles, passed_cycles, ending FROM contracts ORDER BY id")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	list := make(map[int64]standing)
	for rows.Next() {
		var c standing
		var next int64
		var waits string
		if err := rows.Scan(&c.shop, &c.id, &c.status, &next, &c.from, &c.max, &c.passed, &waits); err != nil {
			return nil, err
		}
		if waits != "" {
			if err := json.Unmarshal([]byte(waits), &c.ending); err != nil {
				return nil, err
			}
		}
		if next != 0 {
			c.next = time.UnixMilli(next).UTC()
		}
		list[c.id] = c
	}
	return list, rows.Err()
}

// entry is what the checker keeps of an entry of the activity log.
type entry struct {
	of            int64 // what it is about
	event, status string
	at            time.Time
}

// entryKey names an entry.
type entryKey struct{ shop, id int64 }

func (w *world) entries() (log journal, err error) {
	rows, err := w.books.QueryContext(context.Background(), "SELECT shop_id, id, entity_id, entity_type, event, status, source, actor, recorded_at, info FROM activity")
	if err != nil {
		return log, err
	}
	defer rows.Close()
	log = journal{make(map[entryKey]uint64), make(map[int64][]entry), make(map[int64][]entry), make(map[string][]entry)}
	for rows.Next() {
		var key entryKey
		var at int64
		var kind, source, actor, info string
		var e entry
		if err := rows.Scan(&key.shop, &key.id, &e.of, &kind, &e.event, &e.status, &source, &actor, &at, &info); err != nil {
			return log, err
		}
		e.at = time.UnixMilli(at).UTC()
		sum := fnv.New64a()
		fmt.Fprint(sum, e.of, kind, e.event, e.status, source, actor, at, info)
		log.sums[key] = sum.Sum64()
		switch kind {
		case "SUBSCRIPTION_BILLING_ATTEMPT":
			log.ofAttempt[e.of] = append(log.ofAttempt[e.of], e)
		case "SUBSCRIPTION_CONTRACT_DETAILS":
			log.ofContract[e.of] = append(log.ofContract[e.of], e)
		}
		if actor != "" {
			log.by[actor] = append(log.by[actor], e)
		}
	}
	return log, rows.Err()
}

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

// historyOf tells what the service knows of a contract's orders.
func historyOf(has map[int]attempt, log map[int64][]entry) string {
	var b strings.Builder
	for _, cycle := range slices.Sorted(maps.Keys(has)) {
		a := has[cycle]
		fmt.Fprintf(&b, "\n  cycle %d: %s, due %s, moved %t, manual %t, %s", cycle, a.status, a.date.Format(time.RFC3339), a.moved, a.manual, a.code)
		for _, e := range log[a.id] {
			fmt.Fprintf(&b, "\n    %s %s %s", e.at.Format(time.RFC3339), e.event, e.status)
		}
	}
	return b.String()
}

// owed holds what became of the cycles of a contract against the oracle's dates,
// up to where people changed it.
func (w *world) owed(d *deal, has map[int]attempt, log map[int64][]entry) {
	until := w.cutoff()
	if !d.touched.IsZero() {
		until = d.touched.Add(-farthestJump)
	}
	paused := w.suspended(d, has, log)
	if !paused.IsZero() && paused.Before(until) {
		until = paused.Add(-farthestJump)
	}
	calendar := d.shop.calendar()
	policy := policyOf(d.plan.Spec.Billing)
	if d.plan.Offer == forLife {
		w.require(I2, len(has) == 0, "contract %d is paid for once and for all%s", d.id, historyOf(has, log))
		return
	}
	begins := w.firstDue(d, calendar)
	if d.parent != nil || begins.After(until) {
		return
	}
	first := d.first
	if d.plan.Offer.tried() { // the platform counts cycles that the trial covers
		first = slices.Min(slices.Collect(mapsKeys(has)))
	}
	dates := oracle.Owed(policy, begins, w.now, calendar)
	for i, date := range dates {
		cycle := first + i
		if date.After(until) || policy.MaxCycles > 0 && d.first+i > policy.MaxCycles { // a trial jumps over cycles
			return
		}
		w.due++
		a, there := has[cycle]
		if !w.require(I2, there, "contract %d has nothing for cycle %d, due %s%s", d.id, cycle, date, historyOf(has, log)) {
			w.missed++
			continue
		}
		if d.touched.IsZero() {
			w.require(I6, a.date.Equal(date), "cycle %d of contract %d is due %s and not %s%s", cycle, d.id, date, a.date, historyOf(has, log))
		}
		later := w.now
		if i+1 < len(dates) {
			later = dates[i+1]
		}
		w.explained(d, a, date, later, paused)
	}
}

// suspended returns when the contract was paused or cancelled because an order of it
// could not be charged; zero: never.
func (w *world) suspended(d *deal, has map[int]attempt, log map[int64][]entry) (at time.Time) {
	for cycle, a := range has {
		for _, e := range log[a.id] {
			if e.event != "DUNNING_PAUSED" && e.event != "DUNNING_CANCELLED" {
				continue
			}
			w.require(I2, w.declinedBefore(d, cycle), "contract %d was paused or cancelled for cycle %d, and no charge failed", d.id, cycle)
			if at.IsZero() || e.at.Before(at) {
				at = e.at
			}
		}
	}
	return at
}

// explained checks the outcome of a cycle that fell due, of a contract that was
// paused for a decline at an instant (zero: never).
func (w *world) explained(d *deal, a attempt, date, later, paused time.Time) {
	key := cycleKey{a.contract, a.cycle}
	ends := w.ends[key]
	why := ""
	switch a.status {
	case "SUCCESS":
		o := w.orders[key]
		switch {
		case o == nil:
			why = "no order exists"
		case d.triggers == 0 && o.At.Before(date.Add(-farthestJump)):
			why = fmt.Sprintf("the order of %s came too early", o.At)
		}
	case "FAILURE":
		if len(ends) == 0 && !slices.Contains(unmet, a.code) {
			why = "no charge failed"
		}
	case "SKIPPED":
		if d.touched.IsZero() && a.updated.Before(later.Add(-farthestJump)) {
			why = fmt.Sprintf("no request asked for it, and the cycle after it, due %s, had not come", later)
		}
	case "SKIPPED_DUNNING_MGMT":
		if !w.declinedBefore(d, a.cycle) {
			why = "no charge of it or of an earlier one failed"
		}
	case "CONTRACT_PAUSED", "CONTRACT_CANCELLED", "CONTRACT_ENDED", "SOCIAL_CONNECTION_NULL":
		declined := (a.status == "CONTRACT_PAUSED" || a.status == "CONTRACT_CANCELLED") && !paused.IsZero() && !a.updated.Before(paused.Add(-farthestJump))
		if d.touched.IsZero() && !declined {
			why = "the contract and its store were not changed"
		}
	default:
		why = "that is no end"
	}
	if !w.require(I2, why == "", "cycle %d of contract %d, due %s, is %s: %s", a.cycle, a.contract, date, a.status, why) {
		w.unexplained++
	}
}

// goesOn checks that a contract is not forgotten, and that what people changed
// came to an end too.
func (w *world) goesOn(d *deal, c standing, has map[int]attempt) {
	last := 0
	waiting, underWay := 0, 0
	for cycle, a := range has {
		last = max(last, cycle)
		if inFlight(a.status) { // its place in the queue is taken when it ends
			underWay++
		}
		if a.status == "QUEUED" {
			waiting++
			if !w.require(I2, a.date.After(w.cutoff()), "cycle %d of contract %d has waited since %s", cycle, d.id, a.date) {
				w.missed++
			}
		}
	}
	runs := c.status == "ACTIVE" || c.status == "PAUSED"
	if c.ending != nil {
		w.require(I2, !d.cancelled.IsZero(), "contract %d ends on %s, and was not cancelled", d.id, c.ending.At)
		w.require(I2, !runs || c.ending.At.After(w.cutoff()), "contract %d was to end on %s, and is %s", d.id, c.ending.At, c.status)
	}
	w.require(I2, d.left.IsZero() || c.ending != nil || !runs, "contract %d was cancelled on %s and is %s without a request", d.id, d.left, c.status)
	if c.status != "ACTIVE" || d.shop.gone || d.plan.Offer == forLife {
		return
	}
	// Cycles that passed while it was paused count.
	end, ends := c.last()
	ended := ends && max(last, c.from) >= end
	w.require(I6, ended || waiting+underWay >= 6, "contract %d runs, and %d of its cycles wait, from cycle %d to %d of %d", d.id, waiting, c.from, last, end)
	w.require(I6, ended && waiting == 0 || c.next.After(w.cutoff()), "the next date of contract %d, %s, is past", d.id, c.next)
}

// explainedEnd checks that an attempt came to an end, with its entry.
func (w *world) explainedEnd(a attempt, log []entry) {
	count := func(event string, status ...string) (n int) {
		for _, e := range log {
			if e.event == event && slices.Contains(status, e.status) {
				n++
			}
		}
		return n
	}
	const triggered, skipped = "BILLING_ATTEMPT_TRIGGERED", "BILLING_ATTEMPT_SKIPPED"
	n := 1
	switch a.status {
	case "SUCCESS":
		n = count(triggered, "SUCCESS")
		w.require(I7, n == 1, "attempt %d has an order and %d entries of it", a.id, n)
	case "FAILURE":
		n = count(triggered, "FAILURE")
	case "SKIPPED_DUNNING_MGMT":
		n = count("DUNNING_SKIPPED", "SUCCESS") + count("DUNNING_CANCELLED", "SUCCESS") + count("DUNNING_ATTEMPT_SKIPPED", "SKIPPED")
	case "SKIPPED", "CONTRACT_PAUSED", "CONTRACT_CANCELLED", "CONTRACT_ENDED", "SOCIAL_CONNECTION_NULL":
		n = count(skipped, "SKIPPED", "SUCCESS", "INFO") + count("DUPLICATE_BILLING_ATTEMPT_DETECTED", "SKIPPED") + count("BILLING_ATTEMPT_UPDATED", "INFO", "SUCCESS")
	case "REQUESTING", "PROGRESS", "SECURITY_CHALLENGE":
		w.require(I4, w.now.Sub(a.sent) < 50*time.Hour, "attempt %d is %s since %s", a.id, a.status, a.sent)
		return
	case "SHOPIFY_EXCEPTION":
		w.violated(I4, "attempt %d is %s since %s, and nothing is wrong any more", a.id, a.status, a.sent)
		return
	case "QUEUED":
		return
	}
	w.require(I7, n > 0, "attempt %d is %s and no entry says why", a.id, a.status)
}

// compareOrders holds the platform's orders against our attempts, both ways.
func (w *world) compareOrders(attempts []attempt) {
	matched := make(map[cycleKey]bool, len(w.orders))
	ours := make(map[cycleKey]string, len(attempts))
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
		{I4, "marks", "SELECT COUNT(*) FROM marks WHERE due_at <= "},
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

func sorted[V any](m map[int64]V) []int64 {
	ids := make([]int64, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
