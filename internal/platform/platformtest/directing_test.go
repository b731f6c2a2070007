package platformtest_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform/platformtest"
	"github.com/perennialhq/perennial/internal/platform/simulator"
)

// welcome is the store's discount code.
const welcome = "WELCOME10"

func (w *world) Variants() []int64 {
	w.t.Helper()
	sold, err := w.sim.Variants(domain)
	w.must(err)
	ids := make([]int64, len(sold))
	for i, v := range sold {
		ids[i] = v.ID
	}
	return ids
}

func (w *world) Code() string {
	w.t.Helper()
	w.must(w.sim.AddCode(simulator.CodeSpec{Code: welcome, Percent: 10, CycleLimit: 2}))
	return welcome
}

func (w *world) Place() string {
	w.t.Helper()
	var got struct {
		Locations struct {
			Nodes []struct {
				ID string `json:"id"`
			} `json:"nodes"`
		} `json:"locations"`
	}
	w.ask(`query { locations(first: 1) { nodes { id } } }`, &got)
	if len(got.Locations.Nodes) == 0 {
		w.t.Fatal("the store has no location")
	}
	return got.Locations.Nodes[0].ID
}

func (w *world) LastOrder(contract int64) platformtest.Order {
	w.t.Helper()
	orders := w.sim.Orders(simulator.OrderFilter{Contract: contract})
	if len(orders) == 0 {
		w.t.Fatalf("contract %d has no order", contract)
	}
	last := orders[len(orders)-1]
	parse := func(s string) money.Amount {
		m, err := money.Parse(s, last.Currency)
		w.must(err)
		return m
	}
	o := platformtest.Order{ID: last.ID, Note: last.Note, Tags: last.Tags, Amount: parse(last.Amount)}
	for _, l := range last.Lines {
		o.Lines = append(o.Lines, platformtest.OrderLine{Variant: l.Variant, Quantity: l.Quantity, Price: parse(l.Price)})
	}
	return o
}

func (w *world) CustomerTags(customer int64) []string {
	w.t.Helper()
	c, err := w.sim.Customer(customer)
	w.must(err)
	return c.Tags
}

func (w *world) ContractCount() int {
	w.t.Helper()
	var got struct {
		Contracts struct {
			Nodes []struct{} `json:"nodes"`
		} `json:"subscriptionContracts"`
	}
	w.ask(`query { subscriptionContracts(first: 250) { nodes { id } } }`, &got)
	return len(got.Contracts.Nodes)
}

func (w *world) UpdateEmails() []string {
	w.t.Helper()
	sent, err := w.sim.UpdateEmails(domain)
	w.must(err)
	var methods []string
	for _, m := range sent {
		methods = append(methods, m.PaymentMethod)
	}
	return methods
}

func (w *world) AddPayPal(customer int64) string {
	w.t.Helper()
	id, err := w.sim.AddPaymentMethod(customer, simulator.PayPal)
	w.must(err)
	return id
}

func (w *world) BeforeCommit(meanwhile func()) { w.wire.beforeCommit(meanwhile) }
func (w *world) LoseCommits(n int)             { w.wire.loseCommits(n) }

// wiretap is a transport to the platform that recognizes commits.
type wiretap struct {
	mu     sync.Mutex
	before func()
	lose   int
}

func (w *wiretap) beforeCommit(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.before = f
}

func (w *wiretap) loseCommits(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lose = n
}

// next returns what is to happen to a commit.
func (w *wiretap) next() (before func(), lose bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, w.before = w.before, nil
	if lose = w.lose > 0; lose {
		w.lose--
	}
	return before, lose
}

var errLost = errors.New("the answer is lost")

func (w *wiretap) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	commit := bytes.Contains(body, []byte("DraftCommit("))
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	var lose bool
	if commit {
		var before func()
		if before, lose = w.next(); before != nil {
			before()
		}
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && lose {
		_ = res.Body.Close()
		return nil, errLost
	}
	return res, err
}
