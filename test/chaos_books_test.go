//go:build soak

package test

import (
	"context"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/platform/simulator"
)

// declineCode is the code with which the charges of some contracts end.
const declineCode = "INSUFFICIENT_FUNDS"

// compare holds the platform's books against the contracts and against what the
// service believes: each contract was charged once, for its first cycle, and that
// charge has the one end in the service's tables that it has at the platform.
func (w *world) compare(ctx context.Context) {
	orders := make(map[int64][]simulator.Renewal)
	for _, r := range w.sim.Orders(simulator.OrderFilter{}) {
		orders[r.Contract] = append(orders[r.Contract], r)
	}
	believed, ends := w.attempts(ctx), w.entries(ctx)
	for _, id := range w.contracts {
		if charges := w.charges(id); len(charges) > 1 {
			w.t.Errorf("contract %d was charged %d times: %+v", id, len(charges), charges)
		}
		want := "FAILURE order 0 " + declineCode
		switch list := orders[id]; {
		case len(list) == 0 && !w.declined[id]:
			w.t.Errorf("contract %d has no order, and the service believes %q", id, believed[id])
		case len(list) > 1 || len(list) > 0 && w.declined[id]:
			w.t.Errorf("contract %d has %d orders: %+v", id, len(list), list)
		case len(list) == 1 && list[0].Cycle != 1:
			w.t.Errorf("contract %d was charged for cycle %d", id, list[0].Cycle)
		case len(list) == 1:
			want = fmt.Sprintf("SUCCESS order %d ", list[0].ID)
		}
		if believed[id] != want {
			w.t.Errorf("contract %d: the platform says %q, and the service believes %q", id, want, believed[id])
		}
		if ends[id] != 1 {
			w.t.Errorf("contract %d: the activity log tells %d times how its charge ended", id, ends[id])
		}
	}
	if len(orders) != len(w.contracts)-len(w.declined) {
		w.t.Errorf("%d contracts have orders, of %d", len(orders), len(w.contracts)-len(w.declined))
	}
}

// charges are what the platform made of requests to charge a contract.
func (w *world) charges(contract int64) []simulator.Attempt {
	c, err := w.sim.Contract(contract)
	if err != nil {
		w.t.Fatal(err)
	}
	return c.Attempts
}

// attempts returns what the service believes of every attempt that was ever
// tried, by contract.
func (w *world) attempts(ctx context.Context) map[int64]string {
	believed := make(map[int64]string)
	w.rows(ctx, "SELECT contract_id, status, order_id, error_code FROM attempts WHERE status <> 'QUEUED'", func(scan func(...any) error) error {
		var id, order int64
		var status, code string
		err := scan(&id, &status, &order, &code)
		believed[id] += fmt.Sprintf("%s order %d %s", status, order, code)
		return err
	})
	return believed
}

// states returns how many attempts there are in each status, with calls that
// failed and the time until they are due.
func (w *world) states() (list []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	rows, err := w.db.QueryContext(ctx, "SELECT status, failures, COUNT(*), COALESCE(MIN(due_at), 0) FROM attempts WHERE cycle = 1 GROUP BY status, failures")
	if err != nil {
		return []string{err.Error()}
	}
	defer rows.Close()
	for rows.Next() {
		var status string
		var failures, n int
		var due int64
		if err := rows.Scan(&status, &failures, &n, &due); err != nil {
			return append(list, err.Error())
		}
		list = append(list, fmt.Sprintf("%s failures %d: %d due %s", status, failures, n, time.UnixMilli(due).Format("15:04:05.0")))
	}
	if err := rows.Err(); err != nil {
		return append(list, err.Error())
	}
	return append(list, "now "+clock.System{}.Now().Format("15:04:05.0"))
}

// entries returns how often the activity log records the end of a charge, by
// contract.
func (w *world) entries(ctx context.Context) map[int64]int {
	ends := make(map[int64]int)
	w.rows(ctx, `SELECT a.contract_id FROM activity e JOIN attempts a ON a.shop_id = e.shop_id AND a.id = e.entity_id
		WHERE e.entity_type = 'SUBSCRIPTION_BILLING_ATTEMPT' AND e.event = 'BILLING_ATTEMPT_TRIGGERED' AND e.status IN ('SUCCESS', 'FAILURE')`, func(scan func(...any) error) error {
		var id int64
		err := scan(&id)
		ends[id]++
		return err
	})
	return ends
}

// rows reads what a query finds in the service's database.
func (w *world) rows(ctx context.Context, query string, each func(scan func(...any) error) error) {
	rows, err := w.db.QueryContext(ctx, query)
	if err != nil {
		w.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		w.t.Fatal(err)
	}
}
