package analytics

import (
	"context"
	"fmt"

	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/dunning"
)

// recovery is the page of orders that were declined.
func recovery(ctx context.Context, of Figures, r request) ([][]card, error) {
	c := r.filter.Currency
	v, err := of.Recovery(ctx, r.Shop.ID, r.period, r.filter)
	if err != nil {
		return nil, err
	}
	title := "No payment has failed"
	if v.Total.FailedAmount > 0 {
		title = fmt.Sprintf("%s %% of what failed has been recovered", whole(v.Total.RecoveredAmount, v.Total.FailedAmount))
	}
	weeks := card{ID: "recovery", Title: title, Lead: fmt.Sprintf("By week of the first decline, in %s, %s – %s", c, dayName(r.period.From), dayName(r.period.To)), About: analytics.DefinitionsOf(analytics.DunningRecovery)}
	weeks.Table = table{Heads: []string{"Week from", "Failed", "Failed amount", "Recovered", "Recovered amount", "Share, %"}, Foot: sumCells("All", v.Total, r)}
	recovered, open := stack{class: "f1", name: "Recovered"}, stack{class: "f2", name: "Not recovered"}
	var words []string
	for _, w := range v.Weeks {
		weeks.Table.Rows = append(weeks.Table.Rows, sumCells(dayName(w.Week), w.RecoverySum, r))
		weeks.Table.Rows[len(weeks.Table.Rows)-1][0].Raw = w.Week.String()
		recovered.values, open.values = append(recovered.values, w.RecoveredAmount), append(open.values, w.FailedAmount-w.RecoveredAmount)
		words = append(words, w.Week.Date().Format("2 Jan"))
	}
	weeks.Chart = bars("recovery-chart", "Amount of failed orders, recovered and not, by week of the first decline", []stack{recovered, open}, inMoney(c), words)
	if !weeks.Chart.Even {
		weeks.Chart.X = spread(words, 7)
	}
	if v.Total.Failed == 0 {
		return [][]card{{weeks}}, nil
	}
	classes := card{ID: "classes", Open: true, Title: "By the reason of the first decline", Lead: "Orders and amounts in " + string(c)}
	classes.Table.Heads = []string{"Reason", "Failed", "Failed amount", "Recovered", "Recovered amount", "Share, %"}
	for _, k := range v.Classes {
		classes.Table.Rows = append(classes.Table.Rows, sumCells(className(k.Class), k.RecoverySum, r))
	}
	tries := card{ID: "tries", Open: true, Title: "By the try that was paid", Lead: "Recovered orders, amounts in " + string(c)}
	tries.Table.Heads = []string{"Try", "Recovered", "Amount", "Of what failed, %"}
	for _, k := range v.Tries {
		tries.Table.Rows = append(tries.Table.Rows, []cell{count(k.Try), count(k.Recovered), amount(k.Amount, c), share(k.Amount, v.Total.FailedAmount)})
	}
	rows := [][]card{{weeks}, {classes}}
	if len(v.Tries) > 0 {
		rows[1] = append(rows[1], tries)
	}
	return rows, nil
}

// sumCells returns a row of a table of declined orders.
func sumCells(name string, s analytics.RecoverySum, r request) []cell {
	c := r.filter.Currency
	return []cell{text(name), count(s.Failed), amount(s.FailedAmount, c), count(s.Recovered), amount(s.RecoveredAmount, c), share(s.RecoveredAmount, s.FailedAmount)}
}

// classNames say in plain words why a payment was declined.
var classNames = map[dunning.Class]string{
	dunning.Funds: "Not enough money", dunning.Issuer: "The bank says no", dunning.Transient: "A system failed on the way to the bank",
	dunning.Auth: "The customer must confirm", dunning.Card: "The payment method cannot be charged", dunning.Fraud: "Suspected fraud",
	dunning.Stock: "Out of stock", dunning.Address: "The address cannot be delivered to", dunning.Merchant: "The store cannot take the payment",
	dunning.Gone: "The customer no longer exists", dunning.Done: "Paid already",
}

func className(c dunning.Class) string {
	if name, has := classNames[c]; has {
		return name
	}
	return string(c)
}
