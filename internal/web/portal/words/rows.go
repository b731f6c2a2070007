package words

import (
	"strings"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/portal"
)

// Row is an order in a list. Template "rows" shows a list of them.
type Row struct {
	Day     string
	Amount  string
	Off     bool        // it does not come
	Chip    portal.Chip // no text: none
	Text    string
	Links   []portal.Action
	Undo    *portal.Form
	Name    string // of the order that was made
	Address string // where it is shown; empty: nowhere
}

// Upcoming returns the orders to come, at most so many.
func Upcoming(v portal.Visit, s overview.Sheet, most int) []Row {
	var rows []Row
	for _, o := range s.Upcoming[:min(most, len(s.Upcoming))] {
		rows = append(rows, row(v, s, o))
	}
	return rows
}

func row(v portal.Visit, s overview.Sheet, o overview.Order) Row {
	is := Row{Day: v.Day(o.BillingDate), Amount: Cost(v, o.Record)}
	about := v.T("action.ofOrder", "day", is.Day)
	switch {
	case o.Status == billing.Skipped:
		is.Off, is.Chip, is.Text = true, Outcome(v, o.Attempt), v.T("order.skippedText")
		if o.Can.Allows(do.Unskip) {
			is.Undo = unskip(v, o)
			is.Undo.About = about
		}
		return is
	case o.Status.InFlight():
		is.Chip, is.Text = Outcome(v, o.Attempt), v.T("order.locked")
		return is
	}
	is.Text = with(v, o)
	for _, a := range Actions(v, s, o) {
		if a.Icon != "now" && a.Icon != "add" {
			a.Icon = ""
			is.Links = append(is.Links, a)
		}
	}
	if v.View.Has("/s/{contract}/orders/{attempt}") && (o.Can.Allows(do.AddOneTime) || o.Can.Allows(do.EditOneTime) && len(o.OneOffs) > 0) {
		is.Links = append(is.Links, portal.Action{Text: v.T("action.editOrder"), About: about, Path: OrderPath(o.Attempt)})
	}
	if refusal := o.Can[do.Skip]; refusal != nil && o.Can.Offers(do.Skip) {
		is.Text = join(is.Text, Refusal(v, refusal.ErrorKey, s, o))
	}
	return is
}

// with names the products that only one order has.
func with(v portal.Visit, o overview.Order) string {
	var names []string
	for _, p := range o.OneOffs {
		names = append(names, p.Variant.ProductTitle)
	}
	if len(names) == 0 {
		return ""
	}
	return v.T("order.with", "products", v.Words.List(names))
}

func join(a, b string) string { return strings.TrimSpace(a + " " + b) }

// Refusal says why an order cannot be changed; "" where its row says so already.
func Refusal(v portal.Visit, key string, s overview.Sheet, o overview.Order) string {
	switch key {
	case "cutoffPassed":
		return Closes(v, s, o)
	case "skipTooFar":
		return v.T("order.tooFar")
	}
	return ""
}

// PastRow returns an order that is over.
func PastRow(v portal.Visit, c contract.Contract, a billing.Attempt) Row {
	is := Row{Day: v.ShortDay(a.BillingDate), Chip: Outcome(v, a), Name: a.OrderName, Amount: Cost(v, billing.Record{Attempt: a, Of: c})}
	switch {
	case a.Status == billing.Success && a.HadCase():
		is.Text = v.T("order.recovered", "day", v.Day(a.UpdatedAt))
	case a.Status == billing.Failure:
		is.Text = Reason(v, a.ErrorCode)
	case a.Status != billing.Success:
		is.Amount = Amount(v, money.Amount{Currency: c.Currency})
	}
	return is
}

// Often returns how often orders come: "Every 2 weeks, on Wednesday".
func Often(v portal.Visit, c contract.Contract) string {
	if c.Prepaid() {
		return v.T("often.prepaid", "every", Every(v, c.Delivery), "n", int(c.Deliveries()))
	}
	return v.T("often.text", "every", Every(v, c.Billing))
}

// Level returns the plan that a membership is on; "" for a subscription.
func Level(c contract.Contract) string {
	if c.Line != shop.Memberships || len(c.Lines) == 0 {
		return ""
	}
	return c.Lines[0].SellingPlanName
}

// LineName returns how addresses name a line: by the last part of its graph id.
func LineName(id string) string { return id[strings.LastIndexByte(id, '/')+1:] }
