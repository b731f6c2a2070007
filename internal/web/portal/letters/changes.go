package letters

import (
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// changeKeys are the keys of the texts about each change.
var changeKeys = map[notify.Kind]string{
	notify.Paused: "mail.paused", notify.Resumed: "mail.resumed", notify.OrderSkipped: "mail.skipped", notify.NextDate: "mail.moved",
	notify.Frequency: "mail.frequency", notify.Address: "mail.address", notify.ProductAdded: "mail.added", notify.ProductRemoved: "mail.removed",
	notify.ProductReplaced: "mail.replaced", notify.PriceUpdated: "mail.price",
}

// args returns what the texts about a change name.
func (m matter) args() []any {
	v, c := m.visit, m.sheet.Contract
	args := []any{"product", words.Name(v, c)}
	switch m.Kind {
	case notify.OrderSkipped:
		return append(args, "day", v.Day(m.order.BillingDate), "amount", words.Cost(v, m.order.Record))
	case notify.NextDate:
		from, to := m.dates()
		return append(args, "was", v.Day(from), "day", v.Day(to))
	case notify.Frequency:
		return append(args, "every", words.Every(v, c.Billing))
	case notify.ProductAdded, notify.ProductRemoved, notify.ProductReplaced:
		args = append(args, "item", m.item())
		if m.announces() {
			args = append(args, "was", m.visit.Words.List(titles(m.Facts.Change.Removed)), "day", v.Day(m.Facts.Change.AppliesAt))
		}
	case notify.PriceUpdated:
		args = append(args, "item", m.item(), "to", m.price())
		if m.announces() {
			args = append(args, "day", v.Day(m.Facts.Change.AppliesAt))
		}
	}
	return args
}

// item names the product that a change is about.
func (m matter) item() string {
	change := m.Facts.Change
	if change.Title != "" {
		return change.Title
	}
	if len(change.Added) == 0 {
		return words.Name(m.visit, m.sheet.Contract)
	}
	return m.visit.Words.List(titles(change.Added))
}

// titles names products.
func titles(list []notify.Product) []string {
	names := make([]string, len(list))
	for i, p := range list {
		names[i] = p.Title
	}
	return names
}

// price returns what a line costs now, or will cost.
func (m matter) price() string {
	if m.announces() {
		if to, err := money.Parse(m.Facts.Change.Price, m.sheet.Contract.Currency); err == nil {
			return words.Amount(m.visit, to)
		}
	}
	for _, l := range m.sheet.Contract.Lines {
		if l.ID == m.Facts.Change.Line || l.VariantID == m.Facts.Change.Variant {
			return words.Amount(m.visit, l.Price)
		}
	}
	return m.Facts.Change.Price
}

// announces reports whether a change is one of later orders.
func (m matter) announces() bool {
	return (m.Kind == notify.PriceUpdated || m.Kind == notify.ProductReplaced) && !m.Facts.Change.AppliesAt.IsZero()
}

// key returns the key of the texts about a change.
func (m matter) key() string {
	switch {
	case !m.announces():
	case m.Kind == notify.ProductReplaced:
		return "mail.replacing"
	default:
		return "mail.announced"
	}
	return changeKeys[m.Kind]
}

// sentence returns the change in one sentence.
func (m matter) sentence() string { return m.visit.T(m.key()+".text", m.args()...) }

// changed is about one change.
func (p *page) changed(m matter) {
	v, c := m.visit, m.sheet.Contract
	p.title(v, m.key(), m.args()...)
	p.say(m.sentence())
	p.manage(m)
	switch m.Kind {
	case notify.Paused:
		if c.Resumes() {
			p.say(v.T("mail.paused.until", "day", v.Day(c.Pause.Until)))
		} else {
			p.say(v.T("mail.paused.open"))
		}
	case notify.PriceUpdated:
		if gone := m.Facts.Change.Removed; len(gone) > 0 {
			p.say(v.T("item.instead", "product", m.visit.Words.List(titles(gone))))
		}
	case notify.Address:
		p.add(v.T("mail.address.other"), p.Help)
	}
	p.showNext(m)
}

// showNext shows the order that comes next.
func (p *page) showNext(m matter) {
	next, comes := m.sheet.Next()
	if panel := m.next(); panel != nil && comes {
		is := orderOf(m.visit, m.sheet, next)
		is.Panel = panel
		p.Orders = append(p.Orders, is)
	}
}

// changes is about several changes of one contract.
func changes(list []matter) page {
	m := list[len(list)-1]
	p, v := m.page(), m.visit
	p.title(v, "mail.changes", "n", len(list), "product", words.Name(v, m.sheet.Contract))
	p.say(v.T("mail.changes.text"))
	for _, is := range list {
		p.Changes = append(p.Changes, is.sentence())
	}
	p.manage(m)
	p.showNext(m)
	return p
}
