package sandbox

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/store"
)

// checkBooks compares the platform's books with its own calendar: an order for
// every cycle that is due of a contract that can be charged, and no other.
func (b *bench) checkBooks() {
	b.t.Helper()
	made := map[int64][]int{}
	for _, o := range b.sim.Orders(simulator.OrderFilter{}) {
		made[o.Contract] = append(made[o.Contract], o.Cycle)
	}
	contracts := slices.Clone(b.secrets.Cast.Others)
	for _, c := range b.secrets.Cast.Customers {
		contracts = append(contracts, c.Contracts...)
	}
	due := 0
	for _, id := range contracts {
		c, err := b.sim.Contract(id)
		if err != nil {
			b.t.Fatal(err)
		}
		cycles, err := b.sim.Cycles(id)
		if err != nil {
			b.t.Fatal(err)
		}
		var want []int
		for _, y := range cycles {
			ends := c.Billing.MaxCycles > 0 && y.Index > c.Billing.MaxCycles
			ran := c.Status == "ACTIVE" || c.Status == "EXPIRED" && c.Billing.MaxCycles > 0
			if ran && c.MethodStatus == simulator.MethodValid && !ends && y.Expected.Before(b.clock.Now()) {
				want = append(want, y.Index)
			}
		}
		due += len(want)
		if !slices.Equal(made[id], want) {
			b.t.Errorf("contract %d (%d %s, anchors %v): the orders are for cycles %v, want %v", id, c.Billing.IntervalCount, c.Billing.Interval, c.Billing.Anchors, made[id], want)
		}
	}
	if due == 0 {
		b.t.Error("nothing was due: the test proves nothing")
	}
}

// A year of figures is in make soak.
func TestQuarterHasOneOrderPerDueCycle(t *testing.T) {
	t.Parallel()
	b := start(t, Options{MainOnly: true, Contracts: 30, CheckEvery: reconcileEvery})
	r := b.advance("P3M")
	b.checkBooks()
	if r.Billed != r.Orders || r.Orders != len(b.orders("")) || r.Failed == 0 {
		t.Errorf("the report is %+v", r)
	}
	checkFigures(t, b)
}

// history is the history of a sandbox, contract by contract.
type history struct {
	orders  map[int64][]simulator.Renewal
	entries map[string][]string
}

// keyNumber is that of an API key, which is made while the store's first tasks run: how
// many numbers they have taken by then is chance.
var keyNumber = regexp.MustCompile(`"apiKeyId":\d+,`)

func (b *bench) history() history {
	b.t.Helper()
	h := history{map[int64][]simulator.Renewal{}, map[string][]string{}}
	for _, o := range b.sim.Orders(simulator.OrderFilter{}) {
		h.orders[o.Contract] = append(h.orders[o.Contract], o)
	}
	a := b.front.running()
	stores, err := a.Store.Shops().All(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	for _, s := range stores {
		for n := 0; ; n++ {
			list, all, err := a.Store.Entries(b.t.Context(), s.ID, nil, page.Request{
				Page: n, Size: activity.MaxPage, Sort: []page.Sort{{Field: activity.FieldID}},
			})
			if err != nil {
				b.t.Fatal(err)
			}
			orders := b.ordersOf(a.Store, s.ID, list)
			for _, e := range list {
				of := fmt.Sprintf("%s %s %d", s.Domain, e.EntityType, e.EntityID)
				if order := orders[e.EntityID]; order != "" && e.EntityType == activity.EntitySubscriptionBillingAttempt {
					of = s.Domain + " " + order
				}
				h.entries[of] = append(h.entries[of], fmt.Sprintf("%s %s %s %s %s", e.At.Format("2006-01-02T15:04:05.000Z07:00"), e.Event, e.Status, e.Actor.Source, keyNumber.ReplaceAllString(e.Info, "")))
			}
			if (n+1)*activity.MaxPage >= all {
				break
			}
		}
	}
	for _, list := range h.entries {
		slices.SortStableFunc(list, inTurn)
	}
	return h
}

// ordersOf returns contract and cycle of the attempts that entries are about. Their
// numbers are chance: two stores whose contracts are first read at once take them in turns.
func (b *bench) ordersOf(db *store.DB, of shop.ID, entries []activity.Entry) map[int64]string {
	b.t.Helper()
	var ids []billing.AttemptID
	for _, e := range entries {
		if e.EntityType == activity.EntitySubscriptionBillingAttempt {
			ids = append(ids, billing.AttemptID(e.EntityID))
		}
	}
	orders := make(map[int64]string, len(ids))
	err := db.Update(b.t.Context(), of, func(tx *store.Tx) error {
		attempts, err := tx.Attempts(b.t.Context(), ids)
		for _, a := range attempts {
			orders[int64(a.ID)] = fmt.Sprintf("cycle %d of contract %d", a.Cycle, a.Contract)
		}
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return orders
}

// inTurn compares entries of a history by their instants. E-mails and tags leave by
// tasks of their own: which is first at one instant is chance, and they come last.
func inTurn(a, b string) int {
	rank := func(text string) (at string, rank int) {
		at, event, _ := strings.Cut(text, " ")
		switch {
		case strings.HasPrefix(event, "SEND_"):
			rank = 1
		case strings.HasPrefix(event, "TAGS_"):
			rank = 2
		}
		return at, rank
	}
	one, first := rank(a)
	two, second := rank(b)
	return cmp.Or(cmp.Compare(one, two), cmp.Compare(first, second))
}

func TestStoryIsDeterministic(t *testing.T) {
	t.Parallel()
	story := func() history {
		b := start(t, Options{Contracts: 16, Seed: 5})
		b.direct("POST", "/platform/outcomes", `{"contractId":9001,"code":"INSUFFICIENT_FUNDS"}`, nil)
		b.direct("POST", "/platform/contracts", checkoutBody(""), nil)
		b.direct("POST", "/platform/faults", `{"rate":0.1,"seed":3,"for":"P10D"}`, nil)
		b.advance("P30D")
		return b.history()
	}
	one, two := story(), story()
	if len(one.orders) < 8 || len(one.entries) < 40 {
		t.Errorf("too little happened: %d contracts with orders, %d things with entries", len(one.orders), len(one.entries))
	}
	for id, orders := range one.orders {
		if !reflect.DeepEqual(orders, two.orders[id]) {
			t.Errorf("the orders of contract %d differ:\n%+v\n%+v", id, orders, two.orders[id])
		}
	}
	for of, entries := range one.entries {
		if !slices.Equal(entries, two.entries[of]) {
			t.Errorf("the entries of %s differ:\n%v\n%v", of, entries, two.entries[of])
		}
	}
	if len(one.orders) != len(two.orders) || len(one.entries) != len(two.entries) {
		t.Error("one run has more than the other")
	}
}
