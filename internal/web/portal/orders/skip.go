package orders

import (
	"context"
	"fmt"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/billing"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

func (m room) askSkip(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	s, o, err := m.order(r, v)
	if err != nil {
		return err
	}
	if refusal := o.Can[do.Skip]; !o.Can.Allows(do.Skip) {
		return notNow(refusal, o)
	}
	return v.Ask(w, r, skipQuestion(v, s, o), nil)
}

// skipQuestion says which order does not come, what is not charged, and which comes next.
func skipQuestion(v portal.Visit, s overview.Sheet, o overview.Order) portal.Question {
	day, amount := v.Day(o.BillingDate), words.Cost(v, o.Record)
	q := words.Question(v, s.Contract, words.OrderPath(o.Attempt)+"/skip")
	q.Title, q.Lead = v.T("skip.title", "day", day), v.T("skip.last", "amount", amount)
	q.Steps = []portal.Step{{Name: v.T("steps.off"), Day: v.ShortDay(o.BillingDate), Amount: amount, Kind: "off"}}
	q.Button, q.Keep = v.T("skip.button"), v.T("skip.keep")
	next, comes := s.After(o.Attempt)
	if comes {
		q.Lead = v.T("skip.text", "amount", amount, "next", v.Day(next.BillingDate))
		q.Steps = append(q.Steps, portal.Step{Name: v.T("steps.next"), Day: v.ShortDay(next.BillingDate), Amount: words.Cost(v, next.Record), Kind: "now"})
		if then, more := s.After(next.Attempt); more {
			q.Steps = append(q.Steps, portal.Step{Name: v.T("steps.then"), Day: v.ShortDay(then.BillingDate), Amount: words.Cost(v, then.Record)})
		}
	}
	if s.Contract.Prepaid() {
		q.Says = append(q.Says, v.T("skip.prepaid", "n", int(s.Contract.Deliveries())))
	}
	if len(o.OneOffs) > 0 {
		q.Says = append(q.Says, v.T("skip.once"))
	}
	if s.Settings.CutoffDays > 0 {
		at := v.Local(s.Settings.ClosesAt(o.BillingDate, v.Calendar))
		q.Says = append(q.Says, v.T("skip.undoUntil", "day", v.Words.Date(at), "time", v.Words.Time(at)))
	} else {
		q.Says = append(q.Says, v.T("skip.undo", "day", day))
	}
	return q
}

// notNow is the failure of an action that an order does not permit; nil: it has no such action.
func notNow(refusal *fault.Error, o overview.Order) error {
	if refusal == nil {
		return billing.NotFound(o.ID)
	}
	return refusal
}

func (m room) skip(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	return m.change(w, r, v, skipQuestion, func(ctx context.Context, t target) (string, error) {
		_, err := m.Changes.Skip(ctx, v.Caller(r), t.ref(r, v))
		return fmt.Sprintf("%s?done=skipped&of=%d", words.Path(t.contract), t.attempt), err
	})
}

func (m room) unskip(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	t, err := targetOf(r)
	if err != nil {
		return err
	}
	return v.Do(w, r, func(ctx context.Context, _ string) (string, error) {
		_, err := m.Changes.Unskip(ctx, v.Caller(r), t.ref(r, v))
		return words.Path(t.contract) + "?done=unskipped", err
	})
}

// asking makes the question before a change of an order.
type asking func(portal.Visit, overview.Sheet, overview.Order) portal.Question

// change carries out a form about an order. When it fails in a way that its reader can do something
// about, the question is asked again, about the order as it is now.
func (m room) change(w http.ResponseWriter, r *http.Request, v portal.Visit, ask asking, work func(context.Context, target) (string, error)) error {
	t, err := targetOf(r)
	if err != nil {
		return err
	}
	err = v.Do(w, r, func(ctx context.Context, _ string) (string, error) { return work(ctx, t) })
	return v.Again(err, func() error {
		s, o, failed := m.order(r, v)
		if failed != nil {
			return failed
		}
		return v.Ask(w, r, ask(v, s, o), err)
	})
}
