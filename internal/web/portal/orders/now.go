package orders

import (
	"context"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/billing"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// retried reports whether an order was declined, so that it is tried again and not asked for early.
func retried(o overview.Order) bool { return o.Status == billing.Failure }

func (m room) askNow(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	s, o, err := m.order(r, v)
	if err != nil {
		return err
	}
	action := do.OrderNow
	if retried(o) {
		action = do.RetryPayment
	}
	if !o.Can.Allows(action) {
		return notNow(o.Can[action], o)
	}
	return v.Ask(w, r, nowQuestion(v, s, o), nil)
}

// nowQuestion says what is charged to what, today, and which order comes next.
func nowQuestion(v portal.Visit, s overview.Sheet, o overview.Order) portal.Question {
	amount, payment := words.Cost(v, o.Record), words.Payment(v, s.Contract)
	q := words.Question(v, s.Contract, words.OrderPath(o.Attempt)+"/now")
	q.Title, q.Lead = v.T("now.title", "amount", amount), v.T("now.last", "payment", payment)
	q.Steps = []portal.Step{{Name: v.T("steps.today"), Day: v.ShortDay(v.Now), Amount: amount, Kind: "now"}}
	q.Button, q.Keep = v.T("now.button", "amount", amount), v.T("now.keep")
	if retried(o) {
		q.Title, q.Lead = v.T("retry.title", "amount", amount), v.T("retry.text", "payment", payment)
		q.Button, q.Keep, q.Says = v.T("retry.button"), v.T("retry.keep"), []string{v.T("retry.once")}
	}
	if next, comes := s.After(o.Attempt); comes && !retried(o) {
		q.Lead = v.T("now.text", "payment", payment, "next", v.Day(next.BillingDate))
		q.Steps = append(q.Steps, portal.Step{Name: v.T("steps.then"), Day: v.ShortDay(next.BillingDate), Amount: words.Cost(v, next.Record)})
	}
	return q
}

func (m room) now(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	return m.change(w, r, v, nowQuestion, func(ctx context.Context, t target) (string, error) {
		to := words.OrderPath(billing.Attempt{Contract: t.contract, ID: t.attempt}) + "/placed"
		_, o, err := m.Orders.Order(ctx, v.Caller(r), t.contract, t.attempt)
		if err != nil {
			return to, err
		}
		if retried(o) {
			return to, m.Changes.RetryPayment(ctx, v.Caller(r), t.ref(r, v))
		}
		return to, m.Changes.OrderNow(ctx, v.Caller(r), t.ref(r, v))
	})
}

// placed is what becomes of an order that was asked for.
type placed struct {
	Waits  bool   // it is not known yet
	Again  string // address of the page, to be read again
	Amount string
	Links  []portal.Action
}

// placed shows what becomes of an order that was asked for. While it is not known, scripts read the
// page again.
func (m room) placed(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	s, o, err := m.order(r, v)
	if err != nil {
		return err
	}
	name, amount := words.Name(v, s.Contract), words.Cost(v, o.Record)
	p := placed{Amount: amount, Again: v.View.At(words.OrderPath(o.Attempt) + "/placed")}
	page := portal.Page{Name: "placed", Crumb: &portal.Crumb{Name: name, Path: words.Path(s.Contract.ID)}, Email: s.Contract.Customer.Email}
	switch {
	case o.Status == billing.Success:
		page.Title, page.Lead = v.T("placed.done.title"), v.T("placed.done.text", "amount", amount, "order", o.OrderName)
	case o.Status == billing.Challenge:
		page.Title, page.Lead = v.T("placed.confirm.title"), v.T("placed.confirm.text", "amount", amount)
		if o.ActionURL != "" {
			p.Links = append(p.Links, portal.Action{Text: v.T("action.confirm"), Path: words.OrderPath(o.Attempt) + "/confirm", Main: true})
		}
	case o.Status == billing.Failure && o.DueAt.After(v.Now) || o.Status == billing.Failure && o.DueAt.IsZero():
		page.Title, page.Lead = v.T("placed.declined.title", "amount", amount), words.Reason(v, o.ErrorCode)
		if link := words.Changing(v, s, do.EditPaymentMethod, "/payment", v.T("action.updatePayment"), ""); link != nil {
			link.Main = true
			p.Links = append(p.Links, *link)
		}
	default:
		p.Waits, page.Title, page.Lead = true, v.T("placed.waits.title"), v.T("placed.waits.text", "amount", amount)
	}
	p.Links = append(p.Links, portal.Action{Text: v.T("placed.back"), Path: words.Path(s.Contract.ID)})
	page.Content = p
	return v.Answer(w, page)
}

// confirm leads to the bank's page on which a payment is confirmed.
func (m room) confirm(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	_, o, err := m.order(r, v)
	if err != nil {
		return err
	}
	if o.Status != billing.Challenge || !strings.HasPrefix(o.ActionURL, "https://") && !strings.HasPrefix(o.ActionURL, "http://") {
		return billing.NotFound(o.ID)
	}
	return v.Leave(w, o.ActionURL)
}
