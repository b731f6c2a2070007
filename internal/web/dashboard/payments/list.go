package payments

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/words"
)

// rowsAtOnce is how many open cases a page lists.
const rowsAtOnce = 25

// listPage is the page of the room.
type listPage struct {
	Stopped string // why nothing is charged now; empty: orders are charged
	Past    past
	Tabs    []dashboard.Tab
	Rows    []row
	Pager   *dashboard.Pager // nil: everything is shown
	Empty   *dashboard.Empty
	Groups  []groupRow
	May     bool // the reader may act
}

// row is an open case.
type row struct {
	Attempt   billing.AttemptID
	Contract  contract.ID
	Customer  string
	Amount    money.Amount
	Reason    string
	Code      string
	Badge     dashboard.Badge
	Tries     string
	Left      string // retries that the plan still has
	Next      string
	Then      string // what happens if it does not; empty: it is charged again
	Mail      string
	MailState string // empty: it was sent, or there was none
	First     link   // the action that helps most
}

// link is an action on a case.
type link struct{ Name, Path string }

// groupRow is a group of open cases.
type groupRow struct {
	Title, About, Icon string
	Tone               dashboard.Tone
	Orders             int
}

// list shows the page.
func (m *room) list(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	asked, err := parseQuery(r.URL.Query())
	if err != nil {
		return err
	}
	counts, err := m.Cases.CaseCounts(r.Context(), v.Shop.ID)
	if err != nil {
		return err
	}
	open := 0
	for _, n := range counts {
		open += n
	}
	p := listPage{May: v.May(staff.ManageContracts), Stopped: m.stopped(v.Shop)}
	if p.Past, err = m.past(r.Context(), v, asked); err != nil {
		return err
	}
	if open == 0 {
		p.Empty = &dashboard.Empty{Icon: "check", Title: "No payment is open", Text: "Every order that was due has been paid, skipped or given up. Orders that are declined show here at once."}
	} else if err := m.open(r.Context(), v, asked, counts, open, &p); err != nil {
		return err
	}
	lead := "No order waits to be paid."
	if open > 0 {
		lead = dashboard.Count(open, "order waits to be paid.", "orders wait to be paid.")
	}
	return v.Answer(w, dashboard.Page{Name: "failed-payments", Title: "Failed payments", Lead: lead + " Data to " + v.Instant(m.now()) + ".", Content: p})
}

// stopped says why nothing is charged; empty: orders are charged.
func (m *room) stopped(of shop.Shop) string {
	if !of.Connected {
		return "The connection to the platform is gone. No order is charged until it is back, and cards that customers change are not seen."
	}
	if why := of.Guard.BlockReason(m.now()); why != "" {
		return "No order is charged now: " + why + "."
	}
	return ""
}

// query is what a reader asks to see.
type query struct {
	period   period
	currency money.Currency // empty: that of most contracts
	group    *group         // nil: all
	after    contract.ID
	shown    int // how many rows come before
}

func parseQuery(q url.Values) (query, error) {
	asked := query{period: periods[1], currency: money.Currency(q.Get("currency"))}
	if name := q.Get("period"); name != "" {
		at := slices.IndexFunc(periods, func(p period) bool { return p.name == name })
		if at < 0 {
			return asked, fault.New(fault.Invalid, "%q is not a period", name)
		}
		asked.period = periods[at]
	}
	if name := q.Get("group"); name != "" {
		at := slices.IndexFunc(groups, func(g group) bool { return g.name == name })
		if at < 0 {
			return asked, fault.New(fault.Invalid, "%q is not a group of failed payments", name)
		}
		asked.group = &groups[at]
	}
	if text := q.Get("after"); text != "" {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id < 0 {
			return asked, fault.New(fault.Invalid, "%q is not the number of a contract", text)
		}
		asked.after = contract.ID(id)
	}
	if n, err := strconv.Atoi(q.Get("shown")); err == nil && n > 0 && asked.after != 0 {
		asked.shown = n
	}
	return asked, nil
}

// address returns that of the page with another group or another place in the list.
func (q query) address(v dashboard.Visit, g *group, after contract.ID, shown int) string {
	values := url.Values{"period": {q.period.name}}
	if q.currency != "" {
		values.Set("currency", string(q.currency))
	}
	if g != nil {
		values.Set("group", g.name)
	}
	if after != 0 {
		values.Set("after", strconv.FormatInt(int64(after), 10))
		values.Set("shown", strconv.Itoa(shown))
	}
	return v.At(path + "?" + values.Encode())
}

