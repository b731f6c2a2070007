package upcoming

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/domain/upcoming"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// manage is what a user needs to change orders.
const manage = staff.ManageContracts

// order returns the order that the path names.
func (m *room) order(r *http.Request, v dashboard.Visit) (upcoming.Order, error) {
	id, err := strconv.ParseInt(r.PathValue("order"), 10, 64)
	if err != nil || id <= 0 {
		return upcoming.Order{}, upcoming.NotFound()
	}
	return m.Queue.Order(r.Context(), v.Shop.ID, billing.AttemptID(id))
}

// dayPath is that of the page of an order's day, below the store's.
func dayPath(t time.Time, v dashboard.Visit) string {
	return "/upcoming/" + t.In(v.Zone).Format(time.DateOnly)
}

func path(o upcoming.Order, what string) string {
	return fmt.Sprintf("/upcoming/%d/%s", o.Attempt, what)
}

// about says which order is meant, when it is charged, and how much is expected.
func about(o upcoming.Order, v dashboard.Visit) string {
	return fmt.Sprintf("Order %d of contract %d (%s) is charged on %s. %s is expected, with delivery, before taxes.", o.Cycle, o.Contract, name(o), v.Instant(o.Date), dashboard.Money(o.Amount))
}

func (m *room) askMove(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	o, err := m.order(r, v)
	if err != nil {
		return err
	}
	return v.Ask(w, r, m.moveQuestion(o, v, o.Date.In(v.Zone).AddDate(0, 0, 1).Format(time.DateOnly), false), nil)
}

func (m *room) moveQuestion(o upcoming.Order, v dashboard.Visit, date string, future bool) dashboard.Question {
	later := dashboard.Field{Name: "future", Label: "Count later orders from the new day, too", Type: "checkbox", Hint: "Orders whose day was chosen by a person keep it."}
	if future {
		later.Value = "on"
	}
	return dashboard.Question{
		Title: "Move order", Says: []string{about(o, v), "It moves to the day below, at the store's order time. Other orders keep their days unless you choose otherwise."},
		Fields: []dashboard.Field{{Name: "date", Label: "New day", Type: "date", Required: true, Value: date, Min: m.Clock.Now().In(v.Zone).Format(time.DateOnly)}, later},
		Path:   path(o, "move"), Button: "Move order", Back: dayPath(o.Date, v), Keep: "Keep the day",
	}
}

// move moves an order to another day.
func (m *room) move(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	o, err := m.order(r, v)
	if err != nil {
		return err
	}
	text, future := r.PostForm.Get("date"), r.PostForm.Get("future") == "on"
	date, err := m.dateOf(text, v)
	var moved billing.Record
	if err == nil {
		moved, err = m.Orders.Reschedule(r.Context(), v.Shop.ID, command.Reschedule{Line: o.Line, Attempt: o.Attempt, BillingDate: date, Future: future, Actor: v.Actor(r)})
	}
	if err != nil {
		return v.Ask(w, r, m.moveQuestion(o, v, text, future), atDate(err))
	}
	return v.Go(w, dayPath(moved.BillingDate, v), "order-moved")
}

// dateOf reads a day of the store: at its order time or, today, now.
func (m *room) dateOf(text string, v dashboard.Visit) (time.Time, error) {
	day, err := time.ParseInLocation(time.DateOnly, text, v.Zone)
	if err != nil {
		return day, fault.New(fault.Invalid, "%.20q is not a day: use YYYY-MM-DD", text).Field("date")
	}
	calendar, err := v.Shop.Calendar()
	if err != nil {
		return day, err
	}
	if now := m.Clock.Now(); now.In(v.Zone).Format(time.DateOnly) == text {
		return now, nil
	}
	return calendar.Local(calendar.Day(day)), nil
}

// atDate shows what the rule says of a date at its field, and anything else above the form.
func atDate(err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Param == "date" {
		return err
	}
	of := *f
	if of.Param == "billingDate" {
		of.Param = "date"
	} else {
		of.Param = ""
	}
	return &of
}

func skipQuestion(o upcoming.Order, v dashboard.Visit) dashboard.Question {
	return dashboard.Question{
		Title: "Skip order", Says: []string{about(o, v), "It is skipped: nothing is charged and nothing delivered for it. The contract's next order comes on its date. A skip can be taken back until the day of the order."},
		Path: path(o, "skip"), Button: "Skip order", Back: dayPath(o.Date, v), Keep: "Keep the order",
	}
}

func (m *room) askSkip(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	o, err := m.order(r, v)
	if err != nil {
		return err
	}
	return v.Ask(w, r, skipQuestion(o, v), nil)
}

// skip skips an order.
func (m *room) skip(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	o, err := m.order(r, v)
	if err != nil {
		return err
	}
	if _, err := m.Orders.Skip(r.Context(), v.Shop.ID, command.Skip{Line: o.Line, Attempt: o.Attempt, Actor: v.Actor(r)}); err != nil {
		return v.Ask(w, r, skipQuestion(o, v), atDate(err))
	}
	return v.Go(w, dayPath(o.Date, v), "order-skipped")
}
