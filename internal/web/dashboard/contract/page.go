package contract

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/domain/support"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/words"
)

// sheetPage is what the page of a contract shows.
type sheetPage struct {
	At       string // path of the page
	ID       contract.ID
	Badges   []dashboard.Badge
	Notices  []notice
	May      bool // the user may change the contract, and it can be changed
	Comments bool // the user may comment
	Heads    []button
	Rail     []stop
	Items    []item
	Each     string // amount of the items
	Quantity int
	Upcoming []order
	Charged  string // when upcoming orders are charged, or why not
	OneOffs  []oneOff
	Past     []order
	Older    bool // there are older orders
	Note     string
	Pairs    []contract.Attribute
	Side     []card
	Mails    []mailRow
	Timeline timeline
}

// notice is a banner on the page.
type notice struct {
	Tone dashboard.Tone
	Text string
	Link button
}

// button leads to an action or a page.
type button struct{ Name, Path, Icon, Class, About string }

// item is a line of the contract.
type item struct {
	Title, Variant, SKU, Plan string
	Quantity                  int
	Price, Total              string
	Buttons                   []button
}

// oneOff is a product of one order.
type oneOff struct {
	Title, Day, Amount string
	Quantity           int
	Remove             string
}

// order is an order in a table.
type order struct {
	ID      billing.AttemptID
	Day     string
	Small   string // below the day
	Cycle   int
	Number  string // name of the order at the platform
	Badge   dashboard.Badge
	Reason  string
	Code    string
	Amount  string
	Extra   string
	Why     string // path of the explanation
	Asks    string // what the explanation answers
	Buttons []button
}

// pastRows is how many past orders are shown before they are asked for, and at most.
const (
	pastRows = 6
	allPast  = 60
)

// show is the page of a contract.
func (m *room) show(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	id, err := number(r, "contract")
	if err != nil {
		return err
	}
	past := support.MaxPast
	if r.URL.Query().Get("orders") == "all" {
		past = allPast
	}
	sheet, err := m.Sheets.Sheet(r.Context(), v.Shop.ID, contract.ID(id), past)
	if err != nil {
		return err
	}
	p, err := m.page(r, v, sheet, past)
	if err != nil {
		return err
	}
	return v.Answer(w, m.framed(v, sheet.Contract, p))
}

// framed returns the page of a contract in the shell.
func (m *room) framed(v dashboard.Visit, c contract.Contract, p sheetPage) dashboard.Page {
	return dashboard.Page{
		Name: "contract", Title: name(c), Crumb: &dashboard.Crumb{Name: "Contracts", Path: "/contracts"}, Content: p,
		Lead: fmt.Sprintf("Contract %d · %s %s, before discounts and delivery · since %s", c.ID, dashboard.Money(c.Amount()), c.Billing, v.Day(c.CreatedAt)),
	}
}

