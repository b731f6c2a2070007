package words

import (
	"slices"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/web/portal"
)

// Items returns the products of an order.
func Items(v portal.Visit, o billing.Record) []portal.Item {
	lines := o.LinesOf()
	recurring := len(lines)
	if !o.Settled() {
		recurring -= len(o.OneOffs)
	}
	var items []portal.Item
	for i, l := range lines {
		item := Item(v, o.Of, l)
		if i >= recurring {
			item.Note, item.Before = v.T("item.once"), ""
		}
		if is, other := replaced(o, l); other {
			item.Note = v.T("item.instead", "product", is.Title)
		}
		items = append(items, item)
	}
	return items
}

// replaced returns the line of the contract whose product a swap rule exchanges in an order to come.
func replaced(o billing.Record, l contract.LineItem) (contract.LineItem, bool) {
	at := slices.IndexFunc(o.Of.Lines, func(is contract.LineItem) bool { return is.ID == l.ID })
	if l.ID == "" || at < 0 || o.Status != billing.Queued {
		return contract.LineItem{}, false
	}
	return o.Of.Lines[at], o.Of.Lines[at].VariantID != l.VariantID
}

// Item returns a line of an order of a contract.
func Item(v portal.Visit, c contract.Contract, l contract.LineItem) portal.Item {
	n := int64(l.Quantity)
	item := portal.Item{Title: l.Title, Image: l.Image, Price: Amount(v, l.Price.Times(n)), About: v.T("item.quantity", "n", l.Quantity)}
	if l.VariantTitle != "" {
		item.About = v.T("item.variant", "variant", l.VariantTitle, "n", l.Quantity)
	}
	same := slices.ContainsFunc(c.Lines, func(is contract.LineItem) bool { return is.ID == l.ID && is.VariantID == l.VariantID })
	if base := c.Pricing[l.ID].Base; same && base.Minor > l.Price.Minor {
		item.Before = Amount(v, base.Times(n))
	}
	return item
}

// Bill returns what an order comes to: its items, what is taken off, delivery, and the total before
// taxes.
func Bill(v portal.Visit, o billing.Record) []portal.Sum {
	c, total := o.Of, o.Cost()
	items := money.Amount{Currency: total.Currency}
	for _, l := range o.LinesOf() {
		items = items.Plus(l.Price.Times(int64(l.Quantity)))
	}
	bill := []portal.Sum{{Name: v.T("bill.items"), Amount: Amount(v, items)}}
	if off := items.Minor + c.DeliveryPrice.Minor - total.Minor; off > 0 {
		bill = append(bill, portal.Sum{Name: v.T("bill.discounts"), Amount: Amount(v, money.Amount{Minor: -off, Currency: total.Currency})})
	}
	if c.DeliveryPrice.Minor > 0 {
		bill = append(bill, portal.Sum{Name: v.T("bill.delivery"), Amount: Amount(v, c.DeliveryPrice)})
	}
	return append(bill, portal.Sum{Name: v.T("bill.total"), Amount: Amount(v, total), Total: true})
}

// reasons are the keys of why an order was declined, by class.
var reasons = map[dunning.Class]string{
	dunning.Funds: "reason.funds", dunning.Issuer: "reason.issuer", dunning.Transient: "reason.transient", dunning.Auth: "reason.auth", dunning.Card: "reason.card",
	dunning.Fraud: "reason.issuer", dunning.Stock: "reason.stock", dunning.Address: "reason.address", dunning.Merchant: "reason.store", dunning.Gone: "reason.store",
	dunning.Done: "reason.store",
}

// Reason returns in plain words why an order was declined.
func Reason(v portal.Visit, code string) string {
	class, _ := dunning.ClassOf(code)
	switch code {
	case "EXPIRED_CARD", "EXPIRED_PAYMENT_METHOD":
		return v.T("reason.expired")
	}
	return v.T(reasons[class])
}

// outcomes are the chips of orders, by status: the key of their text, and their tone.
var outcomes = map[billing.Status]struct {
	text string
	tone portal.Tone
}{
	billing.Success: {"order.paid", portal.Good}, billing.Failure: {"order.declined", portal.Bad}, billing.Skipped: {"order.skipped", portal.Hold},
	billing.Requesting: {"order.processing", portal.Neutral}, billing.Progress: {"order.processing", portal.Neutral}, billing.PlatformException: {"order.processing", portal.Neutral},
	billing.Challenge: {"order.confirm", portal.Bad}, billing.Queued: {"order.planned", portal.Neutral},
	billing.SkippedDunning: {"order.unpaid", portal.Neutral}, billing.ContractPaused: {"order.paused", portal.Neutral}, billing.ContractCancelled: {"order.notMade", portal.Neutral},
	billing.ContractEnded: {"order.notMade", portal.Neutral}, billing.ConnectionGone: {"order.notMade", portal.Neutral}, billing.AutoChargeDisabled: {"order.notMade", portal.Neutral},
}

// Outcome returns what became of an order.
func Outcome(v portal.Visit, a billing.Attempt) portal.Chip {
	is := outcomes[a.Status]
	if a.Status == billing.Success && a.HadCase() {
		return portal.Chip{Tone: portal.Hold, Text: v.T("order.declinedThenPaid")}
	}
	return portal.Chip{Tone: is.tone, Text: v.T(is.text)}
}

// Closes says until when an order can be changed; "" when that is no question.
func Closes(v portal.Visit, s overview.Sheet, o overview.Order) string {
	if s.Settings.CutoffDays == 0 {
		return ""
	}
	at := v.Local(s.Settings.ClosesAt(o.BillingDate, v.Calendar))
	args := []any{"day", v.Words.Date(at), "time", v.Words.Time(at)}
	if s.Now.Before(at) {
		return v.T("order.closes", args...)
	}
	return v.T("order.closed", args...)
}
