package contract

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// lifeActions are about the status of a contract and what its customer gets.
var lifeActions = []action{
	{
		name: "pause", title: "Pause contract", button: "Pause contract", keep: "Keep it active", done: "The contract was paused.", says: saysPause, do: doPause,
		fields: func(target) []dashboard.Field {
			return []dashboard.Field{
				{Name: "until", Label: "Until", Type: "date", Hint: "The contract runs again on that day. Leave empty for a pause without end."},
				{Name: "reason", Label: "Reason", Max: 500, Hint: "In the activity log."},
			}
		},
	},
	{name: "resume", title: "Resume contract", button: "Resume contract", keep: "Leave it as it is", done: "The contract runs.", says: saysResume, rows: rowsResume, need: needResume, do: doResume},
	{
		name: "cancel", title: "Cancel contract", button: "Cancel contract", keep: "Keep the contract", done: "The contract was cancelled, or its cancellation waits as the page says.", grave: true, says: saysCancel, rows: rowsCancel, do: doCancel,
		fields: func(t target) []dashboard.Field {
			list := []dashboard.Field{
				{Name: "feedback", Label: "What the customer said", Max: lifecycle.MaxFeedback},
				{Name: "note", Label: "Note", Type: "textarea", Max: lifecycle.MaxCancellationNote, Hint: "For you and your colleagues."},
			}
			if after := t.cancelled(); after.Ending != nil && after.Moving == nil {
				list = append(list, dashboard.Field{Name: "now", Label: "Cancel at once", Type: "checkbox", Hint: "What is listed here neither comes nor is charged."})
			}
			return list
		},
	},
	{
		name: "portal-link", title: "Send portal link", button: "Send the link", keep: "Send nothing", done: "The e-mail with the link is on its way.",
		says: func(t target) []string {
			return []string{"An e-mail goes to " + t.c.Customer.Email + ", now. Its link opens the customer portal once, within two hours."}
		},
		do: func(ctx context.Context, c change) error {
			return c.m.Links.SendLink(ctx, c.v.Shop.ID, login.CustomerRef{Line: c.c.Line, Customer: c.c.Customer.ID, Email: c.c.Customer.Email}, c.cmd.Actor)
		},
	},
	{
		name: "payment-link", title: "Send payment update link", button: "Send the link", keep: "Send nothing", done: "The platform sends the e-mail with the link.",
		says: func(t target) []string {
			return []string{"The platform sends an e-mail to " + t.c.Customer.Email + ", now. With its link the customer changes the payment method of this contract."}
		},
		do: func(ctx context.Context, c change) error {
			return c.m.Platform.SendPaymentUpdate(ctx, c.v.Shop.ID, c.cmd)
		},
	},
}

// unmade says what is not charged if the contract stops.
func (t target) unmade() string {
	if t.next == nil {
		return "No order is planned."
	}
	return "The order of " + t.v.Day(t.next.BillingDate) + ", " + dashboard.Money(t.next.Cost()) + ", and those after it are not charged."
}

func saysPause(t target) []string {
	return []string{"The contract is paused at the platform, now. " + t.unmade(), "The customer gets the e-mail about a pause, if your store sends it."}
}

func doPause(ctx context.Context, c change) error {
	w := lifecycle.StatusChange{To: contract.Paused, Reason: c.form.Get("reason")}
	if text := c.form.Get("until"); text != "" {
		day, err := c.day("until", text)
		if err != nil {
			return err
		}
		w.Until = day
	}
	_, err := c.m.Statuses.SetStatus(ctx, c.v.Shop.ID, c.cmd, w)
	return err
}

// day reads a day of the store, as its beginning.
func (c change) day(field, text string) (time.Time, error) {
	day, err := time.ParseInLocation(time.DateOnly, text, c.v.Zone)
	if err != nil {
		return day, fault.New(fault.Invalid, "%.20q is not a day: use YYYY-MM-DD", text).Field(field)
	}
	return day.UTC(), nil
}