func (m *room) page(r *http.Request, v dashboard.Visit, s support.Sheet, past int) (sheetPage, error) {
	c := s.Contract
	p := sheetPage{
		At: at(c.ID), ID: c.ID, May: v.May(staff.ManageContracts) && !c.Terminated(), Comments: v.May(staff.ManageContracts),
		Note: c.Note, Pairs: c.Attributes, Each: dashboard.Money(c.Amount()), Side: m.side(v, s), Mails: mails(v, c, s.Mails),
	}
	_, boxed, err := m.Bundles.BundleOf(r.Context(), v.Shop.ID, c)
	if err != nil {
		return p, err
	}
	p.Badges = m.badges(v, c)
	if boxed {
		p.Badges = append(p.Badges, dashboard.Badge{Tone: dashboard.Neutral, Text: "Box"})
	}
	p.Notices, p.Heads = m.notices(v, c), m.heads(c, s, p.May)
	for _, l := range c.Lines {
		p.Items = append(p.Items, itemOf(c, l, p.May))
		p.Quantity += l.Quantity
	}
	for _, a := range s.Upcoming {
		p.Upcoming = append(p.Upcoming, m.upcoming(v, a, p.May))
		for _, o := range a.OneOffs {
			p.OneOffs = append(p.OneOffs, oneOff{
				o.Line().Title, v.Day(a.BillingDate), dashboard.Money(o.Variant.Price.Times(int64(o.Quantity))), o.Quantity, do(c.ID, "remove-one-time", strconv.FormatInt(int64(o.ID), 10)),
			})
		}
	}
	shown := s.Past
	if past == support.MaxPast && len(shown) > pastRows {
		shown, p.Older = shown[:pastRows], true
	}
	p.Older = p.Older || s.MorePast && past < allPast
	for _, a := range shown {
		p.Past = append(p.Past, m.past(v, billing.Record{Attempt: a, Of: c}, p.May))
	}
	p.Rail = m.rail(v, s)
	calendar, err := v.Shop.Calendar()
	if err != nil {
		return p, err
	}
	p.Charged = "Charged at " + calendar.String() + "."
	if !c.AutoCharge {
		p.Charged = "Orders of this contract are charged only when a person asks for it."
	}
	p.Timeline, err = m.timeline(r, v, c)
	return p, err
}

// do returns the path of an action.
func do(id contract.ID, action, of string) string {
	path := at(id) + "/do/" + action
	if of != "" {
		path += "?of=" + escape(of)
	}
	return path
}

func itemOf(c contract.Contract, l contract.LineItem, may bool) item {
	i := item{
		Title: l.Title, Variant: l.VariantTitle, SKU: l.SKU, Plan: l.SellingPlanName, Quantity: l.Quantity,
		Price: l.Price.String(), Total: l.Price.Times(int64(l.Quantity)).String(),
	}
	if may {
		i.Buttons = []button{{Name: "Edit", Path: do(c.ID, "line", l.ID), About: l.Title}, {Name: "Swap", Path: do(c.ID, "swap", l.ID), About: l.Title}}
		if len(c.Lines) > 1 {
			i.Buttons = append(i.Buttons, button{Name: "Remove", Path: do(c.ID, "remove-line", l.ID), About: l.Title})
		}
	}
	return i
}

// heads are the buttons at the head of the page.
func (m *room) heads(c contract.Contract, s support.Sheet, may bool) []button {
	if !may {
		return nil
	}
	var list []button
	if next, is := nextOrder(s); is {
		of := strconv.FormatInt(int64(next.ID), 10)
		list = append(list, button{Name: "Skip next order", Path: do(c.ID, "skip", of), Icon: "skip"}, button{Name: "Charge now", Path: do(c.ID, "charge", of), Icon: "card"})
	}
	if c.Status == contract.Paused || c.Status == contract.Failed || c.Ending != nil {
		list = append(list, button{Name: resumeName(c), Path: do(c.ID, "resume", ""), Icon: "play", Class: "pri"})
	}
	if c.Status == contract.Active {
		list = append(list, button{Name: "Pause", Path: do(c.ID, "pause", ""), Icon: "pause"})
	}
	list = append(list, button{Name: "Send portal link", Path: do(c.ID, "portal-link", ""), Icon: "mail"})
	return append(list, button{Name: "Cancel contract", Path: do(c.ID, "cancel", ""), Class: "dan"})
}

func resumeName(c contract.Contract) string {
	if c.Ending != nil {
		return "Keep contract"
	}
	return "Resume"
}

// nextOrder returns the first order that is queued.
func nextOrder(s support.Sheet) (billing.Record, bool) {
	for _, a := range s.Upcoming {
		if a.Status == billing.Queued {
			return a, true
		}
	}
	return billing.Record{}, false
}

var statusTones = map[contract.Status]dashboard.Tone{
	contract.Active: dashboard.Good, contract.Paused: dashboard.Warning, contract.Failed: dashboard.Bad, contract.Cancelled: dashboard.Neutral, contract.Expired: dashboard.Neutral,
}

