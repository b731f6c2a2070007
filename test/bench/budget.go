package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/access"
)

// The stores whose budgets are measured.
const (
	budgetMaximum = 2000.0
	budgetRestore = 100.0 // points a second: the smallest plan's
	budgetStill   = 50    // contracts of a store that are not due, which a caller changes meanwhile
	budgetPause   = 2 * time.Second
)

// budgetRuns are how many stores have how many contracts due, each.
var budgetRuns = []struct{ shops, due int }{{1, 300}, {40, 400}}

// budget lets many contracts of stores with the platform's smallest point budget fall due,
// and measures how much of it is used until all are charged, while a caller changes
// contracts of the first store and waits for the answers.
func budget(ctx context.Context, s settings) error {
	for _, kind := range s.databases {
		for _, run := range budgetRuns {
			if err := s.budgetOn(ctx, kind, run.shops, run.due); err != nil {
				return fmt.Errorf("%d stores on %s: %w", run.shops, kind, err)
			}
		}
	}
	return nil
}

func (s settings) budgetOn(ctx context.Context, kind string, shops, each int) error {
	n := shops * each
	st, err := s.stage(ctx, kind, stockOptions{
		Shops: shops, Contracts: n, Still: shops * budgetStill, Due: clock.System{}.Now().Truncate(time.Minute),
		Maximum: budgetMaximum, Restore: budgetRestore,
	})
	if err != nil {
		return err
	}
	defer st.end()
	there := st.there
	person, err := newPerson(ctx, st.db, "http://"+st.address)
	if err != nil {
		return err
	}
	if err := there.limit(ctx); err != nil {
		return err
	}
	node, err := s.serve(ctx, st)
	if err != nil {
		return err
	}
	begun, err := there.purse(ctx)
	if err != nil {
		return err
	}
	var waits []time.Duration
	working, done := context.WithCancel(ctx)
	defer done()
	g, working := errgroup.WithContext(working)
	g.Go(func() (err error) { waits, err = person.work(working); return err })
	ended, err := there.spentAll(ctx)
	done()
	if failed := g.Wait(); err == nil {
		err = failed
	}
	if err != nil {
		return err
	}
	if err := node.stop(ctx); err != nil {
		return err
	}
	window := ended.At.Sub(begun.At)
	had := begun.Level + window.Seconds()*budgetRestore*float64(shops)
	spent := ended.Spent - begun.Spent
	slices.Sort(waits)
	s.print("budget db=%s shops=%d n=%d restore_per_second=%.0f seconds=%.1f points=%.0f points_each=%.1f used=%.3f goal=0.950 changes=%d change_p50_ms=%.0f change_longest_ms=%.0f",
		kind, shops, n, budgetRestore, window.Seconds(), spent, spent/float64(n), spent/had, len(waits), ms(waits[len(waits)/2]), ms(waits[len(waits)-1]))
	return nil
}

// person changes contracts over the interface and waits for the answers.
type person struct {
	url, key  string
	contracts []int64
}

// newPerson returns a caller with a key and the contracts that are not due.
func newPerson(ctx context.Context, db database, url string) (person, error) {
	p := person{url: url}
	err := app.WithAccess(ctx, db.url, clock.System{}, shopDomain(0), func(keys *access.Service, of app.ShopRef) (err error) {
		p.key, _, err = keys.Create(ctx, of.ID, access.NewKey{Name: "bench"})
		return err
	})
	if err != nil {
		return person{}, err
	}
	rows, err := db.bare.QueryContext(ctx, fmt.Sprintf("SELECT id FROM contracts WHERE shop_id = (SELECT id FROM shops WHERE domain = '%s') ORDER BY next_billing_date DESC, id LIMIT %d", shopDomain(0), budgetStill))
	if err != nil {
		return person{}, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return person{}, err
		}
		p.contracts = append(p.contracts, id)
	}
	return p, rows.Err()
}

// work makes one change after another until its context ends, and returns how long
// each took.
func (p person) work(ctx context.Context) (waits []time.Duration, err error) {
	ticks := time.NewTicker(budgetPause)
	defer ticks.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return waits, nil
		case <-ticks.C:
		}
		path := fmt.Sprintf("/api/external/v2/subscription-contracts-update-order-note/%d?orderNote=note%d", p.contracts[i%len(p.contracts)], i)
		elapsed := stopwatch()
		if _, err := call(context.WithoutCancel(ctx), http.DefaultClient, http.MethodPut, p.url+path, p.key); err != nil {
			return nil, err
		}
		waits = append(waits, elapsed())
	}
}

// purse is what the calls of stores have cost so far.
type purse struct {
	Spent float64   `json:"spent"` // points
	Level float64   `json:"level"` // points that are left
	At    time.Time `json:"at"`
}

// meter notes what calls cost by the answers to them.
type meter struct {
	stock stockOptions

	mu     sync.Mutex
	purses map[string]purse // by the tokens of the stores
}

func newMeter(o stockOptions) *meter {
	return &meter{stock: o, purses: make(map[string]purse, o.Shops)}
}

// begin fills the purses.
func (m *meter) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.stock.Shops {
		m.purses[shopToken(i)] = purse{Level: m.stock.Maximum, At: clock.System{}.Now()}
	}
}

// read returns what all stores have in their purses now.
func (m *meter) read() purse {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := purse{At: clock.System{}.Now()}
	for _, p := range m.purses {
		all.Spent += p.Spent
		all.Level += min(m.stock.Maximum, p.Level+all.At.Sub(p.At).Seconds()*m.stock.Restore)
	}
	return all
}

// metered lets calls through and notes their costs.
func (m *meter) metered(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		copied := &copyingWriter{ResponseWriter: w}
		h.ServeHTTP(copied, r)
		var a struct {
			Extensions struct {
				Cost struct {
					Actual *float64 `json:"actualQueryCost"`
					Status struct {
						Available float64 `json:"currentlyAvailable"`
					} `json:"throttleStatus"`
				} `json:"cost"`
			} `json:"extensions"`
		}
		if json.Unmarshal(copied.text.Bytes(), &a) != nil || a.Extensions.Cost.Actual == nil {
			return
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		token := r.Header.Get("X-Shopify-Access-Token")
		m.purses[token] = purse{m.purses[token].Spent + *a.Extensions.Cost.Actual, a.Extensions.Cost.Status.Available, clock.System{}.Now()}
	})
}

// copyingWriter keeps a copy of an answer.
type copyingWriter struct {
	http.ResponseWriter

	text bytes.Buffer
}

func (w *copyingWriter) Write(b []byte) (int, error) {
	w.text.Write(b)
	return w.ResponseWriter.Write(b)
}

// spentAll waits until every contract that was due has its order, and returns the
// purse of that instant.
func (p platform) spentAll(ctx context.Context) (purse, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	err := until(ctx, p.stock.Contracts, 100*time.Millisecond, func(ctx context.Context) (int, error) {
		books, err := p.verdict(ctx)
		return books.Orders, err
	})
	if err != nil {
		return purse{}, err
	}
	return p.purse(ctx)
}

// purse asks what the calls of all stores have cost.
func (p platform) purse(ctx context.Context) (purse, error) {
	var got purse
	return got, p.ask(ctx, "/purse", &got)
}

// limit has the stores' points limited from now on. Until then, as their contracts are
// imported, they have as many as they need.
func (p platform) limit(ctx context.Context) error {
	_, err := call(ctx, http.DefaultClient, http.MethodPost, p.url+"/limit", "")
	return err
}
