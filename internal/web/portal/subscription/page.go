package subscription

import (
	"net/http"
	"net/url"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// screen is what the page shows.
type screen struct {
	Chip     portal.Chip
	Since    string
	Banners  []portal.Banner
	Keep     *portal.Form // withdraws the cancellation that is scheduled; nil: none is
	Hero     words.Next
	Progress *progress // of what is paid for; nil: each delivery has its own payment
	Lines    []line
	Add      *portal.Action
	Box      *portal.Action // to what a box holds; nil: it is none
	Term     *term          // what is paid for and still comes; nil: nothing
	Upcoming []words.Row
	Planned  *portal.Action // all orders to come
	Past     []words.Row
	More     *portal.Action // all past orders
	Often    card
	Payment  card
	Delivery card
	Discount []portal.Sum
	Codes    []portal.Action // take discounts with a code off
	Code     *portal.Form    // redeems a discount code; nil: that is not possible
	Note     card
	Stop     []portal.Action
	StopText string
	Prepaid  bool
}

// term are the deliveries to come that are paid for.
type term struct {
	Until string
	Rows  []words.Row
}

// card is a part of the page that says something and leads to where it is changed.
type card struct {
	Text, More string
	Link       *portal.Action
}

// line is a product that every order has.
type line struct {
	portal.Item
	Links []portal.Action
}

// progress is how much of something is done.
type progress struct {
	Text  string
	Parts []bool
}

func (m room) show(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	s, err := m.sheet(r, v, shownPast)
	if err != nil {
		return err
	}
	c := s.Contract
	v = v.About(c.Line)
	content := screenOf(v, s)
	if content.Box, err = m.boxOf(r, v, c); err != nil {
		return err
	}
	return v.Answer(w, portal.Page{
		Name: "subscription", Title: words.Name(v, c), Crumb: &portal.Crumb{Name: v.T("subscription.all")}, Email: c.Customer.Email,
		Undo: words.Undo(v, s, r.URL.Query()), Content: content,
	})
}

// boxOf returns the link to what a box holds; nil where the contract is none, or has ended.
func (m room) boxOf(r *http.Request, v portal.Visit, c contract.Contract) (*portal.Action, error) {
	if m.Boxes == nil || c.Terminated() || !v.View.Has("/s/{contract}/box") {
		return nil, nil
	}
	boxed, err := m.Boxes(r.Context(), v.Shop.ID, c)
	if err != nil || !boxed {
		return nil, err
	}
	return &portal.Action{Text: v.T("action.box"), Path: words.Path(c.ID) + "/box"}, nil
}

func screenOf(v portal.Visit, s overview.Sheet) screen {
	c := s.Contract
	p := screen{Chip: words.Status(v, s), Since: since(v, c), Hero: hero(v, s), Prepaid: c.Prepaid()}
	for i, n := range words.Notices(v, s) {
		b := n.Banner
		for a := range b.Actions {
			b.Actions[a].Main = b.Actions[a].Main && i == 0
		}
		p.Banners = append(p.Banners, b)
	}
	if s.Can.Allows(do.Keep) {
		f := v.View.Form(words.Path(c.ID)+"/keep", c.Fingerprint())
		f.Text = v.T("action.keep")
		p.Keep = &f
	}
	p.progress(v, s)
	p.Term = termOf(v, s)
	p.lines(v, s)
	p.orders(v, s)
	p.cards(v, s)
	p.stop(v, s)
	return p
}

// since says how long a contract has run, how many orders it has had, and what was saved.
func since(v portal.Visit, c contract.Contract) string {
	return v.T("subscription.since", "day", v.ShortDay(c.CreatedAt), "n", c.Completed())
}

// progress says what is paid for, or what the subscriber is committed to.
func (p *screen) progress(v portal.Visit, s overview.Sheet) {
	c := s.Contract
	if c.Terminated() {
		return
	}
	parts := func(text string, done, all int) {
		bar := progress{Text: text}
		for i := range min(all, 24) {
			bar.Parts = append(bar.Parts, i < done)
		}
		p.Progress = &bar
	}
	switch term := c.Term(v.Calendar); {
	case c.Prepaid() && len(term.Deliveries) > 0:
		left := term.Left(v.Now)
		parts(v.T("prepaid.progress", "n", len(term.Deliveries), "sent", len(term.Deliveries)-left), len(term.Deliveries)-left, len(term.Deliveries))
	default:
		if text := words.Committed(v, s); text != "" {
			parts(text, c.Completed(), c.MinCycles)
		}
	}
}

// termOf returns the deliveries to come that a prepaid contract has paid for.
func termOf(v portal.Visit, s overview.Sheet) *term {
	paid := s.Contract.Term(v.Calendar)
	if !s.Contract.Prepaid() || s.Contract.Terminated() || paid.Left(v.Now) == 0 {
		return nil
	}
	t := &term{Until: v.T("facts.paidUntil", "day", v.Day(paid.Last()))}
	for _, d := range paid.Deliveries {
		if d.After(v.Now) {
			t.Rows = append(t.Rows, words.Row{Day: v.Day(d), Amount: v.T("prepaid.chipPaid")})
		}
	}
	return t
}

// lines are the products, with what may be done about each.
func (p *screen) lines(v portal.Visit, s overview.Sheet) {
	c := s.Contract
	next := s.NextOrder()
	for _, l := range c.PricedAt(c.Lines, next.Cycle, next.Ahead()) {
		one := line{Item: words.Item(v, c, l)}
		for _, a := range []struct {
			action     do.Action
			path, text string
		}{{do.Swap, "/swap", "action.swap"}, {do.ChangeQuantity, "/quantity", "action.quantity"}, {do.RemoveProduct, "/remove", "action.remove"}} {
			if a.action == do.RemoveProduct && len(c.Lines) < 2 {
				continue
			}
			if link := words.Changing(v, s, a.action, a.path, v.T(a.text), l.Title); link != nil {
				link.Path += "?line=" + url.QueryEscape(words.LineName(l.ID))
				one.Links = append(one.Links, *link)
			}
		}
		p.Lines = append(p.Lines, one)
	}
	if c.Line == shop.Memberships { // nothing is sent that a product could come with
		return
	}
	if p.Add = words.Changing(v, s, do.AddProduct, "/add", v.T("action.addProduct"), ""); p.Add != nil {
		p.Add.Icon = "add"
	}
}

// orders are those to come and the past ones.
func (p *screen) orders(v portal.Visit, s overview.Sheet) {
	c := s.Contract
	p.Upcoming = words.Upcoming(v, s, s.Settings.Shown())
	if len(s.Upcoming) > len(p.Upcoming) {
		p.Planned = &portal.Action{Text: v.T("upcoming.all"), Path: words.Path(c.ID) + "/upcoming"}
	}
	for _, a := range s.Past {
		p.Past = append(p.Past, words.PastRow(v, c, a))
	}
	if s.MorePast {
		p.More = &portal.Action{Text: v.T("past.all"), Path: words.Path(c.ID) + "/orders"}
	}
}

// cards are what all orders have in common.
func (p *screen) cards(v portal.Visit, s overview.Sheet) {
	c := s.Contract
	text := words.Often(v, c)
	if level := words.Level(c); level != "" {
		text = level
	}
	p.Often = card{Text: text, Link: words.Changing(v, s, do.ChangeFrequency, "/frequency", v.T("action.change.frequency"), "")}
	if next, comes := s.Next(); comes {
		p.Often.More = v.T("often.price", "amount", words.Cost(v, next.Record))
	}
	p.Payment = card{Text: words.Payment(v, c), Link: words.Changing(v, s, do.EditPaymentMethod, "/payment", v.T("action.change.card"), "")}
	if card := c.Card; card.ExpiryYear > 0 && c.PaymentUsable {
		p.Payment.More = words.Expires(v, card.ExpiryMonth, card.ExpiryYear)
	}
	if c.Line != shop.Memberships || c.DeliveryPrice.Minor > 0 {
		p.delivery(v, s)
	}
	if next, comes := s.Next(); comes && next.Order().Box != nil {
		box := *next.Order().Box
		p.Discount = append(p.Discount, portal.Sum{Name: words.BoxPrice(v, box), Amount: words.Amount(v, box.Off().Times(-1))})
	}
	for _, d := range c.Discounts {
		if d.RejectedWhy == "" && !bundle.IsDiscount(d.Title) { // that of the box is above, as it is now
			p.Discount = append(p.Discount, portal.Sum{Name: discountName(v, d), Amount: discountText(v, c, d)})
			if link := words.Changing(v, s, do.EditDiscount, "/discount/remove", v.T("action.remove"), d.Code); link != nil && d.Code != "" {
				link.Path, link.Asks = link.Path+"?discount="+url.QueryEscape(words.LineName(d.ID)), true
				p.Codes = append(p.Codes, *link)
			}
		}
	}
	if s.Can.Allows(do.EditDiscount) && v.View.Has("/s/{contract}/discount") {
		f := v.View.Form(words.Path(c.ID)+"/discount", c.Fingerprint())
		p.Code = &f
	}
	if next, comes := s.Next(); comes && next.Can.Allows(do.EditNote) && v.View.Has("/s/{contract}/orders/{attempt}/note") {
		p.Note.Link = &portal.Action{Text: v.T("action.change.note"), Path: words.OrderPath(next.Attempt) + "/note", About: v.T("action.ofOrder", "day", v.Day(next.BillingDate))}
		p.Note.More = next.Note
	}
	p.Note.Text = c.Note
}

// delivery is where orders go, and what that costs.
func (p *screen) delivery(v portal.Visit, s overview.Sheet) {
	c := s.Contract
	p.Delivery = card{Text: c.Customer.Name, Link: words.Changing(v, s, do.EditAddress, "/address", v.T("action.change.delivery"), "")}
	switch {
	case c.DeliveryPrice.Minor > 0:
		p.Delivery.More = v.T("delivery.price", "amount", words.Amount(v, c.DeliveryPrice))
	case c.DeliveryCountry != "":
		p.Delivery.More = v.T("delivery.free")
	}
}

func discountName(v portal.Visit, d contract.Discount) string {
	switch {
	case d.Code != "":
		return d.Code
	case d.Title != "":
		return d.Title
	}
	return v.T("discount.name")
}

// discountText says what a discount takes off, and for how many more orders.
func discountText(v portal.Visit, c contract.Contract, d contract.Discount) string {
	text := v.T("discount.shipping")
	switch {
	case d.FreeShipping:
	case d.Percent > 0:
		text = v.Words.Percent(float64(-d.Percent))
	default:
		text = words.Amount(v, money.Amount{Minor: -d.Amount.Minor, Currency: c.Currency})
	}
	if d.CycleLimit > 0 {
		return v.T("discount.left", "discount", text, "n", max(0, d.CycleLimit-d.UsedCycles))
	}
	return text
}

// stop are the ways to stop, which are always in sight.
func (p *screen) stop(v portal.Visit, s overview.Sheet) {
	c := s.Contract
	if s.Can.Allows(do.Pause) && v.View.Has("/s/{contract}/pause") {
		p.Stop = append(p.Stop, portal.Action{Text: v.T("action.pause"), Path: words.Path(c.ID) + "/pause"})
	}
	if s.Can.Allows(do.Cancel) && c.Ending == nil && v.View.Has("/s/{contract}/cancel") {
		text := v.T("action.cancel")
		if c.Prepaid() {
			text = v.T("action.dontRenew")
		}
		p.Stop = append(p.Stop, portal.Action{Text: text, Path: words.Path(c.ID) + "/cancel"})
	}
	switch {
	case c.InCommitment(s.Shop.Settings):
		p.StopText = v.T("stop.committed", "n", c.Committed())
	case c.Prepaid():
		p.StopText = v.T("stop.prepaid")
	default:
		p.StopText = v.T("stop.text")
	}
}
