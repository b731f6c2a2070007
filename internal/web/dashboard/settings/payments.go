package settings

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/words"
)

// actionWords are the final actions as pages name them.
var actionWords = map[dunning.Action]string{
	dunning.Pause: "Pause the contract", dunning.Skip: "Give up the order, and go on with the next", dunning.Cancel: "Cancel the contract",
}

func actionChoices(chosen dunning.Action) []dashboard.Choice {
	var list []dashboard.Choice
	for _, a := range []dunning.Action{dunning.Pause, dunning.Skip, dunning.Cancel} {
		list = append(list, dashboard.Choice{Value: string(a), Name: actionWords[a], Selected: a == chosen})
	}
	return list
}

// paymentsForm returns the form of what is done about declined charges.
func paymentsForm(s dunning.Settings) formPage {
	s = s.Effective()
	number := func(name, label string, value, low, limit int, hint string) dashboard.Field {
		return dashboard.Field{
			Name: name, Type: "number", Label: label, Required: true, Value: strconv.Itoa(value), Min: strconv.Itoa(low), Limit: strconv.Itoa(limit), Hint: hint,
		}
	}
	return formPage{
		Path: "/settings/payments", Offers: true,
		Groups: []group{
			{"Declined charges", "", []dashboard.Field{
				{Name: "mode", Type: "select", Label: "Retries", Required: true, Choices: []dashboard.Choice{
					{Value: string(dunning.Smart), Name: "Smart: by what the bank says", Selected: s.Mode == dunning.Smart},
					{Value: string(dunning.Simple), Name: "Simple: a number of times, at a fixed interval", Selected: s.Mode == dunning.Simple},
				}, Hint: "In both modes a card that has expired or was reported is not charged again before the customer changes it."},
				number("retries", "Retries (simple mode)", s.Retries, 0, dunning.MaxRetries, "0 to 10."),
				number("every", "Days between two retries (simple mode)", max(s.EveryDays, 1), 1, dunning.MaxEveryDays, "1 to 14."),
				{Name: "then", Type: "select", Label: "When no retry is left", Required: true, Choices: actionChoices(s.Then)},
			}},
			{"Products out of stock", "Orders that cannot be filled are tried again, too.", []dashboard.Field{
				number("stock-retries", "Retries", s.OutOfStock.Retries, 0, dunning.MaxRetries, "0 to 10."),
				number("stock-every", "Days between two retries", s.OutOfStock.EveryDays, 1, dunning.MaxEveryDays, "1 to 14."),
				{Name: "stock-then", Type: "select", Label: "When it is still out of stock", Required: true, Choices: actionChoices(s.OutOfStock.Then)},
			}},
		},
	}
}

const (
	paymentsTitle = "Billing and dunning"
	paymentsLead  = "What is done when a charge is declined. It holds for charges that are declined from now on, and for the retries of open ones."
)

func (m *room) payments(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return m.answer(w, r, v, paymentsTitle, paymentsLead, paymentsForm(v.Shop.Settings.Dunning), nil)
}

// savePayments stores the form, or shows what it would have done about the last month.
func (m *room) savePayments(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	p := asEntered(paymentsForm(v.Shop.Settings.Dunning), r)
	entered, err := enterPayments(r)
	if err == nil {
		err = entered.Check()
	}
	if err == nil && r.PostForm.Get("do") == "preview" {
		if p.Preview, err = m.outlook(r.Context(), v, entered); err == nil {
			return m.answer(w, r, v, paymentsTitle, paymentsLead, p, nil)
		}
	}
	if err == nil {
		err = m.save(r, v, func(s *shop.Settings) error {
			s.Dunning = entered
			return nil
		})
	}
	if err != nil {
		return m.answer(w, r, v, paymentsTitle, paymentsLead, p, err)
	}
	return v.Go(w, "/settings/payments", "settings")
}

// enterPayments returns what the form says.
func enterPayments(r *http.Request) (dunning.Settings, error) {
	s := dunning.Settings{
		Mode: dunning.Mode(r.PostForm.Get("mode")), Then: dunning.Action(r.PostForm.Get("then")),
		OutOfStock: &dunning.StockPolicy{Then: dunning.Action(r.PostForm.Get("stock-then"))},
	}
	for _, n := range []struct {
		field, what string
		into        *int
	}{
		{"retries", "The number of retries", &s.Retries}, {"every", "The number of days", &s.EveryDays},
		{"stock-retries", "The number of retries", &s.OutOfStock.Retries}, {"stock-every", "The number of days", &s.OutOfStock.EveryDays},
	} {
		var err error
		if *n.into, err = whole(r, n.field, n.what); err != nil {
			return s, err
		}
	}
	return s, nil
}

// outlook is what two settings do about the same failures, if no retry is paid.
type outlook struct {
	Failures int
	Since    string
	Rows     []outlookRow
}

// outlookRow is the failures of a class.
type outlookRow struct {
	Class      string
	Failures   int
	Now, Then  string // what is done with the settings as they are, and as they are in the form
	Difference bool
}

// outlookDays is how far back a preview looks.
const outlookDays = 30

// outlook compares what the form does about the failures of the last month with what is done
// now.
func (m *room) outlook(ctx context.Context, v dashboard.Visit, entered dunning.Settings) (*outlook, error) {
	since := m.Clock.Now().AddDate(0, 0, -outlookDays)
	cases, err := m.Failures.CasesSince(ctx, v.Shop.ID, since)
	if err != nil {
		return nil, err
	}
	calendar, err := v.Shop.Calendar()
	if err != nil {
		return nil, err
	}
	o := &outlook{Failures: len(cases), Since: v.Day(since)}
	byClass := map[dunning.Class][]dunning.Case{}
	for _, c := range cases {
		class, _ := dunning.ClassOf(c.FirstCode)
		byClass[class] = append(byClass[class], c)
	}
	for _, class := range dunning.Classes {
		list := byClass[class]
		if len(list) == 0 {
			continue
		}
		total := func(s dunning.Settings) string {
			retries, last := 0, 0
			var plan dunning.Outlook
			for _, c := range list {
				plan = s.Outlook(dunning.Decline{First: c.OpenedAt, Last: c.OpenedAt, Class: class, Due: c.OpenedAt, Calendar: calendar})
				retries += len(plan.Retries)
				if n := len(plan.Retries); n > 0 {
					last = max(last, int(plan.Retries[n-1].Sub(c.OpenedAt)/(24*time.Hour)))
				}
			}
			if plan.Held {
				return "nothing, until your staff acts"
			}
			if retries == 0 {
				return "no retry; then: " + actionWords[plan.Then]
			}
			return fmt.Sprintf("%s over %s; then: %s", dashboard.Count(retries, "retry", "retries"), dashboard.Count(max(last, 1), "day", "days"), actionWords[plan.Then])
		}
		row := outlookRow{Class: words.DeclineClass(class), Failures: len(list), Now: total(v.Shop.Settings.Dunning), Then: total(entered)}
		row.Difference = row.Now != row.Then
		o.Rows = append(o.Rows, row)
	}
	return o, nil
}
