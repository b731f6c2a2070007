package contract

import (
	"fmt"
	"hash/fnv"
)

// Fingerprint changes with what people see of a contract when they decide to change it: its status,
// products, prices, dates, discounts and payment. Version also changes with writes that show nothing,
// such as the reading that follows a webhook about a change that is known, and would refuse a form
// that was shown a moment before. A fingerprint is from 1 to 2^53 - 1, so that a client in JavaScript
// reads it exactly.
func (c Contract) Fingerprint() int64 {
	h := fnv.New64a()
	add := func(values ...any) { _, _ = fmt.Fprintf(h, "%q\n", fmt.Sprint(values...)) } // writing to a hash cannot fail
	add(c.Status, c.Currency, c.Customer.ID, c.Note, c.AutoCharge, c.MinCycles, c.MaxCycles, c.Orders, c.NextBillingDate.UnixMilli())
	add(c.PaymentMethod, c.PaymentUsable, c.Card.LastDigits, c.Card.ExpiryMonth, c.Card.ExpiryYear, c.DeliveryPrice)
	for _, p := range []Policy{c.Billing, c.Delivery} {
		add(p.Interval, p.Count, p.Anchors)
	}
	for _, l := range c.Lines {
		add(l.ID, l.VariantID, l.Quantity, l.Price, l.SellingPlanID)
	}
	for _, d := range c.Discounts {
		add(d.ID, d.Code, d.Percent, d.Amount, d.FreeShipping, d.CycleLimit, d.UsedCycles, d.RejectedWhy)
	}
	if p := c.Pause; p != nil {
		add(p.Until.UnixMilli())
	}
	if e := c.Ending; e != nil {
		add(e.Why, e.Cycle, e.At.UnixMilli())
	}
	if p := c.Pending; p != nil {
		add(p.Line, p.Variant, p.At.UnixMilli())
	}
	if d := c.Dunning; d != nil {
		add(d.Attempt, d.State, d.Tries)
	}
	return max(1, int64(h.Sum64()>>11))
}