func saysResume(t target) []string {
	switch {
	case t.c.Ending != nil:
		return []string{"The cancellation that waits for " + t.v.Day(t.c.Ending.At) + " is taken back, now. Orders go on as planned."}
	case needResume(t) != nil:
		return []string{"The contract has no payment method that can be charged. The customer must add one first."}
	}
	next, err := t.resumed()
	if err != nil {
		return []string{"The contract runs again, now."}
	}
	return []string{
		"The contract runs again, now. Its next order is that of " + t.v.Day(next.BillingDate) + ": " + dashboard.Money(next.Cost()) + " before taxes are charged to the customer’s payment method then. " +
			"Orders come " + t.c.Billing.String() + ". Dates that passed meanwhile are not charged.",
	}
}

// resumed returns the order that comes next when the contract goes on now.
func (t target) resumed() (billing.Record, error) {
	if t.next != nil {
		return *t.next, nil
	}
	calendar, err := t.v.Shop.Calendar()
	if err != nil {
		return billing.Record{}, err
	}
	return billing.ResumedOrder(t.c, t.sheet.Inputs, t.sheet.Attempts(), calendar, t.m.Clock.Now()), nil
}

// rowsResume are the lines of the order that comes next when the contract goes on now.
func rowsResume(t target) []dashboard.Row {
	next, err := t.resumed()
	if err != nil || t.c.Ending != nil || needResume(t) != nil {
		return nil
	}
	var rows []dashboard.Row
	lines := next.LinesOf()
	for i, l := range lines {
		name := fmt.Sprintf("%d × %s", l.Quantity, l.Title)
		if !next.Settled() && i >= len(lines)-len(next.OneOffs) {
			name += ", in this order only"
		}
		rows = append(rows, dashboard.Row{Name: name, Amount: dashboard.Money(l.Price.Times(int64(l.Quantity)))})
	}
	return append(rows, dashboard.Row{Name: "Total with discounts and delivery, before taxes", Amount: dashboard.Money(next.Cost())})
}

// needResume is what must be done before the contract can go on; nil: nothing.
func needResume(t target) *dashboard.Need {
	switch {
	case t.c.Ending != nil, t.c.PaymentMethod != "" && t.c.PaymentUsable:
		return nil
	case t.c.PaymentMethod != "":
		return &dashboard.Need{Text: "Send payment update link", Path: do(t.c.ID, "payment-link", "")}
	}
	return &dashboard.Need{Text: "Send portal link", Path: do(t.c.ID, "portal-link", "")}
}

func doResume(ctx context.Context, c change) error {
	if needResume(c.target) != nil {
		return fault.New(fault.FailedPrecondition, "the contract has no payment method that can be charged").Code("paymentMethodMissing")
	}
	_, err := c.m.Statuses.SetStatus(ctx, c.v.Shop.ID, c.cmd, lifecycle.StatusChange{To: contract.Active})
	return err
}

// cancelled returns the contract as a cancellation leaves it, unless it is to take effect at once: with
// the end that it waits for, also one that is scheduled already, or about to be cancelled. A
// cancellation that is not possible now fails when it is sent.
func (t target) cancelled() contract.Contract {
	after, err := lifecycle.Preview(t.v.Shop, t.c, t.sheet.Attempts(), t.by, lifecycle.StatusChange{To: contract.Cancelled}, t.m.Clock.Now())
	if err != nil {
		return t.c
	}
	return after
}

