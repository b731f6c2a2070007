package analytics

import (
	"context"
	"fmt"

	"github.com/perennialhq/perennial/internal/domain/analytics"
)

// mostPoints is how many points a line has at most.
const mostPoints = 125

// values returns the values of points.
func values(points []analytics.Point) []int64 {
	list := make([]int64, len(points))
	for i, p := range points {
		list[i] = p.Value
	}
	return list
}

// dayWords returns words below a line.
func dayWords(p analytics.Period) []string {
	var words []string
	for d := p.From; d <= p.To; d++ {
		words = append(words, d.Date().Format("2 Jan"))
	}
	if p.Days() > 92 {
		words = nil
		for m := p.From.Month(); m <= p.To.Month(); m++ {
			words = append(words, m.First().Date().Format("Jan"))
		}
		return spread(words, 13)
	}
	return spread(words, 7)
}

// mrr is the page of MRR and its movements.
func mrr(ctx context.Context, of Figures, r request) ([][]card, error) {
	points, err := of.Series(ctx, r.Shop.ID, analytics.MRR, r.period, r.filter)
	if err != nil {
		return nil, err
	}
	moves, err := of.Movements(ctx, r.Shop.ID, r.period, r.filter)
	if err != nil {
		return nil, err
	}
	before, err := yearBefore(ctx, of, r, analytics.MRR)
	if err != nil {
		return nil, err
	}
	c := r.filter.Currency
	from, to := points[0].Value, points[len(points)-1].Value
	title := fmt.Sprintf("MRR %s %s, to %s %s", trend(from, to), span(r.period), amount(to, c).Text, c)
	if from == to {
		title = fmt.Sprintf("MRR is unchanged at %s %s", amount(to, c).Text, c)
	}
	level := card{
		ID: "mrr", Title: title, Lead: fmt.Sprintf("Monthly recurring revenue in %s, %s – %s", c, dayName(r.period.From), dayName(r.period.To)),
		About: analytics.DefinitionsOf(analytics.MRR), Table: series(points, before, "MRR in "+string(c), func(v int64) cell { return amount(v, c) }),
	}
	level.Chart = lines("mrr-chart", fmt.Sprintf("Monthly recurring revenue from %s to %s %s", amount(from, c).Text, amount(to, c).Text, c),
		sampled(values(points), mostPoints), sampledOrNil(before), inMoney(c), dayWords(r.period))
	return [][]card{{level, movementsCard(moves, r)}}, nil
}

// yearBefore returns the metric a year before the period; nil when it is not asked for.
func yearBefore(ctx context.Context, of Figures, r request, m analytics.Metric) ([]analytics.Point, error) {
	if !r.compare {
		return nil, nil
	}
	return of.Series(ctx, r.Shop.ID, m, analytics.Period{From: r.period.From - 365, To: r.period.To - 365}, r.filter)
}

func sampledOrNil(points []analytics.Point) []int64 {
	if points == nil {
		return nil
	}
	return sampled(values(points), mostPoints)
}

// span says how long a period is.
func span(p analytics.Period) string {
	if p.Days() > 92 {
		return fmt.Sprintf("in %d months", p.To.Month()-p.From.Month()+1)
	}
	return fmt.Sprintf("in %d days", p.Days())
}

// series returns the table of points: by day or, of long periods, at the end of each month.
func series(points, before []analytics.Point, name string, show func(int64) cell) table {
	t := table{Heads: []string{"Day", name, "Change"}}
	if before != nil {
		t.Heads = append(t.Heads, "A year earlier")
	}
	last := points[0].Value
	for i, p := range points {
		if len(points) > 92 && i+1 < len(points) && points[i+1].Day.Month() == p.Day.Month() {
			continue
		}
		row := []cell{{Text: dayName(p.Day), Raw: p.Day.String()}, show(p.Value), signed(show(p.Value - last))}
		if before != nil {
			row = append(row, show(before[i].Value))
		}
		t.Rows = append(t.Rows, row)
		last = p.Value
	}
	return t
}

