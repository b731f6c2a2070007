package analytics

import (
	"net/url"
	"slices"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// choice is the period and filters of a page.
type choice struct {
	name    string // of the period
	period  analytics.Period
	days    int // of a forecast
	compare bool
	revenue bool // cohorts show revenue
	filter  analytics.Filter
}

// periods are the periods that pages offer, by their names in addresses.
var periods = []struct {
	name, label string
	days        int
}{{"30d", "Last 30 days", 30}, {"90d", "Last 90 days", 90}, {"12m", "Last 12 months", 365}, {"24m", "Last 24 months", 730}}

// usual is the period without a choice.
const usual = "12m"

// parseChoice reads the query of a page.
func parseChoice(q url.Values, scope analytics.Scope) (choice, error) {
	c := choice{name: usual, days: 30, compare: q.Get("compare") == "year", revenue: q.Get("show") == "revenue"}
	if name := q.Get("period"); name != "" {
		c.name = name
	}
	at := slices.IndexFunc(periods, func(p struct {
		name, label string
		days        int
	}) bool {
		return p.name == c.name
	})
	if at < 0 {
		return c, fault.New(fault.Invalid, "%q is not a period", c.name)
	}
	c.period = analytics.Period{From: scope.Today - analytics.Day(periods[at].days) + 1, To: scope.Today}
	if periods[at].days > 92 { // whole months
		c.period.From = (c.period.From + 14).Month().First()
	}
	switch q.Get("days") {
	case "", "30":
	case "90":
		c.days = 90
	default:
		return c, fault.New(fault.Invalid, "a forecast is of 30 or 90 days")
	}
	c.filter.Currency = scope.Currency
	if name := money.Currency(q.Get("currency")); name != "" {
		if !slices.Contains(scope.Currencies, name) {
			return c, fault.New(fault.Invalid, "the store has no figures in %q", name)
		}
		c.filter.Currency = name
	}
	if text := q.Get("group"); text != "" {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return c, fault.New(fault.Invalid, "%q is not a plan group", text)
		}
		c.filter.Group = &id
	}
	return c, nil
}

// query returns the choice as the query of an address.
func (c choice) query() string {
	q := url.Values{"period": {c.name}, "currency": {string(c.filter.Currency)}, "days": {strconv.Itoa(c.days)}}
	if c.filter.Group != nil {
		q.Set("group", strconv.FormatInt(*c.filter.Group, 10))
	}
	if c.compare {
		q.Set("compare", "year")
	}
	if c.revenue {
		q.Set("show", "revenue")
	}
	return "?" + q.Encode()
}

// filter is a choice that a page offers.
type filter struct {
	Name, Label string
	Choices     []dashboard.Choice
}

// filters returns what a page offers.
func (r request) filters(page string) []filter {
	var list []filter
	add := func(name, label string, choices ...dashboard.Choice) {
		list = append(list, filter{name, label, choices})
	}
	switch page {
	case "forecast":
		add("days", "Period", dashboard.Choice{Value: "30", Name: "Next 30 days", Selected: r.days == 30}, dashboard.Choice{Value: "90", Name: "Next 90 days", Selected: r.days == 90})
	case "cohorts":
		add("show", "Show", dashboard.Choice{Name: "Active subscribers"}, dashboard.Choice{Value: "revenue", Name: "Revenue", Selected: r.revenue})
	default:
		var choices []dashboard.Choice
		for _, p := range periods {
			choices = append(choices, dashboard.Choice{Value: p.name, Name: p.label, Selected: p.name == r.name})
		}
		add("period", "Period", choices...)
	}
	if page == "mrr" || page == "subscribers" {
		add("compare", "Compare with", dashboard.Choice{Name: "Nothing"}, dashboard.Choice{Value: "year", Name: "A year earlier", Selected: r.compare})
	}
	if len(r.scope.Currencies) > 1 && page != "churn" {
		var choices []dashboard.Choice
		for _, c := range r.scope.Currencies {
			choices = append(choices, dashboard.Choice{Value: string(c), Name: string(c), Selected: c == r.filter.Currency})
		}
		add("currency", "Currency", choices...)
	}
	if page != "churn" && page != "cohorts" && len(r.scope.Groups) > 0 {
		choices := []dashboard.Choice{{Name: "All plan groups", Selected: r.filter.Group == nil}}
		for _, g := range r.scope.Groups {
			choices = append(choices, dashboard.Choice{
				Value: strconv.FormatInt(g.ID, 10), Name: g.Name, Selected: r.filter.Group != nil && *r.filter.Group == g.ID,
			})
		}
		add("group", "Plan group", choices...)
	}
	return list
}
