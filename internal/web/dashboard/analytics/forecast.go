package analytics

import (
	"context"
	"fmt"

	"github.com/perennialhq/perennial/internal/domain/analytics"
)

// forecast is the page of orders to come.
func forecast(ctx context.Context, of Figures, r request) ([][]card, error) {
	f, err := of.Forecast(ctx, r.Shop.ID, r.days, r.filter)
	if err != nil {
		return nil, err
	}
	c := r.filter.Currency
	shown := card{
		ID: "forecast", Title: forecastTitle(f, r), About: analytics.DefinitionsOf(analytics.RevenueForecast), Lead: fmt.Sprintf("Renewals that are queued, in %s, with delivery, before tax", c),
		Table: table{Heads: []string{"Day", "Orders", "Scheduled in " + string(c)}, Foot: forecastCells(text("All"), f.ForecastSum, f.Known, r)},
	}
	if f.Known {
		shown.Table.Heads = append(shown.Table.Heads, "Expected in "+string(c), "Low, 10 %", "High, 90 %")
		shown.Lead += ". Expected and its band follow from " + count(f.Results).Text + " results of the last 90 days."
	} else {
		shown.Lead += fmt.Sprintf(". What to expect is not shown yet: it takes %d orders that were paid, skipped or given up in the last 90 days, and there are %d.", analytics.EnoughResults, f.Results)
	}
	for _, d := range f.Days {
		shown.Table.Rows = append(shown.Table.Rows, forecastCells(cell{Text: dayName(d.From), Raw: d.From.String()}, d.ForecastSum, f.Known, r))
	}
	drawn := f.Days
	if len(drawn) > 31 {
		drawn = f.Weeks
	}
	shown.Chart = forecastChart(shown.Title, drawn, f.Known, r)
	return [][]card{{shown}}, nil
}

func forecastTitle(f analytics.Forecast, r request) string {
	c := r.filter.Currency
	switch {
	case f.Orders == 0:
		return fmt.Sprintf("No order is queued for the next %d days", r.days)
	case !f.Known:
		return fmt.Sprintf("%s %s scheduled in %d days", amount(f.Scheduled, c).Text, c, r.days)
	}
	return fmt.Sprintf("%s %s expected in %d days, of %s scheduled", amount(f.Expected, c).Text, c, r.days, amount(f.Scheduled, c).Text)
}

// forecastCells returns a row of the table.
func forecastCells(name cell, s analytics.ForecastSum, known bool, r request) []cell {
	c := r.filter.Currency
	row := []cell{name, count(s.Orders), amount(s.Scheduled, c)}
	if known {
		row = append(row, amount(s.Expected, c), amount(s.Low, c), amount(s.High, c))
	}
	return row
}

// forecastChart draws what is expected of what is scheduled, with the band of each bar.
func forecastChart(title string, drawn []analytics.ForecastDays, known bool, r request) *chart {
	expected, rest := stack{class: "f1", name: "Expected"}, stack{class: "f6", name: "Scheduled, not expected"}
	var words []string
	var bands []band
	for _, d := range drawn {
		expected.values, rest.values = append(expected.values, d.Expected), append(rest.values, d.Scheduled-d.Expected)
		bands = append(bands, band{d.Low, d.High})
		words = append(words, d.From.Date().Format("2 Jan"))
	}
	stacks := []stack{expected, rest}
	if !known {
		stacks = []stack{{class: rest.class, name: "Scheduled", values: rest.values}}
	}
	c := bars("forecast-chart", title, stacks, inMoney(r.filter.Currency), words)
	if known {
		c.bands(bands, "Band: 10 % to 90 %")
	}
	if !c.Even {
		c.X = spread(words, 7)
	}
	return c
}
