package words

import (
	"fmt"
	"time"

	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/portal"
)

// Next is the order that comes next: the card at the top of a screen.
type Next struct {
	Heading string
	Day     string
	At      string // the day, for programs
	Amount  string
	About   string
	Items   []portal.Item
	Bill    []portal.Sum
	Facts   []portal.Fact
	Actions []portal.Action
	Notes   []string
}

// NextOf returns the card of an order.
func NextOf(v portal.Visit, s overview.Sheet, o overview.Order) Next {
	c := s.Contract
	n := Next{
		Day: v.Day(o.BillingDate), At: v.Local(o.BillingDate).Format(time.DateOnly), Amount: Cost(v, o.Record),
		Items: Items(v, o.Record), Bill: Bill(v, o.Record), Actions: Actions(v, s, o),
	}
	n.Facts = append(n.Facts, portal.Fact{
		Name: v.T("facts.payment"), Text: Payment(v, c),
		Link: Changing(v, s, do.EditPaymentMethod, "/payment", v.T("action.change"), v.T("action.change.payment")),
	})
	if c.DeliveryCountry != "" {
		n.Facts = append(n.Facts, portal.Fact{
			Name: v.T("facts.delivery"), Text: c.Customer.Name, Link: Changing(v, s, do.EditAddress, "/address", v.T("action.change.address"), ""),
		})
	}
	if closes := Closes(v, s, o); closes != "" {
		n.Notes = append(n.Notes, closes)
	}
	if o.Status.InFlight() {
		n.Notes = append(n.Notes, v.T("order.locked"))
	}
	return n
}

// Committed says how many of the orders that a subscriber is committed to are completed; "" when
// they are committed to none.
func Committed(v portal.Visit, s overview.Sheet) string {
	c := s.Contract
	if c.Committed() == 0 || !c.InCommitment(s.Shop.Settings) {
		return ""
	}
	return v.T("order.committed", "done", c.Completed(), "n", c.MinCycles)
}

// Changing is the link to a screen that changes a contract, by its path below the contract's; nil
// where there is none or it may not be used now.
func Changing(v portal.Visit, s overview.Sheet, a do.Action, path, text, about string) *portal.Action {
	if !s.Can.Allows(a) || !v.View.Has("/s/{contract}"+path) {
		return nil
	}
	return &portal.Action{Text: text, About: about, Path: Path(s.Contract.ID) + path}
}

// Actions returns what can be done about an order.
func Actions(v portal.Visit, s overview.Sheet, o overview.Order) []portal.Action {
	about := v.T("action.ofOrder", "day", v.Day(o.BillingDate))
	at := OrderPath(o.Attempt)
	var list []portal.Action
	add := func(a do.Action, pattern string, is portal.Action) {
		if o.Can.Allows(a) && v.View.Has(pattern) {
			is.About = about
			list = append(list, is)
		}
	}
	skip := v.T("action.skip")
	if s.Contract.Prepaid() {
		skip = v.T("action.skipPayment")
	}
	add(do.Skip, "/s/{contract}/orders/{attempt}/skip", portal.Action{Text: skip, Icon: "skip", Path: at + "/skip", Asks: true})
	add(do.Reschedule, "/s/{contract}/reschedule", portal.Action{Text: v.T("action.reschedule"), Icon: "date", Path: fmt.Sprintf("%s/reschedule?order=%d", Path(s.Contract.ID), o.ID)})
	if s.Contract.Line != shop.Memberships { // nothing is sent that a product could come with
		add(do.AddOneTime, "/s/{contract}/orders/{attempt}/add", portal.Action{Text: v.T("action.addProduct"), Icon: "add", Path: at + "/add"})
	}
	add(do.OrderNow, "/s/{contract}/orders/{attempt}/now", portal.Action{Text: v.T("action.orderNow"), Icon: "now", Path: at + "/now", Asks: true})
	return list
}