// shown are the movements as pages group them. The order is that of the bars from 0.
var shown = []struct {
	class, name string
	of          []analytics.Movement
}{
	{"f1", "New", []analytics.Movement{analytics.New}},
	{"f4", "Back or resumed", []analytics.Movement{analytics.Reactivated, analytics.Resumed}},
	{"f3", "Larger", []analytics.Movement{analytics.Expansion}},
	{"f6", "Smaller", []analytics.Movement{analytics.Contraction}},
	{"f2", "Paused", []analytics.Movement{analytics.Paused}},
	{"f5", "Churned", []analytics.Movement{analytics.ChurnedVoluntary, analytics.ChurnedByDeclines}},
}

// movementNames are the heads of the table of movements.
var movementNames = map[analytics.Movement]string{
	analytics.Opening: "Already there", analytics.New: "New", analytics.Reactivated: "Back", analytics.Resumed: "Resumed", analytics.Expansion: "Larger",
	analytics.Contraction: "Smaller", analytics.Paused: "Paused", analytics.ChurnedVoluntary: "Cancelled", analytics.ChurnedByDeclines: "Payment failed",
	analytics.Transferred: "Moved",
}

func movementsCard(moves []analytics.MonthMoves, r request) card {
	c := r.filter.Currency
	stacks := make([]stack, len(shown))
	sums := make(analytics.Flow)
	words := make([]string, len(moves))
	for i, s := range shown {
		stacks[i] = stack{class: s.class, name: s.name, values: make([]int64, len(moves))}
	}
	for at, m := range moves {
		words[at] = m.Month.First().Date().Format("Jan")
		for why, by := range m.Moved {
			sums[why] += by
		}
		for i, s := range shown {
			for _, why := range s.of {
				stacks[i].values[at] += m.Moved[why]
			}
		}
	}
	t := table{Heads: []string{"Month", "Start"}, Foot: []cell{text("All"), amount(moves[0].Start, c)}}
	var used []analytics.Movement
	for _, why := range analytics.Movements {
		if why != analytics.Opening && why != analytics.Transferred || sums[why] != 0 || has(moves, why) {
			used = append(used, why)
			t.Heads = append(t.Heads, movementNames[why])
			t.Foot = append(t.Foot, signed(amount(sums[why], c)))
		}
	}
	t.Heads = append(t.Heads, "End")
	t.Foot = append(t.Foot, amount(moves[len(moves)-1].End, c))
	for _, m := range moves {
		row := []cell{{Text: monthName(m.Month), Raw: m.Month.String()}, amount(m.Start, c)}
		for _, why := range used {
			row = append(row, signed(amount(m.Moved[why], c)))
		}
		t.Rows = append(t.Rows, append(row, amount(m.End, c)))
	}
	return card{
		ID: "movements", Title: movementsTitle(sums), Lead: fmt.Sprintf("MRR movements in %s per month, %s", c, span(r.period)), Table: t, About: analytics.DefinitionsOf(analytics.MRRMovements),
		Chart: bars("movements-chart", "MRR movements for each month", stacks, func(v int64) string { return plus(v, inMoney(c)(v)) }, words),
	}
}

func has(moves []analytics.MonthMoves, why analytics.Movement) bool {
	for _, m := range moves {
		if m.Moved[why] != 0 {
			return true
		}
	}
	return false
}

func plus(v int64, text string) string {
	if v > 0 {
		return "+" + text
	}
	return text
}

func movementsTitle(sums analytics.Flow) string {
	gains := sums[analytics.New] + sums[analytics.Reactivated] + sums[analytics.Resumed] + sums[analytics.Expansion]
	losses := -(sums[analytics.Contraction] + sums[analytics.Paused] + sums[analytics.ChurnedVoluntary] + sums[analytics.ChurnedByDeclines])
	switch {
	case gains == 0 && losses == 0:
		return "Nothing moved MRR"
	case gains > losses:
		return "Gains outweigh pauses and churn"
	case gains < losses:
		return "Pauses and churn outweigh gains"
	}
	return "Gains and losses are equal"
}
