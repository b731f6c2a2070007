package analytics

import (
	"context"
	"fmt"
	"strconv"

	"github.com/perennialhq/perennial/internal/domain/analytics"
)

// subscribers is the page of subscribers and contracts.
func subscribers(ctx context.Context, of Figures, r request) ([][]card, error) {
	var row []card
	for _, shown := range []struct {
		metric   analytics.Metric
		id, name string
	}{{analytics.ActiveSubscribers, "subscribers", "Active subscribers"}, {analytics.ActiveContracts, "contracts", "Active contracts"}} {
		points, err := of.Series(ctx, r.Shop.ID, shown.metric, r.period, r.filter)
		if err != nil {
			return nil, err
		}
		before, err := yearBefore(ctx, of, r, shown.metric)
		if err != nil {
			return nil, err
		}
		from, to := points[0].Value, points[len(points)-1].Value
		title := fmt.Sprintf("%s %s %s, to %s", shown.name, trend(from, to), span(r.period), count(to).Text)
		if from == to {
			title = fmt.Sprintf("%s are unchanged at %s", shown.name, count(to).Text)
		}
		row = append(row, card{
			ID: shown.id, Title: title, About: analytics.DefinitionsOf(shown.metric), Lead: fmt.Sprintf("At the end of each day, %s – %s%s", dayName(r.period.From), dayName(r.period.To), whose(shown.metric, r)),
			Table: series(points, before, shown.name, count),
			Chart: lines(shown.id+"-chart", fmt.Sprintf("%s from %s to %s", shown.name, count(from).Text, count(to).Text), sampled(values(points), mostPoints), sampledOrNil(before), inNumbers, dayWords(r.period)),
		})
	}
	return [][]card{row}, nil
}

// whose says what a chart of people covers where that is not obvious.
func whose(of analytics.Metric, r request) string {
	if len(r.scope.Currencies) < 2 {
		return ""
	}
	if of == analytics.ActiveSubscribers && r.filter.Group == nil {
		return ", of the whole store"
	}
	return ", in " + string(r.filter.Currency)
}

// churn is the page of subscribers who left.
func churn(ctx context.Context, of Figures, r request) ([][]card, error) {
	p := r.period
	p.From = p.From.Month().First()
	months, err := of.Churn(ctx, r.Shop.ID, p)
	if err != nil {
		return nil, err
	}
	choice, failed := stack{class: "f5"}, stack{class: "f2"}
	var words []string
	t := table{Heads: []string{"Month", "Subscribers at start", "Left by choice", "By failed payment", "Churn, %"}}
	var sumChoice, sumFailed int64
	for _, c := range months {
		choice.values, failed.values = append(choice.values, c.Voluntary), append(failed.values, c.ByFailedPayment)
		words = append(words, c.Month.First().Date().Format("Jan"))
		sumChoice, sumFailed = sumChoice+c.Voluntary, sumFailed+c.ByFailedPayment
		name := monthName(c.Month)
		if c.Month == r.scope.Today.Month() {
			name += " to date"
		}
		t.Rows = append(t.Rows, []cell{{Text: name, Raw: c.Month.String()}, count(c.Start), count(c.Voluntary), count(c.ByFailedPayment), share(c.Voluntary+c.ByFailedPayment, c.Start)})
	}
	t.Foot = []cell{text("All"), {}, count(sumChoice), count(sumFailed), {}}
	choice.name, failed.name = fmt.Sprintf("By choice, %d", sumChoice), fmt.Sprintf("By failed payment, %d", sumFailed)
	return [][]card{{{
		ID: "churn", Title: churnTitle(sumChoice, sumFailed), Table: t, About: analytics.DefinitionsOf(analytics.SubscriberChurn), Lead: "Subscribers at the start of a month who have no active contract at its end",
		Chart: bars("churn-chart", "Subscribers who left, by choice and by failed payment", []stack{choice, failed}, inNumbers, words),
	}}}, nil
}

func churnTitle(choice, failed int64) string {
	switch all := choice + failed; {
	case all == 0:
		return "No subscriber has left"
	case failed == 0:
		return "All who left did so by choice"
	case choice == 0:
		return "All who left did so by a failed payment"
	default:
		return fmt.Sprintf("%s %% left by choice, %s %% by a failed payment", whole(choice, all), whole(failed, all))
	}
}

// cohortMonths is for how many months back cohorts are shown.
const cohortMonths = 25

// cohorts is the page of retention by month of the first contract.
func cohorts(ctx context.Context, of Figures, r request) ([][]card, error) {
	list, err := of.Cohorts(ctx, r.Shop.ID, cohortMonths, r.filter)
	if err != nil {
		return nil, err
	}
	c := card{ID: "cohorts", Open: true, Table: table{Heat: true}, About: analytics.DefinitionsOf(analytics.CohortRetention), Title: cohortsTitle(list)}
	c.Lead = "Share of the subscribers of a month with an active contract at the end of that month and of those after it. Groups under 10 are in italics."
	if r.revenue {
		c.Lead = fmt.Sprintf("Revenue of renewals in %s, by month after the first contract", r.filter.Currency)
		c.Title = "Renewal revenue by month of the first contract"
	}
	cells := 0
	for _, h := range list {
		cells = max(cells, len(h.Active))
	}
	c.Table.Heads = []string{"First contract", "Subscribers"}
	c.Table.Short = []string{"First contract", "Subscribers"}
	for i := range cells {
		c.Table.Heads, c.Table.Short = append(c.Table.Heads, fmt.Sprintf("Month %d", i)), append(c.Table.Short, strconv.Itoa(i))
	}
	if cells > 0 {
		c.Table.Short[2] = "Month 0"
	}
	for _, h := range list {
		row := []cell{{Text: monthName(h.Month), Raw: h.Month.String()}, count(h.Size)}
		for i, n := range h.Active {
			row = append(row, cohortCell(h, n, h.Revenue[i], r))
		}
		for len(row) < cells+2 {
			row = append(row, cell{})
		}
		c.Table.Rows = append(c.Table.Rows, row)
	}
	return [][]card{{c}}, nil
}

// cohortCell returns the cell of a month of a cohort.
func cohortCell(h analytics.Cohort, active, revenue int64, r request) cell {
	if r.revenue {
		return amount(revenue, r.filter.Currency)
	}
	v := share(active, h.Size)
	v.Text, v.Class = whole(active, h.Size)+" %", shadeOf(active, h.Size)
	if h.Size < analytics.SmallCohort {
		v.Class = "few"
	}
	return v
}

// shadeOf returns the class of a share: darker for more.
func shadeOf(part, whole int64) string {
	switch n := perMille(part, whole); {
	case n >= 950:
		return "q5"
	case n >= 880:
		return "q4"
	case n >= 820:
		return "q3"
	case n >= 730:
		return "q2"
	case n >= 500:
		return "q1"
	}
	return "q0"
}

// cohortsTitle says how many of the cohorts that are old enough are there after three months.
func cohortsTitle(list []analytics.Cohort) string {
	var active, size int64
	for _, c := range list {
		if len(c.Active) > 3 {
			active, size = active+c.Active[3], size+c.Size
		}
	}
	if size == 0 {
		return "Retention by month of the first contract"
	}
	return fmt.Sprintf("%s %% of subscribers are still active after three months", whole(active, size))
}
