package contract

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/support"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/words"
)

// target is what an action is about.
type target struct {
	m  *room
	v  dashboard.Visit
	c  contract.Contract
	of string // what of the contract: number of an order or of a one-time product, or id of a line or a discount

	sheet support.Sheet
	by    activity.Actor

	next     *billing.Record // the next order; nil: none is queued
	order    *billing.Record
	line     *contract.LineItem
	discount *contract.Discount
	oneOff   *billing.OneOff
}

// change is an action that is being carried out.
type change struct {
	target

	cmd  amend.Command
	form url.Values
}

// kind is what of a contract an action is about.
type kind int

const (
	whole kind = iota
	anOrder
	aLine
	aDiscount
	aOneOff
)

// action is something that a person can do about a contract.
type action struct {
	name   string // in addresses
	of     kind
	title  string
	button string
	keep   string // the link back, named by its effect
	done   string
	grave  bool
	says   func(t target) []string
	rows   func(t target) []dashboard.Row
	need   func(t target) *dashboard.Need
	// then returns the order as what a form has would make it; false: the form has nothing that could be
	// counted. nil: no order depends on the form.
	then   func(ctx context.Context, c change) (before, after billing.Record, counted bool, err error)
	fields func(t target) []dashboard.Field
	do     func(ctx context.Context, c change) error
}

// actions are all actions.
var actions = slices.Concat(lifeActions, orderActions, termActions)

// ask says what an action would do.
func (m *room) ask(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	a, t, err := m.target(r, v, r.URL.Query().Get("of"))
	if err != nil {
		return err
	}
	q, err := t.counted(r, a, t.question(a, nil))
	if err != nil {
		return err
	}
	return v.Ask(w, r, q, nil)
}

// act does what was asked about, if the contract is as its reader has seen it.
func (m *room) act(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	a, t, err := m.target(r, v, r.PostFormValue("of"))
	if err != nil {
		return err
	}
	q := t.question(a, r.PostForm)
	counts := r.PostForm.Get("do") == "count"
	switch {
	case r.PostForm.Get("seen") != t.seen():
		err = m.changedMeanwhile(r, v, t.c)
	default:
		q, err = t.counted(r, a, q)
		if err == nil && !counts && q.Total != nil && r.PostForm.Get("total") != strconv.FormatInt(q.Total.Minor, 10) {
			err = fault.New(fault.FailedPrecondition, "nothing is changed yet: this is what the order will cost. Send it again if that is right").Code("totalNotShown")
		}
		if err == nil && !counts {
			err = a.do(r.Context(), t.change(r, r.PostForm))
		}
	}
	if err == nil && counts {
		return v.Ask(w, r, q, nil)
	}
	if err != nil {
		return v.Ask(w, r, q, dashboard.AtForm(err, func(param, message string) (string, string) {
			if slices.ContainsFunc(q.Fields, func(f dashboard.Field) bool { return f.Name == param }) {
				return param, message
			}
			return formNames[param], message
		}))
	}
	return v.Go(w, at(t.c.ID), "contract-"+a.name)
}

// change returns an action that a form asks for.
func (t target) change(r *http.Request, form url.Values) change {
	return change{t, amend.Command{Line: t.c.Line, Contract: t.c.ID, Actor: t.v.Actor(r)}, form}
}

// counted adds to a question what the order costs with what its fields have.
func (t target) counted(r *http.Request, a action, q dashboard.Question) (dashboard.Question, error) {
	if a.then == nil || t.next == nil {
		return q, nil
	}
	q.Counts = true
	form := url.Values{}
	for _, f := range q.Fields {
		form.Set(f.Name, f.Value)
	}
	before, after, counted, err := a.then(r.Context(), t.change(r, form))
	if err != nil || !counted {
		return q, err
	}
	is, will := before.Cost(), after.Cost()
	q.Total = &dashboard.Total{
		Says:  "The order of " + t.v.Day(before.BillingDate) + " costs " + dashboard.Money(will) + " before taxes then, and " + dashboard.Money(is) + " now.",
		Minor: will.Minor,
	}
	return q, nil
}

// formNames are the names in forms of fields that the domain names otherwise. Others are about no
// field.
var formNames = map[string]string{
	"pauseTillDate": "until", "nextBillingDate": "date", "billingDate": "date", "discountCode": "code", "variantId": "variant", "newVariantId": "variant",
	"pauseReason": "reason", "cancellationNote": "note", "cancellationFeedback": "feedback", "orderNote": "note", "percentage": "percent",
}

