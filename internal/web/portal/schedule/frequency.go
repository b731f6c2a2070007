package schedule

import (
	"context"
	"net/http"
	"strconv"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// sellingPlan is the field of the frequency, as the interface names it.
const sellingPlan = "sellingPlanId"

// shownDates are how many dates a frequency is shown with.
const shownDates = 3

func (m room) askFrequency(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	return m.ask(w, r, v, do.ChangeFrequency, func(s overview.Sheet) error { return m.showFrequencies(w, r, v, s, nil) })
}

// showFrequencies asks how often orders come, of what the merchant offers.
func (m room) showFrequencies(w http.ResponseWriter, r *http.Request, v portal.Visit, s overview.Sheet, refused error) error {
	c := s.Contract
	list, err := m.Changes.Frequencies(r.Context(), v.Caller(r), c.ID)
	if err != nil {
		return err
	}
	q := words.Question(v, c, words.Path(c.ID)+"/frequency")
	q.Title, q.Lead, q.Keep = v.T("frequency.title", "product", words.Name(v, c)), v.T("frequency.text"), v.T("frequency.keep")
	if len(list) < 2 {
		q.Lead = v.T("frequency.none")
		return v.Ask(w, r, q, refused)
	}
	choice := portal.Field{Name: sellingPlan, Type: "radio", Label: v.T("frequency.choose"), Required: true}
	chosen := r.PostForm.Get(sellingPlan)
	for _, f := range list {
		value := strconv.FormatInt(f.ID, 10)
		choice.Choices = append(choice.Choices, portal.Choice{
			Value: value, Name: f.Name, About: about(v, s, f), Price: words.Amount(v, f.Price),
			Selected: value == chosen || chosen == "" && f.Current,
		})
	}
	q.Fields, q.Button = []portal.Field{choice}, v.T("frequency.button")
	return v.Ask(w, r, q, refused)
}

// about says when the next orders come with a frequency.
func about(v portal.Visit, s overview.Sheet, f do.Frequency) string {
	next, comes := s.Next()
	if !comes {
		return words.Often(v, f.Then)
	}
	var days []string
	if f.Current {
		for _, o := range s.Upcoming {
			if o.Status != billing.Skipped && len(days) < shownDates {
				days = append(days, v.ShortDay(o.BillingDate))
			}
		}
	} else {
		policy := f.Then.Billing
		dates := cadence.Series{Policy: policy, Calendar: v.Calendar, Start: policy.Realigned(v.Calendar, next.BillingDate, v.Now, f.Cutoff)}
		for n := range shownDates {
			days = append(days, v.ShortDay(dates.Nth(n)))
		}
	}
	return v.T("frequency.next", "often", words.Often(v, f.Then), "days", v.Words.List(days))
}

func (m room) frequency(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	return v.Change(w, r, func(ctx context.Context, ref do.ContractRef) (string, error) {
		plan, err := strconv.ParseInt(r.PostForm.Get(sellingPlan), 10, 64)
		if err != nil {
			return "", choiceMissing(sellingPlan)
		}
		_, err = m.Changes.SetFrequency(ctx, v.Caller(r), ref, plan)
		return "frequency", err
	}, func(err error) error {
		s, failed := m.sheet(r, v)
		if failed != nil {
			return failed
		}
		return m.showFrequencies(w, r, v, s, err)
	})
}