func saysCancel(t target) []string {
	after := t.cancelled()
	if after.Ending == nil || after.Moving != nil {
		return []string{"The contract is cancelled at the platform, now, and cannot be resumed. " + t.unmade(), "The customer gets the e-mail about a cancellation, if your store sends it."}
	}
	day, then := t.v.Day(after.Ending.At), "After that it cannot be resumed."
	switch {
	case t.c.Ending != nil:
		return []string{"A cancellation waits already: the contract ends on " + day + ". Until then it charges and delivers what is listed here. " + then}
	case len(rowsCancel(t)) == 0:
		return []string{"The contract ends on " + day + ", with what is paid for. Nothing more is charged. " + then}
	}
	return []string{"The contract ends on " + day + ". Deliveries that are paid for still come; nothing more is charged. " + then}
}

// rowsCancel are the orders and deliveries that still come after a cancellation.
func rowsCancel(t target) []dashboard.Row {
	calendar, err := t.v.Shop.Calendar()
	if err != nil {
		return nil
	}
	rest := billing.RestOf(t.cancelled(), t.sheet.Inputs, t.sheet.Attempts(), calendar, t.m.Clock.Now())
	var rows []dashboard.Row
	for _, o := range rest.Orders {
		name := "Order of " + t.v.Day(o.BillingDate)
		switch {
		case o.Unpaid():
			name += ", not paid yet"
		case o.Status.InFlight():
			name += ", being charged now"
		}
		rows = append(rows, dashboard.Row{Name: name, Amount: dashboard.Money(o.Pays)})
	}
	if n := len(rest.Orders); n > 0 {
		rows = append(rows, dashboard.Row{Name: "Total of " + dashboard.Count(n, "order", "orders") + ", before taxes", Amount: dashboard.Money(rest.Total)})
	}
	paid := "Paid for"
	if len(rest.Orders) > 0 {
		paid = "Still to come"
	}
	for _, d := range rest.Deliveries {
		rows = append(rows, dashboard.Row{Name: "Delivery of " + t.v.Day(d), Amount: paid})
	}
	return rows
}

func doCancel(ctx context.Context, c change) error {
	_, err := c.m.Statuses.SetStatus(ctx, c.v.Shop.ID, c.cmd, lifecycle.StatusChange{
		To: contract.Cancelled, Feedback: c.form.Get("feedback"), Note: c.form.Get("note"), Now: c.form.Get("now") == "on",
	})
	return err
}

// askPortal says what opening the portal as the customer is.
func (m *room) askPortal(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	c, err := m.contract(r, v)
	if err != nil {
		return err
	}
	return v.Ask(w, r, portalQuestion(c), nil)
}

func portalQuestion(c contract.Contract) dashboard.Question {
	return dashboard.Question{
		Title: "Open portal as customer", Back: at(c.ID), Path: at(c.ID) + "/portal", Button: "Make the link", Keep: "Stay here",
		Says: []string{
			"You see the portal as " + name(c) + " sees it, for 30 minutes. Every page of it says that this is a support session.",
			"What you do there is logged as yours, and so is that you opened it.",
		},
	}
}

// portalPage shows the link of a support session.
type portalPage struct{ Link, Until, Back string }

// openPortal makes the link of a support session and shows it: the platform's admin lets no page
// of another kind into its frame.
func (m *room) openPortal(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	c, err := m.contract(r, v)
	if err != nil {
		return err
	}
	made, err := m.Links.OpenAs(r.Context(), v.Shop.ID, c.ID, c.Customer.ID, v.Actor(r))
	if err != nil {
		return v.Ask(w, r, portalQuestion(c), dashboard.AtForm(err, func(_, message string) (string, string) { return "", message }))
	}
	return v.Answer(w, dashboard.Page{Name: "contract-portal", Title: "Open portal as customer", Crumb: crumb(c), Content: portalPage{made.Value, v.Instant(made.ExpiresAt), at(c.ID)}})
}

// contract returns the contract that a path names, or NotFound.
func (m *room) contract(r *http.Request, v dashboard.Visit) (contract.Contract, error) {
	id, err := number(r, "contract")
	if err != nil {
		return contract.Contract{}, err
	}
	return m.Sheets.Contract(r.Context(), v.Shop.ID, contract.ID(id))
}
