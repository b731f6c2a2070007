package letters

import (
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// values returns what templates may name, for a letter about a matter. What a letter has no value
// for is nil.
func (m matter) values(p page) map[string]any {
	v, c := m.visit, m.sheet.Contract
	links := map[string]any{"manage": nil, "update_payment": nil, "skip": nil, "preferences": nil, "unsubscribe": p.Unsubscribe, "sign_in": nil}
	switch {
	case m.Facts.Link != nil:
		links["sign_in"] = m.Facts.Link.URL
	case m.notice != nil:
		links["manage"], links["preferences"] = string(p.Button.URL), string(at(v, "/preferences"))
	default:
		links["manage"], links["update_payment"] = string(at(v, words.Path(c.ID))), string(at(v, words.Path(c.ID)+"/payment"))
		links["preferences"] = string(at(v, "/preferences"))
	}
	order := map[string]any{"name": nil, "date": nil, "total": nil, "items": []any{}}
	if m.order != nil && m.order.ID != 0 {
		order["name"], order["date"], order["total"] = m.order.OrderName, v.Day(m.order.BillingDate), words.Cost(v, m.order.Record)
		links["skip"] = string(at(v, words.OrderPath(m.order.Attempt)+"/skip"))
		var items []any
		for _, i := range words.Items(v, m.order.Record) {
			items = append(items, object("item", map[string]any{"title": i.Title, "about": i.About, "price": i.Price}))
		}
		order["items"] = items
	}
	next := any(nil)
	if o, comes := m.sheet.Next(); comes {
		next = v.Day(o.BillingDate)
	}
	failure := map[string]any{"reason": nil, "next_retry_date": nil, "end_date": nil, "final_action": nil}
	if d := m.Facts.Decline; d != nil && m.order != nil {
		failure["reason"], failure["next_retry_date"], failure["end_date"], failure["final_action"] = words.Reason(v, m.order.ErrorCode), v.Day(d.RetryAt), v.Day(d.EndAt), string(d.Action)
	}
	card := any(nil)
	payment := ""
	if c.ID != 0 {
		payment = words.Payment(v, c)
		if c.Card.LastDigits != "" {
			card = c.Card.LastDigits
		}
	}
	logo := any(nil)
	if p.Store.Logo != "" {
		logo = p.Store.Logo
	}
	button := any(nil)
	if p.Button != nil {
		button = block("button")
	}
	item := any(nil)
	if m.Facts.Change != nil && c.ID != 0 {
		item = m.item()
	}
	subscription := map[string]any{
		"id": int64(c.ID), "status": string(c.Status), "name": words.Name(v, c), "frequency_text": words.Often(v, c), "next_order_date": next, "min_cycles": int64(c.MinCycles),
		"completed_cycles": int64(c.Orders), "is_prepaid": c.Prepaid(), "is_membership": c.Line == shop.Memberships,
	}
	points := noPoints()
	if m.notice != nil { // it is about no contract
		points = m.news().values()
		for name := range subscription {
			subscription[name] = nil
		}
	}
	return map[string]any{
		"shop":         object("shop", map[string]any{"name": p.Store.Name, "url": p.Store.URL, "logo_url": logo, "locale": v.View.Lang()}),
		"customer":     object("customer", map[string]any{"first_name": c.Customer.FirstName, "last_name": c.Customer.LastName, "display_name": c.Customer.Name, "email": c.Customer.Email}),
		"subscription": object("subscription", subscription),
		"order":        object("order", order),
		"payment":      object("payment", map[string]any{"method": payment, "last4": card}),
		"failure":      object("failure", failure),
		"loyalty":      object("loyalty", points),
		"change":       object("change", map[string]any{"item": item}),
		"links":        object("links", links),
		"letter": object("letter", map[string]any{
			"subject": p.Subject, "heading": p.Heading, "hello": p.Hello, "text": fragment(append([]string{p.Hello}, p.Says...)...), "orders": block("orders"), "button": button, "notes": noteHTML(p.Notes),
		}),
	}
}