// question returns the question of an action, with what its form had.
func (t target) question(a action, form url.Values) dashboard.Question {
	q := dashboard.Question{
		Title: a.title, Back: at(t.c.ID), Path: at(t.c.ID) + "/do/" + a.name, Button: a.button, Keep: a.keep, Grave: a.grave,
		Hidden: map[string]string{"of": t.of, "seen": t.seen()}, Says: append([]string{name(t.c) + ", contract " + strconv.FormatInt(int64(t.c.ID), 10) + "."}, a.says(t)...),
	}
	if a.need != nil {
		q.Need = a.need(t)
	}
	if a.rows != nil {
		q.Rows = a.rows(t)
	}
	if a.fields != nil {
		q.Fields = a.fields(t)
	}
	if form != nil {
		q.Fields = dashboard.Entered(q.Fields, form)
	}
	return q
}

// seen is what a form says its reader has seen: the versions of what it is about.
func (t target) seen() string {
	text := strconv.FormatInt(t.c.Version, 10)
	if t.order != nil {
		text += "." + strconv.FormatInt(t.order.Version, 10)
	}
	return text
}

// changedMeanwhile is the failure of a form whose contract has changed: the last entry.
func (m *room) changedMeanwhile(r *http.Request, v dashboard.Visit, c contract.Contract) error {
	items, _, err := m.Sheets.Timeline(r.Context(), v.Shop.ID, c.ID, support.Filter{})
	if err != nil {
		return err
	}
	for _, i := range items {
		if e := i.Entry; i.Comment == nil && e.Event != activity.Email {
			return fault.New(fault.Conflict, "the contract has changed since the page was opened. Last entry: %s, by %s, at %s. What is shown here holds now; your input is kept",
				words.Of(e).Text, words.Of(e).By, v.Instant(e.At)).Code("changedMeanwhile")
		}
	}
	return fault.New(fault.Conflict, "the contract has changed since the page was opened: what is shown here holds now, and your input is kept").Code("changedMeanwhile")
}

// target finds what a request is about, or returns NotFound.
func (m *room) target(r *http.Request, v dashboard.Visit, of string) (action, target, error) {
	i := slices.IndexFunc(actions, func(a action) bool { return a.name == r.PathValue("action") })
	id, err := number(r, "contract")
	if err != nil || i < 0 {
		return action{}, target{}, dashboard.PathNotFound()
	}
	a := actions[i]
	s, err := m.Sheets.Sheet(r.Context(), v.Shop.ID, contract.ID(id), support.MaxPast)
	if err != nil {
		return a, target{}, err
	}
	t := target{m: m, v: v, c: s.Contract, of: of, sheet: s, by: v.Actor(r)}
	if next, is := nextOrder(s); is {
		t.next = &next
	}
	if s.Contract.Terminated() {
		return a, t, fault.New(fault.FailedPrecondition, "contract %d has ended and cannot be changed", id).Code("contractTerminated")
	}
	if t.find(a.of, s); a.of != whole && t.order == nil && t.line == nil && t.discount == nil && t.oneOff == nil {
		return a, t, fault.New(fault.NotFound, "what this is about is no longer there: reload the page of the contract").Code("changedMeanwhile")
	}
	return a, t, nil
}

// find sets the part of the contract that the action is about, if it is there.
func (t *target) find(k kind, s support.Sheet) {
	n, _ := strconv.ParseInt(t.of, 10, 64)
	switch k {
	case anOrder:
		for i := range s.Upcoming {
			if int64(s.Upcoming[i].ID) == n {
				t.order = &s.Upcoming[i]
			}
		}
		for _, a := range s.Past {
			if int64(a.ID) == n {
				t.order = &billing.Record{Attempt: a, Of: s.Contract}
			}
		}
	case aLine:
		if i := t.c.LineByID(t.of); i >= 0 {
			t.line = &t.c.Lines[i]
		}
	case aDiscount:
		if i := slices.IndexFunc(t.c.Discounts, func(d contract.Discount) bool { return d.ID == t.of }); i >= 0 {
			t.discount = &t.c.Discounts[i]
		}
	case aOneOff:
		if i := slices.IndexFunc(s.Inputs.OneOffs, func(o billing.OneOff) bool { return int64(o.ID) == n }); i >= 0 {
			t.oneOff = &s.Inputs.OneOffs[i]
		}
		for i, u := range s.Upcoming {
			if t.oneOff != nil && u.Cycle == t.oneOff.Cycle {
				t.order = &s.Upcoming[i]
			}
		}
	}
}
