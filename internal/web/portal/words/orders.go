package words

import (
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/bundle"
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
		if is, other := o.Replaced(l); other {
			item.Note = v.T("item.instead", "product", is.Title)
		}
		items = append(items, item)
	}
	return items
}

// Item returns a line of an order of a contract.
func Item(v portal.Visit, c contract.Contract, l contract.LineItem) portal.Item {
	n := int64(l.Quantity)
	item := portal.Item{Title: l.Title, Image: l.Image, Price: Amount(v, l.Price.Times(n)), About: v.T("item.quantity", "n", l.Quantity)}
	if l.VariantTitle != "" {
		item.About = v.T("item.variant", "variant", l.VariantTitle, "n", l.Quantity)
	}
	at := c.LineByID(l.ID)
	if base := c.Pricing[l.ID].Base; at >= 0 && c.Lines[at].VariantID == l.VariantID && base.Minor > l.Price.Minor {
		item.Before = Amount(v, base.Times(n))
	}
	return item
}

// Bill returns what an order comes to: its items, what is taken off, delivery, and the total before
// taxes.
func Bill(v portal.Visit, o billing.Record) []portal.Sum {
	order, total := o.Order(), o.Cost()
	is := order.Bill
	bill := []portal.Sum{{Name: v.T("bill.items"), Amount: Amount(v, is.Items)}}
	off := is.Items.Minor + is.Delivery.Minor - total.Minor
	if box := order.Box; box != nil && box.Off().Minor <= off {
		off -= box.Off().Minor
		bill = append(bill, portal.Sum{Name: BoxPrice(v, *box), Amount: Amount(v, money.Amount{Minor: -box.Off().Minor, Currency: total.Currency})})
	}
	if off > 0 {
		bill = append(bill, portal.Sum{Name: v.T("bill.discounts"), Amount: Amount(v, money.Amount{Minor: -off, Currency: total.Currency})})
	}
	if is.Delivery.Minor > 0 {
		bill = append(bill, portal.Sum{Name: v.T("bill.delivery"), Amount: Amount(v, is.Delivery)})
	}
	return append(bill, portal.Sum{Name: v.T("bill.total"), Amount: Amount(v, total), Total: true})
}

// BoxPrice says why the products of a box cost less than together.
func BoxPrice(v portal.Visit, is bundle.Price) string {
	if is.Fixed {
		return v.T("bill.box")
	}
	return v.T("bill.box.tier", "n", is.Pieces, "percent", v.Words.Percent(is.Tier.Percent))
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
