package contract

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/explain"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// whyPage explains an order.
type whyPage struct {
	Badge   dashboard.Badge
	Summary string
	Inputs  []fact
	Date    []string
	Prices  []priced
	Reduced []string // what discounts do
	Price   []string
	Total   string
	Tries   []string
	Prepare []string
	Outcome string
	Next    string
	Text    string // all in sentences, to send on
}

// priced is a line with how its price comes about.
type priced struct {
	Title, Worked, Amount string
	Words                 string
}

// why explains an order: why this amount on this day, and what became of it.
func (m *room) why(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	c, err := m.contract(r, v)
	if err != nil {
		return err
	}
	n, err := number(r, "attempt")
	if err != nil {
		return err
	}
	e, err := m.Explainer.Explain(r.Context(), v.Shop.ID, c.Line, billing.AttemptID(n))
	if err != nil {
		return err
	}
	if e.Of.ID != c.ID {
		return fault.New(fault.NotFound, "contract %d has no order %d", c.ID, n).Code("billingAttemptNotFound")
	}
	return v.Answer(w, dashboard.Page{Name: "contract-why", Title: question(v, e), Crumb: crumb(c), Content: newWhy(v, c, e), Lead: fmt.Sprintf("Order of cycle %d. The answer is made of what was stored when it happened.", e.Cycle)})
}

// question is what the page answers.
func question(v dashboard.Visit, e explain.Explanation) string {
	amount, day := dashboard.Money(e.Cost()), v.Day(e.BillingDate)
	switch e.Status {
	case billing.Success:
		return "Why was " + amount + " charged on " + v.Day(e.UpdatedAt) + "?"
	case billing.Queued:
		return "Why will " + amount + " be charged on " + day + "?"
	case billing.Requesting, billing.Progress, billing.Challenge, billing.PlatformException:
		return "Why is " + amount + " being charged?"
	}
	return "Why was the order of " + day + " not charged?"
}

func newWhy(v dashboard.Visit, c contract.Contract, e explain.Explanation) whyPage {
	p := whyPage{Badge: attemptBadges[e.Status], Summary: e.Summary, Date: e.Date.Words, Prepare: e.Preparation.Words, Outcome: e.Outcome.Words, Next: e.Next.Words, Total: dashboard.Money(e.Prices.Total)}
	var plans []string
	for _, l := range c.Lines {
		if l.SellingPlanName != "" {
			plans = append(plans, l.SellingPlanName)
			break
		}
	}
	p.Inputs = facts("Plan", strings.Join(plans, ", "), "Schedule", e.Date.Rule, "Due", v.Instant(e.BillingDate), "By the calendar", planned(v, e), "Cycle", fmt.Sprint(e.Cycle),
		"Contract", string(e.Of.Status), "Payment method", e.Of.PaymentMethod, "Order", e.OrderName, "Note", e.Note)
	for _, l := range e.Prices.Lines {
		title := l.Title
		if l.OneOff {
			title += " (once)"
		}
		row := priced{Title: title, Worked: fmt.Sprintf("%d × %s", l.Quantity, dashboard.Money(l.Price)), Amount: l.Price.Times(int64(l.Quantity)).String(), Words: l.Words}
		p.Prices = append(p.Prices, row)
	}
	for _, d := range e.Prices.Discounts {
		p.Reduced = append(p.Reduced, d.Words)
	}
	for _, t := range e.Tries {
		p.Tries = append(p.Tries, t.Words)
	}
	p.Text = strings.Join(append(append([]string{e.Summary}, e.Date.Words...), e.Prices.Words...), "\n")
	return p
}

func planned(v dashboard.Visit, e explain.Explanation) string {
	if e.Date.Planned.IsZero() || e.Date.Planned.Equal(e.BillingDate) {
		return ""
	}
	return v.Instant(e.Date.Planned)
}
