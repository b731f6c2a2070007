package cancelling

import (
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/domain/retention/session"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// offer is the one offer of a session, in words.
type offer struct {
	Title   string
	Says    []string
	Steps   []portal.Step
	Choices []choice
	Contact string
	Button  string
}

// choice is one of the things that an offer can be.
type choice struct {
	Value, Name, About, Image, Price string
	Selected                         bool
}

// offerOf says what accepting the offer does, when, and for how much.
func offerOf(v portal.Visit, is session.View) offer {
	p := *is.Offer
	next, amount := v.Day(p.Next), amountOf(v, p.Pays)
	var o offer
	for i, c := range p.Choices {
		one := choice{Value: c.Key, Name: c.Title, Image: c.Image, Price: amountOf(v, c.Pays), Selected: i == 0}
		if p.Kind == flow.Quantity {
			one.About = v.T("cancel.offer.pieces", "n", c.Quantity)
		}
		o.Choices = append(o.Choices, one)
	}
	switch p.Kind {
	case flow.Skip:
		o.Title, o.Button = v.T("cancel.offer.skip.title", "n", p.Orders), v.T("cancel.offer.skip.button", "n", p.Orders)
		for _, s := range p.Skips {
			o.Steps = append(o.Steps, portal.Step{Name: v.T("steps.off"), Day: v.ShortDay(s.Date), Amount: amountOf(v, s.Amount), Kind: "off"})
		}
		if next != "" {
			o.Steps = append(o.Steps, portal.Step{Name: v.T("steps.next"), Day: v.ShortDay(p.Next), Amount: amount, Kind: "now"})
			o.Says = append(o.Says, v.T("cancel.offer.skip.text", "day", next))
		}
	case flow.Pause:
		o.Title, o.Button = v.T("cancel.offer.pause.title", "day", v.Day(p.Until)), v.T("cancel.offer.pause.button", "day", v.Day(p.Until))
		o.Says = append(o.Says, v.T("cancel.offer.pause.text", "day", v.Day(p.Until)))
	case flow.Discount:
		o.Title, o.Button = v.T("cancel.offer.discount.title", "discount", discountOf(v, p), "n", p.Orders), v.T("cancel.offer.discount.button")
		o.Says = append(o.Says, v.T("cancel.offer.discount.text", "day", next, "amount", amount, "was", amountOf(v, p.Was)))
	case flow.Swap:
		o.Title, o.Button = v.T("cancel.offer.swap.title"), v.T("cancel.offer.swap.button")
		o.Says = append(o.Says, v.T("cancel.offer.swap.text", "day", next))
	case flow.Frequency:
		o.Title, o.Button = v.T("cancel.offer.frequency.title"), v.T("cancel.offer.frequency.button")
		o.Says = append(o.Says, v.T("cancel.offer.frequency.text", "now", words.Every(v, is.Contract.Billing)))
	case flow.Quantity:
		o.Title, o.Button = v.T("cancel.offer.quantity.title"), v.T("cancel.offer.quantity.button")
		o.Says = append(o.Says, v.T("cancel.offer.quantity.text", "was", amountOf(v, p.Was)))
	case flow.Reschedule:
		o.Title, o.Button = v.T("cancel.offer.reschedule.title", "day", next), v.T("cancel.offer.reschedule.button", "day", next)
		o.Says = append(o.Says, v.T("cancel.offer.reschedule.text", "day", v.Day(is.Effect.Next), "amount", amount))
	case flow.Sample:
		product := ""
		if len(p.Choices) > 0 {
			product = p.Choices[0].Title
		}
		o.Title, o.Button = v.T("cancel.offer.sample.title", "product", product), v.T("cancel.offer.sample.button")
		o.Says = append(o.Says, v.T("cancel.offer.sample.text", "day", next))
	case flow.Support:
		o.Title, o.Button, o.Contact = v.T("cancel.offer.support.title"), v.T("cancel.offer.support.button"), p.Contact
		o.Says = append(o.Says, v.T("cancel.offer.support.text"))
	case flow.PaymentLink:
		o.Title, o.Button = v.T("cancel.offer.link.title"), v.T("cancel.offer.link.button")
		o.Says = append(o.Says, v.T("cancel.offer.link.text", "email", is.Contract.Customer.Email))
	}
	return o
}

// amountOf writes an amount; "" for none.
func amountOf(v portal.Visit, a money.Amount) string {
	if a.Currency == "" {
		return ""
	}
	return words.Amount(v, a)
}

// discountOf writes what is taken off each order.
func discountOf(v portal.Visit, p session.Proposal) string {
	if p.Percent > 0 {
		return v.Words.Percent(float64(p.Percent))
	}
	return words.Amount(v, p.Amount)
}
