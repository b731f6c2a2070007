package schedule

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/perennialhq/perennial/internal/domain/billing"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// Fields of the form, and values of theirs.
const (
	to       = "to" // a day, or another one
	another  = "other"
	date     = "billingDate" // as the interface names it
	scope    = "scope"
	onlyThis = "this"
	future   = "future"
)

// weeks are how far an order can be moved without choosing a day.
var weeks = []int{-1, 1, 2, 4}

// orderOf returns the order that ?order= names.
func (m room) orderOf(r *http.Request, v portal.Visit) (overview.Sheet, overview.Order, error) {
	id, err := portal.ContractOf(r)
	if err != nil {
		return overview.Sheet{}, overview.Order{}, err
	}
	attempt, err := strconv.ParseInt(r.URL.Query().Get("order"), 10, 64)
	if err != nil || attempt < 1 {
		return overview.Sheet{}, overview.Order{}, portal.PathNotFound()
	}
	return m.Sheets.Order(r.Context(), v.Caller(r), id, billing.AttemptID(attempt))
}

func (m room) askReschedule(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	s, o, err := m.orderOf(r, v)
	switch {
	case err != nil:
		return err
	case o.Can.Allows(do.Reschedule):
		return v.Ask(w, r, moveQuestion(v, s, o, r), nil)
	case o.Can[do.Reschedule] != nil:
		return o.Can[do.Reschedule]
	}
	return billing.NotFound(o.ID)
}

// moveQuestion asks to which day an order is moved, of those that the store permits.
func moveQuestion(v portal.Visit, s overview.Sheet, o overview.Order, r *http.Request) portal.Question {
	q := words.Question(v, s.Contract, fmt.Sprintf("%s/reschedule?order=%d", words.Path(s.Contract.ID), o.ID))
	amount := words.Cost(v, o.Record)
	q.Title = v.T("reschedule.title", "day", v.Day(o.BillingDate))
	q.Lead = v.T("reschedule.text", "payment", words.Payment(v, s.Contract), "amount", amount)
	first, last := s.Settings.Dates(v.Now, v.Calendar)
	if next := tomorrow(v); first.Before(next) {
		first = next
	}
	q.Says = []string{v.T("reschedule.range", "first", v.Day(first), "last", v.Day(last))}
	q.Steps = []portal.Step{{Name: v.T("order.planned"), Day: v.ShortDay(o.BillingDate), Amount: amount, Kind: "now"}}
	if then, comes := s.After(o.Attempt); comes {
		q.Steps = append(q.Steps, portal.Step{Name: v.T("steps.then"), Day: v.ShortDay(then.BillingDate), Amount: words.Cost(v, then.Record)})
	}
	when := portal.Field{Name: to, Type: "radio", Label: v.T("reschedule.to"), Required: true}
	is := portal.Typed(r, to, "")
	for _, n := range weeks {
		day := v.Calendar.At(v.Local(o.BillingDate).AddDate(0, 0, 7*n))
		if day.Before(first) || day.After(last) {
			continue
		}
		key, count := "reschedule.later", n
		if n < 0 {
			key, count = "reschedule.earlier", -n
		}
		value := inField(v, day)
		when.Choices = append(when.Choices, portal.Choice{Value: value, Name: v.T(key, "n", count, "day", v.Day(day)), Selected: value == is})
	}
	when.Choices = append(when.Choices, portal.Choice{Value: another, Name: v.T("reschedule.other"), Selected: is == another})
	all := portal.Typed(r, scope, onlyThis) == future
	q.Fields = []portal.Field{
		when,
		{Name: date, Type: "date", Label: v.T("reschedule.day"), Value: portal.Typed(r, date, inField(v, o.BillingDate)), Min: inField(v, first), Limit: inField(v, last)},
		{Name: scope, Type: "radio", Label: v.T("reschedule.scope"), Required: true, Choices: []portal.Choice{
			{Value: onlyThis, Name: v.T("reschedule.scope.this"), Selected: !all}, {Value: future, Name: v.T("reschedule.scope.future"), Selected: all},
		}},
	}
	q.Button, q.Keep = v.T("reschedule.button"), v.T("reschedule.keep")
	return q
}

func (m room) reschedule(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	s, o, err := m.orderOf(r, v)
	if err != nil {
		return err
	}
	field := date
	if chosen := r.PostForm.Get(to); chosen != another {
		field = to
	}
	day, err := dayOf(r, v, field)
	if err == nil {
		err = v.Do(w, r, func(ctx context.Context, _ string) (string, error) {
			ref := do.OrderRef{Attempt: o.ID, Contract: s.Contract.ID, Version: v.Version(r)}
			_, err := m.Changes.Reschedule(ctx, v.Caller(r), ref, day, r.PostForm.Get(scope) == future)
			undo := url.Values{"done": {"moved"}, "of": {strconv.FormatInt(int64(o.ID), 10)}, "was": {inField(v, o.BillingDate)}, scope: {r.PostForm.Get(scope)}}
			return words.Path(s.Contract.ID) + "?" + undo.Encode(), err
		})
	}
	return v.Again(err, func() error {
		s, o, failed := m.orderOf(r, v)
		if failed != nil {
			return failed
		}
		return v.Ask(w, r, moveQuestion(v, s, o, r), err)
	})
}

// moveBack moves an order back to the day that it had, as the link after a move asks for.
func (m room) moveBack(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	s, o, err := m.orderOf(r, v)
	if err != nil {
		return err
	}
	query := r.URL.Query()
	day, err := dayIn(v, to, query.Get(to))
	if err != nil {
		return err
	}
	return v.Do(w, r, func(ctx context.Context, _ string) (string, error) {
		_, err := m.Changes.Reschedule(ctx, v.Caller(r), do.OrderRef{Attempt: o.ID, Contract: s.Contract.ID}, day, query.Get(scope) == future)
		return words.Path(s.Contract.ID) + "?done=moved-back", err
	})
}
