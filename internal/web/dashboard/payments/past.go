package payments

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/words"
)

// period is how far back the page looks.
type period struct {
	name, label string
	days        int
}

// periods are those that the page offers.
var periods = []period{{"30d", "30 days", 30}, {"90d", "90 days", 90}, {"12m", "12 months", 365}}

// past is what became of the orders that were declined in a period.
type past struct {
	Title, Text string
	Periods     []choice
	Currencies  []choice
	Steps       []step
	Weeks       *weeks // nil: no order was declined
	Classes     []classRow
}

// choice is a link to the page with another choice.
type choice struct {
	Name, Path string
	Here       bool
}

// step is a part of the funnel.
type step struct {
	Name   string
	Orders int64
	Amount money.Amount
	Of     int64 // orders in the first step
	Class  string
}

// classRow is the orders whose first decline was of a class.
type classRow struct {
	Name                    string
	Code                    string
	Failed, Recovered, Lost int64
	Open                    int64
	Share                   string // of the amount, that was recovered
}

// weeks is a drawing of 100 by 100 that stretches, and its numbers.
type weeks struct {
	Title, Text  string
	Y, X         []string
	Lines, Bars  []shape
	Rows         []weekRow
	All          weekRow
	Even         bool
	Period, From string
}

type shape struct{ Class, D string }

type weekRow struct {
	Week                  string
	Recovered, Lost, Open int64
}

// past works out what became of the orders of a period.
func (m *room) past(ctx context.Context, v dashboard.Visit, asked query) (past, error) {
	scope, err := m.Figures.Scope(ctx, v.Shop)
	if err != nil {
		return past{}, err
	}
	currency := scope.Currency
	if asked.currency != "" {
		if !slices.Contains(scope.Currencies, asked.currency) {
			return past{}, fault.New(fault.Invalid, "the store has no figures in %q", asked.currency)
		}
		currency = asked.currency
	}
	from := scope.Today - analytics.Day(asked.period.days) + 1
	r, err := m.Figures.Recovery(ctx, v.Shop.ID, analytics.Period{From: from, To: scope.Today}, analytics.Filter{Currency: currency})
	if err != nil {
		return past{}, err
	}
	p := past{Title: "No order was declined", Text: fmt.Sprintf("In the last %s (%s to %s).", asked.period.label, dayName(from), dayName(scope.Today))}
	for _, one := range periods {
		there := asked
		there.period = one
		p.Periods = append(p.Periods, choice{one.label, there.address(v, asked.group, 0, 0), one == asked.period})
	}
	if len(scope.Currencies) > 1 {
		for _, one := range scope.Currencies {
			there := asked
			there.currency = one
			p.Currencies = append(p.Currencies, choice{string(one), there.address(v, asked.group, 0, 0), one == currency})
		}
	}
	t := r.Total
	if t.Failed == 0 {
		return p, nil
	}
	in := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: currency} }
	open, owed := t.Open()
	p.Title = percent(t.RecoveredAmount, t.FailedAmount) + " of the failed amount was recovered"
	p.Text = fmt.Sprintf("Orders that first failed in the last %s (%s to %s). %s, %s, still open.", asked.period.label, dayName(from), dayName(scope.Today),
		dashboard.Count(int(open), "order", "orders"), dashboard.Money(in(owed)))
	for _, s := range []struct {
		name           string
		orders, amount int64
	}{
		{"Failed", t.Failed, t.FailedAmount}, {"Retried", t.Retried, t.RetriedAmount}, {"Mailed", t.Mailed, t.MailedAmount},
		{"Card updated", t.Renewed, t.RenewedAmount}, {"Recovered", t.Recovered, t.RecoveredAmount}, {"Lost", t.Lost, t.LostAmount},
	} {
		class := "f1"
		if s.name == "Lost" {
			class = "f2"
		}
		p.Steps = append(p.Steps, step{s.name, s.orders, in(s.amount), t.Failed, class})
	}
	p.Weeks = drawWeeks(r, asked.period)
	for _, c := range r.Classes {
		open, _ := c.Open()
		p.Classes = append(p.Classes, classRow{words.DeclineClass(c.Class), string(c.Class), c.Failed, c.Recovered, c.Lost, open, percent(c.RecoveredAmount, c.FailedAmount)})
	}
	return p, nil
}

func dayName(d analytics.Day) string { return d.Date().Format(dashboard.DayLayout) }

// percent returns part of whole with one decimal, rounded half up.
func percent(part, whole int64) string {
	if whole == 0 {
		return "–"
	}
	n := (part*2000 + whole) / (2 * whole)
	return fmt.Sprintf("%d.%d %%", n/10, n%10)
}

// labels is at most how many weeks have a word below them.
const labels = 13

// drawWeeks draws the orders of each week as stacked bars.
func drawWeeks(r analytics.Recovery, of period) *weeks {
	open, _ := r.Total.Open()
	d := &weeks{
		Title: fmt.Sprintf("%s recovered, %d lost, %d still open", dashboard.Count(int(r.Total.Recovered), "order", "orders"), r.Total.Lost, open),
		Text:  "By week of the first failure, in orders, last " + of.label, Even: len(r.Weeks) <= labels,
		All: weekRow{"Together", r.Total.Recovered, r.Total.Lost, open},
	}
	top := int64(4)
	for _, w := range r.Weeks {
		top = max(top, w.Failed, w.Recovered+w.Lost)
	}
	top = (top + 3) / 4 * 4
	for i := range int64(5) {
		class := "g"
		if i == 4 {
			class = "g0"
		}
		d.Y = append(d.Y, fmt.Sprint(top-top*i/4))
		d.Lines = append(d.Lines, shape{class, fmt.Sprintf("M0 %dH100", 25*i)})
	}
	width := 100 / float64(len(r.Weeks))
	stacks := []struct {
		class string
		path  strings.Builder
	}{{class: "f1"}, {class: "f2"}, {class: "f6"}}
	every := (len(r.Weeks) + labels - 1) / labels
	for i, w := range r.Weeks {
		open, _ := w.Open()
		d.Rows = append(d.Rows, weekRow{dayName(w.Week), w.Recovered, w.Lost, open})
		if i%every == 0 {
			d.X = append(d.X, w.Week.Date().Format("2/1"))
		}
		level := 100.0
		for n, orders := range []int64{w.Recovered, w.Lost, open} {
			if orders > 0 {
				high := 100 * float64(orders) / float64(top)
				level -= high
				fmt.Fprintf(&stacks[n].path, "M%.2f %.2fh%.2fv%.2fh-%.2fz", width*(float64(i)+.14), level, width*.72, high, width*.72)
			}
		}
	}
	for i := range stacks {
		if s := &stacks[i]; s.path.Len() > 0 {
			d.Bars = append(d.Bars, shape{s.class, s.path.String()})
		}
	}
	return d
}
