package schedule

import (
	"context"
	"net/http"
	"strconv"
	"time"

	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// Fields of the form, and values of the first, which may also be a number of months.
const (
	long      = "long"
	until     = "pauseTillDate" // as the interface names it
	openEnded = "open"
	chosenDay = "day"
)

// months are how long a pause can be made without choosing a day.
var months = []int{1, 2, 3}

func (m room) askPause(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	return m.ask(w, r, v, do.Pause, func(s overview.Sheet) error { return v.Ask(w, r, pauseQuestion(v, s, r), nil) })
}

// inMonths returns the hour of orders so many months from today, on the last day of a month that is
// too short.
func inMonths(v portal.Visit, n int) time.Time {
	today := v.Local(v.Now)
	day := today.AddDate(0, n, 0)
	if day.Day() != today.Day() {
		day = day.AddDate(0, 0, -day.Day())
	}
	return v.Calendar.At(day)
}

// pauseQuestion asks how long a contract is paused, of what the store offers.
func pauseQuestion(v portal.Visit, s overview.Sheet, r *http.Request) portal.Question {
	q := words.Question(v, s.Contract, words.Path(s.Contract.ID)+"/pause")
	q.Title, q.Lead = v.T("pause.title", "product", words.Name(v, s.Contract)), v.T("pause.text")
	if next, comes := s.Next(); comes {
		q.Lead = v.T("pause.next", "day", v.Day(next.BillingDate), "amount", words.Cost(v, next.Record))
	}
	last := s.Settings.PausedUntil(v.Now, v.Calendar)
	choice := portal.Field{Name: long, Type: "radio", Label: v.T("pause.long"), Required: true}
	day := portal.Field{Name: until, Type: "date", Label: v.T("pause.day"), Hint: v.T("pause.day.hint"), Value: portal.Typed(r, until, ""), Min: inField(v, tomorrow(v))}
	is := portal.Typed(r, long, "1")
	offer := func(value, name string) {
		choice.Choices = append(choice.Choices, portal.Choice{Value: value, Name: name, Selected: value == is})
	}
	for _, n := range months {
		if end := inMonths(v, n); last.IsZero() || !end.After(last) {
			offer(strconv.Itoa(n), v.T("pause.long.months", "n", n, "day", v.Day(end)))
		}
	}
	if last.IsZero() {
		offer(openEnded, v.T("pause.long.open"))
	} else {
		day.Limit = inField(v, last)
	}
	offer(chosenDay, v.T("pause.long.day"))
	q.Fields = []portal.Field{choice, day}
	q.Button, q.Keep = v.T("pause.button"), v.T("pause.keep")
	return q
}

// pauseOf reads how long a contract will be paused.
func pauseOf(r *http.Request, v portal.Visit) (w do.PauseParams, err error) {
	switch is := r.PostForm.Get(long); is {
	case openEnded:
	case chosenDay:
		w.Until, err = dayOf(r, v, until)
	default:
		n, failed := strconv.Atoi(is)
		if failed != nil || n < months[0] || n > months[len(months)-1] {
			return w, choiceMissing(long)
		}
		w.Until = inMonths(v, n)
	}
	return w, err
}

func (m room) pause(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	id, err := portal.ContractOf(r)
	if err != nil {
		return err
	}
	want, err := pauseOf(r, v)
	if err == nil {
		err = v.Do(w, r, func(ctx context.Context, _ string) (string, error) {
			_, err := m.Changes.Pause(ctx, v.Caller(r), do.ContractRef{ID: id, Version: v.Version(r)}, want)
			return words.Path(id) + "?done=paused", err
		})
	}
	return v.Again(err, func() error {
		s, failed := m.sheet(r, v)
		if failed != nil {
			return failed
		}
		return v.Ask(w, r, pauseQuestion(v, s, r), err)
	})
}
