package payments

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// crumb is what the questions belong to.
var crumb = &dashboard.Crumb{Name: "Failed payments", Path: path}

// action is something that a person can do about an open case.
type action struct {
	name   string // in addresses
	title  string
	about  string
	button string
	keep   string
	done   string // name of the sentence in Said
	says   func(m *room, v dashboard.Visit, c billing.Record) []string
	do     func(ctx context.Context, m *room, v dashboard.Visit, c billing.Record, cmd command.Declined) error
}

// actions are in the order in which they are offered.
func actions() []action {
	return []action{
		{"retry", "Retry now", "Charge the order once, now.", "Charge the order", "Do not charge it", "payment-retried", saysRetry, doRetry},
		{"link", "Send payment link", "An e-mail with a link to change the payment method.", "Send the link", "Send nothing", "payment-linked", saysLink, doLink},
		{"leave", "Do not retry", "Leave it to the customer: no more charges by plan.", "Stop retries", "Keep the retries", "payment-left", saysLeave, doLeave},
		{"skip", "Skip this order", "Give the order up. The contract goes on.", "Skip the order", "Keep the order", "payment-skipped", saysSkip, doSkip},
		{"pause", "Pause contract", "Give the order up, and pause the contract.", "Pause the contract", "Keep it active", "payment-paused", saysPause, doPause},
	}
}

func whose(c billing.Record) string {
	return fmt.Sprintf("The order of %s, contract %d, of %s.", customer(c.Of), c.Of.ID, dashboard.Money(c.Cost()))
}

func saysRetry(_ *room, v dashboard.Visit, c billing.Record) []string {
	says := []string{whose(c), "The present payment method is charged now, as try " + strconv.Itoa(c.Try+1) + ". If it is declined again, the plan goes on."}
	switch c.Dunning.Class {
	case dunning.Card:
		says = append(says, "The last answer was that the card cannot be charged. Without another card this will most likely fail, and it counts against the card’s limit of tries.")
	case dunning.Fraud:
		says = append(says, "The last answer was that the payment looks like fraud. Banks hold repeated tries against the store.")
	}
	return says
}

func saysLink(_ *room, _ dashboard.Visit, c billing.Record) []string {
	return []string{whose(c), "The platform sends an e-mail to " + c.Of.Customer.Email + ", now. As soon as the payment method changes, the order is charged."}
}

func saysLeave(m *room, v dashboard.Visit, c billing.Record) []string {
	k := c.Dunning
	g, err := billing.CaseInputs(v.Shop, c.Attempt)
	if err == nil {
		k.LeaveToCustomer(g)
	}
	return []string{
		whose(c), "The retry of " + v.Instant(c.Dunning.RetryAt) + " and all after it are not made. E-mails go on.",
		"The customer has until " + m.day(v, k.EndAt) + " to change the payment method, which has the order charged at once. Otherwise " + finalWords[v.Shop.Settings.Dunning.Final(k.Class)] + " then.",
	}
}

func saysSkip(_ *room, _ dashboard.Visit, c billing.Record) []string {
	return []string{whose(c), "It is given up, now, and not charged any more. The contract goes on with its next order."}
}

func saysPause(_ *room, _ dashboard.Visit, c billing.Record) []string {
	return []string{whose(c), "The contract is paused at the platform, now, until it is activated. Neither this order nor the next ones are charged until then."}
}

func doRetry(ctx context.Context, m *room, v dashboard.Visit, c billing.Record, cmd command.Declined) error {
	return m.Orders.Trigger(ctx, v.Shop.ID, command.Trigger{Line: cmd.Line, Attempt: c.ID, Actor: cmd.Actor, Declined: true})
}

func doLink(ctx context.Context, m *room, v dashboard.Visit, c billing.Record, cmd command.Declined) error {
	return m.Links.SendPaymentUpdate(ctx, v.Shop.ID, amend.Command{Line: cmd.Line, Contract: c.Of.ID, Actor: cmd.Actor})
}

func doLeave(ctx context.Context, m *room, v dashboard.Visit, _ billing.Record, cmd command.Declined) error {
	_, err := m.Orders.StopRetries(ctx, v.Shop.ID, cmd)
	return err
}

