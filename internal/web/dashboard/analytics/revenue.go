package analytics

import (
	"context"
	"fmt"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/analytics"
)

// revenue is the page of what renewals paid: on average, and for each subscriber.
func revenue(ctx context.Context, of Figures, r request) ([][]card, error) {
	parts, err := of.Renewals(ctx, r.Shop.ID, r.period, r.filter)
	if err != nil {
		return nil, err
	}
	groups, all, err := of.Lifetimes(ctx, r.Shop.ID, r.filter.Currency)
	if err != nil {
		return nil, err
	}
	return [][]card{{averageCard(parts, r), lifetimeCard(groups, all, r)}}, nil
}

// averageOf returns an average; a dash where there is none.
func averageOf(minor int64, has bool, c money.Currency) cell {
	if !has {
		return cell{Text: "–"}
	}
	return amount(minor, c)
}

func averageCard(parts []analytics.Renewals, r request) card {
	c := r.filter.Currency
	shown := card{
		ID: "aov", About: analytics.DefinitionsOf(analytics.AverageOrderAmount, analytics.RenewalRevenue), Title: "No renewal was paid " + span(r.period),
		Lead:  fmt.Sprintf("Average of paid renewals in %s, with tax and shipping, %s – %s", c, dayName(r.period.From), dayName(r.period.To)),
		Table: table{Heads: []string{"From", "Paid renewals", "Revenue in " + string(c), "Average order"}},
	}
	row := func(name cell, of analytics.Renewals) []cell {
		minor, has := of.Average()
		return []cell{name, count(of.Orders), amount(of.Revenue, c), averageOf(minor, has, c)}
	}
	bar := stack{class: "f1", name: "Average order value"}
	var words []string
	all := analytics.Renewals{Period: r.period}
	for _, of := range parts {
		minor, _ := of.Average()
		bar.values = append(bar.values, minor)
		word := of.From.Date().Format("2 Jan")
		if r.period.Days() > 92 {
			word = of.From.Date().Format("Jan")
		}
		words = append(words, word)
		shown.Table.Rows = append(shown.Table.Rows, row(cell{Text: dayName(of.From), Raw: of.From.String()}, of))
		all.Orders += of.Orders
		all.Revenue += of.Revenue
	}
	shown.Table.Foot = row(text("All"), all)
	if minor, has := all.Average(); has {
		shown.Title = fmt.Sprintf("An average order is %s %s %s", amount(minor, c).Text, c, span(r.period))
	}
	shown.Chart = bars("aov-chart", shown.Title, []stack{bar}, inMoney(c), words)
	if shown.Chart.Even = r.period.Days() > 92 && shown.Chart.Even; !shown.Chart.Even {
		shown.Chart.X = spread(words, 6)
	}
	return shown
}

func lifetimeCard(groups []analytics.Lifetime, all analytics.Lifetime, r request) card {
	c := r.filter.Currency
	shown := card{
		ID: "ltv", About: analytics.DefinitionsOf(analytics.LifetimeValue), Title: "No subscriber has begun yet",
		Lead:  fmt.Sprintf("Renewal revenue in %s since the beginning, for each subscriber, by month of the first contract", c),
		Table: table{Heads: []string{"First contract", "Subscribers", "Revenue to date in " + string(c), "Each to date"}},
	}
	if r.filter.Group != nil {
		shown.Lead += ", of all plan groups"
	}
	row := func(name cell, of analytics.Lifetime) []cell {
		minor, has := of.Value()
		return []cell{name, count(of.Subscribers), amount(of.Revenue, c), averageOf(minor, has, c)}
	}
	bar := stack{class: "f1", name: "Paid by each subscriber to date"}
	var words []string
	for _, of := range groups {
		minor, _ := of.Value()
		bar.values = append(bar.values, minor)
		words = append(words, of.Month.First().Date().Format("Jan 06"))
		shown.Table.Rows = append(shown.Table.Rows, row(cell{Text: monthName(of.Month), Raw: of.Month.String()}, of))
	}
	shown.Table.Foot = row(text("All"), all)
	if minor, has := all.Value(); has {
		shown.Title = fmt.Sprintf("A subscriber has paid %s %s to date", amount(minor, c).Text, c)
	}
	shown.Chart = bars("ltv-chart", shown.Title, []stack{bar}, inMoney(c), words)
	shown.Chart.X, shown.Chart.Even = spread(words, 5), len(words) <= 5
	return shown
}
