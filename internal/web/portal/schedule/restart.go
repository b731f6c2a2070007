package schedule

import (
	"context"
	"net/http"

	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// firstDay is the field of the day of the first order, as the interface names it.
const firstDay = "nextBillingDate"

func (m room) askRestart(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	return m.ask(w, r, v, do.Restart, func(s overview.Sheet) error { return v.Ask(w, r, restartQuestion(v, s, r), nil) })
}

// restartQuestion says what a subscription that has ended costs when it starts again: its products
// at their prices, without the discounts that it had.
func restartQuestion(v portal.Visit, s overview.Sheet, r *http.Request) portal.Question {
	c := s.Contract
	q := words.Question(v, c, words.Path(c.ID)+"/restart")
	q.Title = v.T("restart.title", "product", words.Name(v, c))
	if len(c.Discounts) > 0 {
		q.Says = append(q.Says, v.T("restart.discounts"))
		c.Discounts = nil
	}
	if !words.Chargeable(c) {
		q.Lead, q.Says, q.Keep = v.T("restart.noPayment"), nil, v.T("restart.keep")
		q.Need = &portal.Need{Text: v.T("restart.store"), Address: v.View.Store}
		return q
	}
	next := s.NextOrder().With(c)
	next.OneOffs = nil // they do not come along
	q.Items, q.Bill = words.Items(v, next), words.Bill(v, next)
	q.Lead = v.T("restart.text", "payment", words.Payment(v, c), "amount", words.Cost(v, next), "every", words.Every(v, c.Billing))
	q.Fields = []portal.Field{{Name: firstDay, Type: "date", Label: v.T("restart.day"), Value: portal.Typed(r, firstDay, inField(v, tomorrow(v))), Min: inField(v, tomorrow(v)), Required: true}}
	q.Button, q.Keep = v.T("restart.button"), v.T("restart.keep")
	return q
}

func (m room) restart(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	id, err := portal.ContractOf(r)
	if err != nil {
		return err
	}
	if s, err := m.sheet(r, v); err != nil {
		return err
	} else if !words.Chargeable(s.Contract) {
		return v.Ask(w, r, restartQuestion(v, s, r), nil)
	}
	first, err := dayOf(r, v, firstDay)
	if err == nil {
		err = v.Do(w, r, func(ctx context.Context, name string) (string, error) {
			made, err := m.Changes.Restart(ctx, v.Caller(r), do.ContractRef{ID: id, Version: v.Version(r)}, first, name)
			return words.Path(made.ID) + "?done=restarted", err
		})
	}
	return v.Again(err, func() error {
		s, failed := m.sheet(r, v)
		if failed != nil {
			return failed
		}
		return v.Ask(w, r, restartQuestion(v, s, r), err)
	})
}
