package prove

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
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
	expected           int64 // minor units
	lines              string
	opened             time.Time // the first decline, by its case; zero: none
}

func (w *world) attempts() (list []attempt, err error) {
	rows, err := w.books.QueryContext(context.Background(), `SELECT shop_id, id, contract_id, cycle, status, billing_date, moved, manual, sent_at, updated_at, error_code, order_id, amount, expected, currency, lines, dunning
		FROM attempts ORDER BY contract_id, cycle`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var a attempt
		var date, sent, updated int64
		var pursuit string
		err := rows.Scan(&a.shop, &a.id, &a.contract, &a.cycle, &a.status, &date, &a.moved, &a.manual, &sent, &updated, &a.code, &a.order, &a.amount.Minor, &a.expected, &a.amount.Currency, &a.lines, &pursuit)
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
