package letters

import (
	"html/template"
	"regexp"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/notify"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// compose returns the letter about matters that belong together; there is one at least.
func compose(list []matter) page {
	m := list[0]
	if len(list) > 1 && m.Kind != notify.UpcomingOrder {
		return changes(list)
	}
	p := m.page()
	switch m.Kind {
	case notify.UpcomingOrder:
		p.announce(list)
	case notify.SubscriptionCreated:
		p.welcome(m)
	case notify.ManagementLink:
		p.link(m)
	case notify.TransactionSuccess:
		p.paid(m)
	case notify.TransactionFailed, notify.SecurityChallenge, notify.OutOfStock, notify.SuspensionWarning:
		p.unpaid(m)
	case notify.Suspension:
		p.suspended(m)
	case notify.ExpiringCard:
		p.expires(m)
	case notify.Canceled:
		p.cancelled(m)
	case notify.StoreNews:
		p.tells(m)
	case notify.PointsEarned, notify.PointsExpiring, notify.TierReached, notify.RewardIssued, notify.Birthday:
		p.member(m.news())
	default:
		p.changed(m)
	}
	return p
}

// whys are the ends of the keys that say why a person gets a message.
var whys = map[notify.Kind]string{
	notify.SubscriptionCreated: "created", notify.UpcomingOrder: "upcoming", notify.TransactionSuccess: "paid", notify.TransactionFailed: "payment",
	notify.SecurityChallenge: "payment", notify.ExpiringCard: "payment", notify.OutOfStock: "stock", notify.SuspensionWarning: "payment", notify.Suspension: "payment",
	notify.Paused: "change", notify.Resumed: "change", notify.Canceled: "cancelled", notify.OrderSkipped: "change", notify.NextDate: "change", notify.Frequency: "change",
	notify.Address: "change", notify.ProductAdded: "change", notify.ProductRemoved: "change", notify.ProductReplaced: "change", notify.PriceUpdated: "price",
	notify.ManagementLink: "link", notify.PointsEarned: "points", notify.PointsExpiring: "points", notify.TierReached: "points", notify.RewardIssued: "points",
	notify.Birthday: "points", notify.StoreNews: "news",
}

// news returns what a matter reports to a loyalty member.
func (m matter) news() news {
	return news{Notice: *m.notice, kind: m.Kind, day: m.Facts.Points.Since, visit: m.visit}
}

// page returns a letter with what every letter has.
func (m matter) page() page {
	v := m.visit
	p := page{visit: v, Lang: v.View.Lang(), Dir: v.View.Dir(), Store: storeOf(v), Paint: paintOf(v.View.Look.Design), Why: v.T("mail.why." + whys[m.Kind])}
	if name := strings.TrimSpace(m.sheet.Contract.Customer.FirstName); name != "" {
		p.Hello = v.T("mail.hello", "name", name)
	} else {
		p.Hello = v.T("mail.helloAll")
	}
	if v.View.Look.Help != "" {
		p.Help = &anchor{v.T("mail.help"), template.URL(v.View.Look.Help)} //nolint:gosec // checked when it was set
	}
	if m.Facts.Link == nil {
		p.Preferences = &anchor{v.T("mail.preferences"), at(v, "/preferences")}
	}
	return p
}

// manage adds the button to the contract's screen.
func (p *page) manage(m matter) {
	p.Button = &anchor{p.visit.T("mail.manage"), at(p.visit, words.Path(m.Contract))}
}

// next returns the panel of the order that comes next; nil when none does.
func (m matter) next() *panel {
	next, comes := m.sheet.Next()
	if !comes || m.sheet.Contract.Status != contract.Active {
		return nil
	}
	v := m.visit
	return &panel{Label: v.T("mail.next"), Big: v.Day(next.BillingDate), Small: words.Cost(v, next.Record)}
}

// order returns what an order is.
func orderOf(v portal.Visit, s overview.Sheet, o overview.Order) order {
	is := order{Items: words.Items(v, o.Record), Bill: words.Bill(v, o.Record)}
	is.Payment = v.T("mail.charged", "payment", words.Payment(v, s.Contract))
	return is
}

// announce is about orders that come.
func (p *page) announce(list []matter) {
	v := p.visit
	for _, m := range list {
		o := *m.order
		is := orderOf(m.visit, m.sheet, o)
		is.Panel = &panel{Label: m.visit.T("mail.next"), Big: m.visit.Day(o.BillingDate), Small: words.Cost(m.visit, o.Record)}
		if len(list) > 1 {
			is.Panel.Label = words.Name(m.visit, m.sheet.Contract)
			is.Link = &anchor{m.visit.T("mail.manage"), at(v, words.Path(m.Contract))}
		}
		p.Orders = append(p.Orders, is)
	}
	m := list[0]
	day := v.Day(m.order.BillingDate)
	if len(list) > 1 {
		p.title(v, "mail.upcomingMany", "n", len(list), "day", day)
		p.say(v.T("mail.upcomingMany.text"))
		p.Button = &anchor{v.T("mail.manage"), at(v, "")}
		return
	}
	if why := m.order.Incomplete(); why != nil {
		p.title(v, "mail.box", "day", day)
		p.say(v.T("banner.box.text", "problem", v.Sentence(why), "day", day))
		p.Button = &anchor{v.T("action.box"), at(v, words.Path(m.Contract)+"/box")}
		p.Preheader = words.Name(v, m.sheet.Contract)
		return
	}
	p.title(m.visit, "mail.upcoming", "day", day, "amount", words.Cost(v, m.order.Record))
	p.say(m.visit.T("mail.upcoming.text"))
	p.Button = &anchor{m.visit.T("mail.upcoming.button"), at(v, words.OrderPath(m.order.Attempt))}
	if m.order.Can.Allows(do.Skip) {
		skip := &anchor{v.T("action.skip"), at(v, words.OrderPath(m.order.Attempt)+"/skip")}
		if after, comes := m.sheet.After(m.order.Attempt); comes {
			p.add(v.T("mail.upcoming.skip", "amount", words.Cost(v, m.order.Record), "day", v.Day(after.BillingDate)), skip)
		} else {
			p.add(v.T("mail.upcoming.skipLast", "amount", words.Cost(v, m.order.Record)), skip)
		}
	}
	if closes := words.Closes(v, m.sheet, *m.order); closes != "" {
		p.add(closes, nil)
	}
	p.Preheader = words.Name(v, m.sheet.Contract)
}

// welcome is about a new contract.
func (p *page) welcome(m matter) {
	v, c := m.visit, m.sheet.Contract
	p.title(v, "mail.created", "product", words.Name(v, c))
	p.say(v.T("mail.created.text"))
	next, comes := m.sheet.Next()
	switch {
	case c.Lifelong:
		p.say(v.T("facts.lifelong"))
	case comes:
		is := orderOf(v, m.sheet, next)
		is.Panel = m.next()
		price, _ := words.Facts(v, m.sheet)
		if !c.Prepaid() && m.sheet.Unpaid == nil && c.Ending == nil {
			is.Panel.Small = price
		}
		p.Orders = append(p.Orders, is)
	}
	if c.Trial != nil && c.Trial.EndsAt.After(v.Now) {
		p.add(v.T("mail.created.trial", "day", v.Day(c.Trial.EndsAt)), nil)
	}
	if comes {
		p.add(v.T("mail.created.how", "amount", words.Cost(v, next.Record), "every", words.Every(v, c.Billing)), nil)
		if min := c.Committed(); min > 0 {
			p.add(v.T("mail.created.minimum", "n", min), nil)
		}
		p.add(v.T("mail.created.reminder", "n", c.ReminderDays()[0]), nil)
	}
	p.manage(m)
	p.add(v.T("mail.created.cancel"), &anchor{v.T("mail.created.cancelLink"), at(v, words.Path(c.ID)+"/cancel")})
}

// link is about signing in.
func (p *page) link(m matter) {
	v, l := p.visit, m.Facts.Link
	p.title(v, "mail.link", "store", p.Store.Name)
	p.say(v.T("mail.link.text", "store", p.Store.Name))
	p.Button = &anchor{v.T("mail.link.button"), template.URL(l.URL)} //nolint:gosec // our own
	p.add(v.T("mail.link.until", "time", v.Words.Time(v.Local(l.Expires)), "day", v.Day(l.Expires)), nil)
}

// paid is about a charge.
func (p *page) paid(m matter) {
	v, amount := m.visit, words.Cost(m.visit, m.order.Record)
	p.title(v, "mail.paid", "amount", amount, "order", m.order.OrderName)
	p.say(v.T("mail.paid.text", "amount", amount, "order", m.order.OrderName))
	p.Orders = append(p.Orders, order{Items: words.Items(v, m.order.Record), Bill: words.Bill(v, m.order.Record)})
	p.manage(m)
}

// unpaid is about an order that could not be charged.
func (p *page) unpaid(m matter) {
	v, d, c := m.visit, m.Facts.Decline, m.sheet.Contract
	amount, name := words.Cost(v, m.order.Record), words.Name(v, c)
	payment := &anchor{v.T("action.updatePayment"), at(v, words.Path(c.ID)+"/payment")}
	is := orderOf(v, m.sheet, *m.order)
	is.Panel = &panel{Label: v.T("mail.due"), Big: amount, Small: name}
	p.Orders = append(p.Orders, is)
	p.Button = payment
	switch {
	case m.Kind == notify.OutOfStock:
		p.title(v, "mail.stock", "product", name)
		p.say(v.T("mail.stock.text", "product", name, "day", v.Day(m.order.BillingDate)))
		p.manage(m)
		p.Orders[0].Payment = ""
	case m.Kind == notify.SecurityChallenge && d.Confirm != "":
		p.title(v, "mail.confirm", "amount", amount)
		p.say(v.T("mail.confirm.text", "amount", amount, "product", name))
	case m.Kind == notify.SecurityChallenge:
		p.title(v, "mail.unconfirmed", "amount", amount)
		p.say(v.T("mail.unconfirmed.text", "amount", amount, "product", name))
	case m.Kind == notify.SuspensionWarning:
		p.title(v, "mail.warning", "amount", amount)
		p.say(v.T("mail.failed.text", "amount", amount, "product", name, "reason", words.Reason(v, m.order.ErrorCode)))
	default:
		p.title(v, "mail.failed", "amount", amount)
		p.say(v.T("mail.failed.text", "amount", amount, "product", name, "reason", words.Reason(v, m.order.ErrorCode)))
	}
	if d.Confirm != "" && m.Kind != notify.OutOfStock {
		p.Button = &anchor{v.T("mail.confirm.button"), template.URL(d.Confirm)} //nolint:gosec // the platform's
		p.add(v.T("mail.confirm.other"), payment)
	}
	if d.Class == dunning.Address {
		p.Button = &anchor{v.T("mail.failed.address"), at(v, words.Path(c.ID)+"/address")}
	}
	if m.Kind == notify.OutOfStock {
		return
	}
	switch again := c.Dunning; {
	case again != nil && !again.RetryAt.IsZero():
		p.add(v.T("mail.failed.retry", "again", v.Day(again.RetryAt)), nil)
	case d.Confirm == "":
		p.add(v.T("mail.failed.waits"), nil)
	}
	if !d.EndAt.IsZero() {
		p.add(v.T("mail.failed.then."+string(actionOf(d.Action)), "day", v.Day(d.EndAt)), nil)
	}
}

// actionOf returns the action, which is that of leaving the order out unless it is another.
func actionOf(a dunning.Action) dunning.Action {
	if a == dunning.Pause || a == dunning.Cancel {
		return a
	}
	return dunning.Skip
}

// suspended is about what ended an unpaid order.
func (p *page) suspended(m matter) {
	v, key := m.visit, "mail.suspended."+string(actionOf(m.Facts.Decline.Action))
	name := words.Name(v, m.sheet.Contract)
	p.title(v, key, "product", name)
	p.say(v.T(key+".text", "amount", words.Cost(v, m.order.Record), "product", name))
	p.manage(m)
	if next := m.next(); next != nil {
		p.Orders = append(p.Orders, order{Panel: next})
	}
}

// expires is about a card.
func (p *page) expires(m matter) {
	v, c := m.visit, m.sheet.Contract
	next, comes := m.sheet.NextFrom(c.Card.Ends())
	card := words.Instrument(v, c.Card)
	p.title(v, "mail.card", "card", card)
	p.say(v.T("mail.card.text", "card", card, "month", c.Card.Ends().AddDate(0, 0, -1).Format("01/2006")))
	if comes {
		p.say(v.T("mail.card.order", "day", v.Day(next.BillingDate), "amount", words.Cost(v, next.Record), "product", words.Name(v, c)))
	}
	p.Button = &anchor{v.T("action.updatePayment"), at(v, words.Path(c.ID)+"/payment")}
}

// blankLine begins another paragraph.
var blankLine = regexp.MustCompile(`\r?\n\s*\n`)

// tells is what a merchant writes.
func (p *page) tells(m matter) {
	p.Subject, p.Heading = m.Facts.News.Subject, m.Facts.News.Subject
	for _, paragraph := range blankLine.Split(strings.TrimSpace(m.Facts.News.Text), -1) {
		p.say(paragraph)
	}
	p.manage(m)
}

// cancelled is about the end of a contract.
func (p *page) cancelled(m matter) {
	v, c := m.visit, m.sheet.Contract
	p.title(v, "mail.cancelled")
	rest := billing.RestOf(c, m.sheet.Inputs, m.sheet.Orders, v.Calendar, v.Now)
	if len(rest.Orders) > 0 {
		p.say(v.T("mail.cancelled.charging", "product", words.Name(v, c), "day", v.Day(c.CancelledAt), "amount", words.Amount(v, rest.Total)))
	} else {
		p.say(v.T("mail.cancelled.text", "product", words.Name(v, c), "day", v.Day(c.CancelledAt)))
	}
	if c.CancelledOrderDate.After(v.Now) {
		p.say(v.T("mail.cancelled.order", "day", v.Day(c.CancelledOrderDate)))
	}
	if n := c.Completed(); n > 0 {
		paid, exact := c.PaidSoFar()
		p.say(v.T(map[bool]string{true: "mail.cancelled.paid", false: "mail.cancelled.paidItems"}[exact], "n", n, "amount", words.Amount(v, paid)))
	}
	if len(rest.Orders) == 0 {
		p.say(v.T("mail.cancelled.owes"))
	}
	if m.sheet.Can.Allows(do.Restart) {
		p.add(v.T("mail.cancelled.again"), &anchor{v.T("mail.cancelled.againLink"), at(v, words.Path(c.ID))})
	}
	p.manage(m)
}