func doSkip(ctx context.Context, m *room, v dashboard.Visit, _ billing.Record, cmd command.Declined) error {
	_, err := m.Orders.GiveUp(ctx, v.Shop.ID, cmd)
	return err
}

func doPause(ctx context.Context, m *room, v dashboard.Visit, c billing.Record, cmd command.Declined) error {
	_, err := m.Statuses.SetStatus(ctx, v.Shop.ID, amend.Command{Line: cmd.Line, Contract: c.Of.ID, Actor: cmd.Actor}, lifecycle.StatusChange{To: contract.Paused})
	return err
}

// casePage is what can be done about a case.
type casePage struct {
	row

	Actions []link
	Abouts  []string
}

// choose shows what can be done about a case.
func (m *room) choose(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	c, err := m.read(r, v)
	if err != nil {
		return err
	}
	shown, err := m.row(v, c)
	if err != nil {
		return err
	}
	p := casePage{row: shown}
	for _, a := range actions() {
		if a.name == "leave" && (c.Dunning.State != dunning.Open || c.Dunning.RetryAt.IsZero()) {
			continue // there is nothing to stop
		}
		p.Actions = append(p.Actions, link{a.title, fmt.Sprintf("%s/%d/%s", path, c.ID, a.name)})
		p.Abouts = append(p.Abouts, a.about)
	}
	return v.Answer(w, dashboard.Page{Name: "failed-payment", Title: "Payment of " + shown.Customer, Crumb: crumb, Content: p})
}

// ask says what an action would do.
func (m *room) ask(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	a, err := actionOf(r)
	if err != nil {
		return err
	}
	c, err := m.read(r, v)
	if err != nil {
		return err
	}
	return v.Ask(w, r, m.question(v, a, c), nil)
}

func (m *room) question(v dashboard.Visit, a action, c billing.Record) dashboard.Question {
	return dashboard.Question{
		Title: a.title, Back: path, Says: a.says(m, v, c), Hidden: map[string]string{"version": strconv.FormatInt(c.Version, 10)},
		Path: fmt.Sprintf("%s/%d/%s", path, c.ID, a.name), Button: a.button, Keep: a.keep, Grave: a.name == "skip",
	}
}

// act does what was asked about, if the order is as its reader has seen it.
func (m *room) act(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	a, err := actionOf(r)
	if err != nil {
		return err
	}
	c, err := m.read(r, v)
	if err != nil {
		return err
	}
	if r.PostForm.Get("version") != strconv.FormatInt(c.Version, 10) {
		err = fault.New(fault.Conflict, "the order has changed since the page was opened: this is what holds now").Code("changedMeanwhile")
	} else {
		err = a.do(r.Context(), m, v, c, command.Declined{Line: c.Of.Line, Attempt: c.ID, Actor: v.Actor(r)})
	}
	if err != nil {
		return v.Ask(w, r, m.question(v, a, c), dashboard.AtForm(err, func(_, message string) (string, string) { return "", message }))
	}
	return v.Go(w, path, a.done)
}

// read returns the open case that a path names.
func (m *room) read(r *http.Request, v dashboard.Visit) (billing.Record, error) {
	id, err := strconv.ParseInt(r.PathValue("attempt"), 10, 64)
	if err != nil {
		return billing.Record{}, dashboard.PathNotFound()
	}
	var c billing.Record
	for _, line := range []shop.Line{shop.Subscriptions, shop.Memberships} {
		if c, err = m.Cases.Attempt(r.Context(), v.Shop.ID, line, billing.AttemptID(id)); !fault.Is(err, fault.NotFound) {
			break
		}
	}
	if err == nil && !c.Dunning.State.Live() {
		err = fault.New(fault.FailedPrecondition, "the payment of this order is no longer open: it was paid, skipped or given up").Code("caseClosed")
	}
	return c, err
}

func actionOf(r *http.Request) (action, error) {
	for _, a := range actions() {
		if a.name == r.PathValue("action") {
			return a, nil
		}
	}
	return action{}, dashboard.PathNotFound()
}