func (m *room) badges(v dashboard.Visit, c contract.Contract) []dashboard.Badge {
	list := []dashboard.Badge{{Tone: statusTones[c.Status], Text: words.Name(string(c.Status)), Hollow: c.Terminated()}}
	for _, b := range []struct {
		is   bool
		tone dashboard.Tone
		text string
	}{
		{c.Ending != nil, dashboard.Warning, "Ends soon"}, {c.Dunning != nil, dashboard.Bad, "Payment failed"},
		{v.Shop.Guard.BlockReason(m.Clock.Now()) != "", dashboard.Warning, "Frozen"}, {c.ImportedID != "" || c.Origin == contract.Imported, dashboard.Neutral, "Imported"},
		{c.Prepaid(), dashboard.Info, "Prepaid"}, {c.Lifelong, dashboard.Info, "For life"}, {!c.AutoCharge, dashboard.Neutral, "Not charged automatically"},
	} {
		if b.is {
			list = append(list, dashboard.Badge{Tone: b.tone, Text: b.text})
		}
	}
	return list
}

// notices are what its reader must know first.
func (m *room) notices(v dashboard.Visit, c contract.Contract) []notice {
	var list []notice
	if c.Terminated() {
		at := c.CancelledAt
		if c.Status == contract.Expired {
			at = c.ExpireAt
		}
		text := "This contract ended on " + v.Instant(at) + ". It cannot be changed."
		if c.CancellationFeedback != "" {
			text += " The customer said: “" + c.CancellationFeedback + "”."
		}
		list = append(list, notice{Tone: dashboard.Info, Text: text})
	}
	if d := c.Dunning; d != nil {
		text := fmt.Sprintf("The order of cycle %d was declined: %s.", d.Cycle, strings.ToLower(words.Decline(d.Code, d.Class)))
		switch {
		case d.State == dunning.Ending:
			text += " It is being given up."
		case !d.RetryAt.IsZero():
			text += " It is charged again on " + v.Instant(d.RetryAt) + "."
		case !d.EndAt.IsZero():
			text += " It is not charged again automatically; it is given up on " + v.Instant(d.EndAt) + "."
		}
		list = append(list, notice{dashboard.Bad, text, button{Name: "See what can be done", Path: fmt.Sprintf("/failed-payments/%d", d.Attempt)}})
	}
	if e := c.Ending; e != nil && !c.Terminated() {
		list = append(list, notice{Tone: dashboard.Warning, Text: "A cancellation waits: the contract is expected to end on " + v.Day(e.At) + "."})
	}
	if c.Status == contract.Paused {
		text := "Paused since " + v.Day(c.PausedAt) + "."
		if c.Pause != nil && !c.Pause.Until.IsZero() {
			text += " It runs again on " + v.Day(c.Pause.Until) + "."
		}
		list = append(list, notice{Tone: dashboard.Warning, Text: text})
	}
	if why := v.Shop.Guard.BlockReason(m.Clock.Now()); why != "" && !c.Terminated() {
		list = append(list, notice{Tone: dashboard.Warning, Text: "No order of the store is charged now: " + why + "."})
	}
	return list
}

// days says how far a day is away.
func (m *room) days(v dashboard.Visit, t time.Time) string {
	day := func(t time.Time) time.Time {
		y, mo, d := t.In(v.Zone).Date()
		return time.Date(y, mo, d, 0, 0, 0, 0, time.UTC)
	}
	switch n := int(day(t).Sub(day(m.Clock.Now())).Hours() / 24); {
	case n == 0:
		return "today"
	case n == 1:
		return "tomorrow"
	case n > 1:
		return fmt.Sprintf("in %d days", n)
	case n == -1:
		return "yesterday"
	default:
		return fmt.Sprintf("%d days ago", -n)
	}
}