// open adds the open cases to the page.
func (m *room) open(ctx context.Context, v dashboard.Visit, asked query, counts map[dunning.Class]int, all int, p *listPage) error {
	total := all
	p.Tabs = []dashboard.Tab{{Name: "All open", Count: strconv.Itoa(all), Path: asked.address(v, nil, 0, 0), Here: asked.group == nil}}
	for i := range groups {
		g, n := &groups[i], 0
		for _, class := range g.classes {
			n += counts[class]
		}
		here := asked.group == g
		if here {
			total = n
		}
		if n > 0 {
			p.Groups = append(p.Groups, groupRow{g.title, g.about, g.icon, g.tone, n})
		}
		if n > 0 || here {
			p.Tabs = append(p.Tabs, dashboard.Tab{Name: g.title, Count: strconv.Itoa(n), Path: asked.address(v, g, 0, 0), Here: here})
		}
	}
	var classes []dunning.Class
	if asked.group != nil {
		classes = asked.group.classes
	}
	list, err := m.Cases.OpenCases(ctx, v.Shop.ID, classes, asked.after, rowsAtOnce+1)
	if err != nil {
		return err
	}
	more := len(list) > rowsAtOnce
	list = list[:min(len(list), rowsAtOnce)]
	for _, c := range list {
		one, err := m.row(v, c)
		if err != nil {
			return err
		}
		p.Rows = append(p.Rows, one)
	}
	if more || asked.after != 0 {
		to := asked.shown + len(list)
		p.Pager = &dashboard.Pager{What: "open payments", From: asked.shown + 1, To: to, Total: max(total, to)}
		if asked.after != 0 {
			p.Pager.Prev = asked.address(v, asked.group, 0, 0)
		}
		if more {
			p.Pager.Next = asked.address(v, asked.group, list[len(list)-1].Of.ID, to)
		}
	}
	return nil
}

// row shows an open case.
func (m *room) row(v dashboard.Visit, c billing.Record) (row, error) {
	inputs, err := billing.CaseInputs(v.Shop, c.Attempt)
	if err != nil {
		return row{}, err
	}
	k := c.Dunning
	g := groupOf(k.Class)
	shown := row{
		Attempt: c.ID, Contract: c.Of.ID, Customer: customer(c.Of), Amount: c.Cost(), Reason: words.Decline(c.ErrorCode, k.Class), Code: c.ErrorCode,
		Badge: dashboard.Badge{Tone: g.tone, Text: g.title, Hollow: k.RetryAt.IsZero()}, Mail: "None",
		Tries: strconv.Itoa(c.Try) + " made", Left: strconv.Itoa(k.RetriesLeft(inputs)) + " left",
	}
	shown.Next, shown.Then = m.next(v, c)
	if !k.NotifiedAt.IsZero() {
		shown.Mail = v.Day(k.NotifiedAt)
	}
	for _, is := range c.Mails {
		if is.Status == notify.Failed {
			shown.MailState = "not delivered"
		}
	}
	shown.First = link{"Retry now", "/retry"}
	if !k.State.Live() || k.Class == dunning.Card || k.Class == dunning.Auth || k.Class == dunning.Fraud {
		shown.First = link{"Send link", "/link"}
	}
	return shown, nil
}

// customer returns how a contract's customer is called.
func customer(c contract.Contract) string {
	for _, name := range []string{c.Customer.Name, c.Customer.Email} {
		if name != "" {
			return name
		}
	}
	return "Contract " + strconv.FormatInt(int64(c.ID), 10)
}

// next says when the order is charged again, or what happens instead.
func (m *room) next(v dashboard.Visit, c billing.Record) (next, then string) {
	k := c.Dunning
	switch {
	case c.Status.InFlight():
		return "Being charged now", ""
	case k.State == dunning.Held:
		return "Never", "It waits for you"
	case k.State == dunning.Ending:
		return "Never", endWords[k.Action]
	case !k.RetryAt.IsZero():
		return v.Day(k.RetryAt), "At " + k.RetryAt.In(v.Zone).Format("15:04 MST")
	}
	next = "Never"
	switch k.Class {
	case dunning.Card:
		next = "When the card changes"
	case dunning.Auth:
		next = "When confirmed"
	}
	return next, "On " + m.day(v, k.EndAt) + " " + finalWords[v.Shop.Settings.Dunning.Final(k.Class)]
}

// day is a day that has not passed.
func (m *room) day(v dashboard.Visit, at time.Time) string {
	if at.Before(m.now()) {
		return v.Day(m.now())
	}
	return v.Day(at)
}
