package words

import (
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/web/portal"
)

// Urgency is how soon a banner needs its reader: the most urgent first.
type Urgency int

// The urgencies.
const (
	Unpaid Urgency = iota
	Unconfirmed
	CardExpires
	OutOfStock
	BoxIncomplete
	PriceChanges
)

// Notice is a banner about a contract.
type Notice struct {
	Urgency
	portal.Banner
}

// Notices returns what needs the attention of a contract's subscriber, the most urgent first.
func Notices(v portal.Visit, s overview.Sheet) []Notice {
	if s.Contract.Terminated() {
		return nil
	}
	var list []Notice
	for _, of := range []func(portal.Visit, overview.Sheet) (Notice, bool){unpaid, unconfirmed, cardExpires, outOfStock, boxIncomplete, priceChanges} {
		if n, applies := of(v, s); applies {
			list = append(list, n)
		}
	}
	return list
}

// Path returns the path of a contract's screens.
func Path(c contract.ID) string { return fmt.Sprintf("/s/%d", c) }

// OrderPath returns the path of an order's screens.
func OrderPath(a billing.Attempt) string { return fmt.Sprintf("/s/%d/orders/%d", a.Contract, a.ID) }

// unpaid is about an order that was declined and is charged again, or waits for its subscriber.
func unpaid(v portal.Visit, s overview.Sheet) (Notice, bool) {
	o := s.Unpaid
	if o == nil {
		return Notice{}, false
	}
	class, _ := dunning.ClassOf(o.ErrorCode)
	if class == dunning.Stock || class == dunning.Auth {
		return Notice{}, false
	}
	name, amount := Name(v, s.Contract), Cost(v, o.Record)
	n := Notice{Unpaid, portal.Banner{Tone: portal.Bad, Title: v.T("banner.unpaid.title", "amount", amount)}}
	since := s.Contract.Dunning.Since
	reason := Reason(v, o.ErrorCode)
	if again := s.Contract.Dunning.RetryAt; again.IsZero() {
		n.Text = v.T("banner.unpaid.waits", "product", name, "day", v.Day(since), "reason", reason)
	} else {
		n.Text = v.T("banner.unpaid.retry", "product", name, "day", v.Day(since), "reason", reason, "again", v.Day(again))
	}
	n.Actions = paying(v, s, *o)
	return n, true
}

// paying are the actions with which an order is paid.
func paying(v portal.Visit, s overview.Sheet, o overview.Order) []portal.Action {
	var list []portal.Action
	about := v.T("action.about", "product", Name(v, s.Contract))
	if s.Can.Allows(do.EditPaymentMethod) && v.View.Has("/s/{contract}/payment") {
		list = append(list, portal.Action{Text: v.T("action.updatePayment"), About: about, Path: Path(s.Contract.ID) + "/payment", Main: true})
	}
	if o.Can.Allows(do.RetryPayment) {
		list = append(list, portal.Action{Text: v.T("action.retry"), About: about, Path: OrderPath(o.Attempt) + "/now", Asks: true, Main: len(list) == 0})
	}
	return list
}

// unconfirmed is about an order that the bank wants its customer to confirm.
func unconfirmed(v portal.Visit, s overview.Sheet) (Notice, bool) {
	for _, o := range append(s.Upcoming, unpaidOf(s)...) {
		class, _ := dunning.ClassOf(o.ErrorCode)
		waits := o.Status == billing.Challenge
		if !waits && !(o.Status == billing.Failure && class == dunning.Auth) {
			continue
		}
		n := Notice{Unconfirmed, portal.Banner{Tone: portal.Bad, Title: v.T("banner.confirm.title", "amount", Cost(v, o.Record))}}
		n.Text = v.T("banner.confirm.text", "product", Name(v, s.Contract))
		if waits && o.ActionURL != "" {
			n.Actions = []portal.Action{{Text: v.T("action.confirm"), Path: OrderPath(o.Attempt) + "/confirm", Main: true}}
		} else if o.Status == billing.Failure {
			n.Actions = paying(v, s, o)
		}
		return n, true
	}
	return Notice{}, false
}

