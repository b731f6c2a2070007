package home

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// trendDays is how many days the trends of the tiles have.
const trendDays = 30

// fresh is how long figures are shown before they are computed again: what is to recover and
// who has left is counted.
const fresh = time.Minute

// cache holds the figures of stores for a while.
type cache struct {
	lock sync.Mutex
	of   map[shop.ID]analytics.Overview
}

// get returns the figures of a store that are fresh.
func (c *cache) get(of shop.ID, now time.Time) (analytics.Overview, bool) {
	c.lock.Lock()
	defer c.lock.Unlock()
	o, known := c.of[of]
	return o, known && now.Sub(o.At) >= 0 && now.Sub(o.At) < fresh
}

// put keeps figures, and forgets those that are no longer fresh.
func (c *cache) put(of shop.ID, o analytics.Overview) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.of == nil {
		c.of = make(map[shop.ID]analytics.Overview)
	}
	for id, old := range c.of {
		if o.At.Sub(old.At) >= fresh {
			delete(c.of, id)
		}
	}
	c.of[of] = o
}

// tile is a figure as the page shows it.
type tile struct {
	Title, Value, Unit, Note string
	Change                   string // against the start of the trend; empty: none
	Spark                    dashboard.Spark
}

// figures are the tiles, and to when they are.
type figures struct {
	Tiles  []tile
	At     string
	Others string // currencies that the tiles leave out; empty: none
}

// overview returns the figures of a store, or computes them.
func (m *room) overview(ctx context.Context, of shop.Shop) (analytics.Overview, error) {
	if o, known := m.cache.get(of.ID, m.Clock.Now()); known {
		return o, nil
	}
	o, err := m.Figures.Overview(ctx, of, trendDays)
	if err == nil {
		m.cache.put(of.ID, o)
	}
	return o, err
}

// tiles shows figures. Without any it returns nil.
func tiles(v dashboard.Visit, o analytics.Overview) *figures {
	if o.First == 0 {
		return nil
	}
	amount := func(minor int64) string {
		return money.Amount{Minor: minor, Currency: o.Currency}.String()
	}
	unit := string(o.Currency)
	change := func(t analytics.Tile, write func(int64) string) string {
		d := t.Value - t.Before
		switch {
		case d > 0:
			return "+" + write(d) + " in 30 days"
		case d < 0:
			return "−" + write(-d) + " in 30 days"
		}
		return "unchanged in 30 days"
	}
	number := func(n int64) string { return fmt.Sprint(n) }
	churn := "–"
	if o.ChurnOf > 0 {
		tenths := (o.Churn.Value*2000 + o.ChurnOf) / (2 * o.ChurnOf)
		churn = fmt.Sprintf("%d.%d %%", tenths/10, tenths%10)
	}
	ahead := "scheduled; too few results yet to expect less"
	if o.RevenueExpected {
		ahead = "expected of what is scheduled"
	}
	f := &figures{At: v.Instant(o.At), Tiles: []tile{
		{
			Title: "Monthly recurring revenue", Value: amount(o.MRR.Value), Unit: unit, Change: change(o.MRR, amount),
			Spark: dashboard.Spark{Values: o.MRR.Trend, Label: "From " + amount(o.MRR.Before) + " to " + amount(o.MRR.Value) + " " + unit + " in 30 days"},
		},
		{
			Title: "Active subscribers", Value: number(o.Subscribers.Value), Change: change(o.Subscribers, number),
			Spark: dashboard.Spark{Values: o.Subscribers.Trend, Label: "From " + number(o.Subscribers.Before) + " to " + number(o.Subscribers.Value) + " in 30 days"},
		},
		{
			Title: "Churn, 30 days", Value: churn, Note: fmt.Sprintf("%d of %s", o.Churn.Value, dashboard.Count(int(o.ChurnOf), "subscriber", "subscribers")),
			Spark: dashboard.Spark{Values: o.Churn.Trend, Label: "Subscribers who left on each of 30 days", Grave: true},
		},
		{
			Title: "Revenue, next 30 days", Value: amount(o.Revenue.Value), Unit: unit, Note: ahead,
			Spark: dashboard.Spark{Values: o.Revenue.Trend, Label: "What renewals paid on each of the last 30 days"},
		},
		{
			Title: "To recover", Value: amount(o.ToRecover.Value), Unit: unit, Note: dashboard.Count(int(o.ToRecoverOrders), "declined order", "declined orders"),
			Spark: dashboard.Spark{Values: o.ToRecover.Trend, Label: "What was declined on each of the last 30 days", Grave: true},
		},
	}}
	for i, c := range o.Others {
		if i > 0 {
			f.Others += ", "
		}
		f.Others += string(c)
	}
	return f
}

// part answers with the tiles alone, for the script of the first page.
func (m *room) part(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	o, err := m.overview(r.Context(), v.Shop)
	if err != nil {
		return err
	}
	return v.Fragment(w, "tiles", tiles(v, o))
}