func unpaidOf(s overview.Sheet) []overview.Order {
	if s.Unpaid == nil {
		return nil
	}
	return []overview.Order{*s.Unpaid}
}

// expiresSoon is how long before its end a card is reported, unless the next order comes later.
const expiresSoon = 31 * 24 * time.Hour

// cardExpires is about a card that ends before the next order, or soon.
func cardExpires(v portal.Visit, s overview.Sheet) (Notice, bool) {
	card := s.Contract.Card
	if card.ExpiryYear == 0 || !s.Contract.PaymentUsable || s.Unpaid != nil {
		return Notice{}, false
	}
	end := time.Date(card.ExpiryYear, time.Month(card.ExpiryMonth)+1, 1, 0, 0, 0, 0, v.Calendar.Zone)
	next, comes := s.Next()
	if !comes || !end.Before(v.Now.Add(expiresSoon)) && !end.Before(next.BillingDate) {
		return Notice{}, false
	}
	n := Notice{CardExpires, portal.Banner{Tone: portal.Hold}}
	n.Title = v.T("banner.card.title", "card", Payment(v, s.Contract))
	n.Text = v.T("banner.card.text", "amount", Cost(v, next.Record), "day", v.Day(next.BillingDate), "product", Name(v, s.Contract))
	if v.View.Has("/s/{contract}/payment") {
		n.Actions = []portal.Action{{Text: v.T("action.updatePayment"), Path: Path(s.Contract.ID) + "/payment"}}
	}
	return n, true
}

// outOfStock is about an order that waits for a product.
func outOfStock(v portal.Visit, s overview.Sheet) (Notice, bool) {
	if s.Unpaid == nil {
		return Notice{}, false
	}
	if class, _ := dunning.ClassOf(s.Unpaid.ErrorCode); class != dunning.Stock {
		return Notice{}, false
	}
	n := Notice{OutOfStock, portal.Banner{Tone: portal.Hold, Title: v.T("banner.stock.title")}}
	if again := s.Contract.Dunning.RetryAt; again.IsZero() {
		n.Text = v.T("banner.stock.waits", "product", Name(v, s.Contract), "amount", Cost(v, s.Unpaid.Record))
	} else {
		n.Text = v.T("banner.stock.retry", "product", Name(v, s.Contract), "amount", Cost(v, s.Unpaid.Record), "again", v.Day(again))
	}
	return n, true
}

// boxIncomplete is about an order that waits for its box to be completed, or will.
func boxIncomplete(v portal.Visit, s overview.Sheet) (Notice, bool) {
	next, comes := s.Next()
	if !comes || next.Incomplete() == nil {
		return Notice{}, false
	}
	n := Notice{BoxIncomplete, portal.Banner{Tone: portal.Hold, Title: v.T("banner.box.title")}}
	n.Text = v.T("banner.box.text", "problem", v.Sentence(next.Incomplete()), "day", v.Day(next.BillingDate))
	if v.View.Has("/s/{contract}/box") {
		n.Actions = []portal.Action{{Text: v.T("action.box"), Path: Path(s.Contract.ID) + "/box", Main: true}}
	}
	return n, true
}

// priceChanges is about the first order to come whose products cost something else than those of
// the order before it.
func priceChanges(v portal.Visit, s overview.Sheet) (Notice, bool) {
	next, comes := s.Next()
	if !comes {
		return Notice{}, false
	}
	after, comes := s.After(next.Attempt)
	if !comes {
		return Notice{}, false
	}
	now := next.LinesOf()
	for _, l := range after.LinesOf() {
		at := slices.IndexFunc(now, func(was contract.LineItem) bool { return was.ID == l.ID && was.VariantID == l.VariantID })
		if l.ID == "" || at < 0 || now[at].Price == l.Price {
			continue
		}
		n := Notice{PriceChanges, portal.Banner{Tone: portal.Hold, Title: v.T("banner.price.title", "product", l.Title)}}
		n.Text = v.T("banner.price.text", "day", v.Day(after.BillingDate), "from", Amount(v, now[at].Price), "to", Amount(v, l.Price))
		return n, true
	}
	return Notice{}, false
}
