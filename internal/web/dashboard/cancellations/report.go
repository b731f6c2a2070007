package cancellations

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/domain/retention/report"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// periods are those that a reader can choose, in days.
var periods = []int{30, 90, 365}

// reportPage is the page of what the flow came to.
type reportPage struct {
	Export   string // address of the numbers
	Periods  []dashboard.Tab
	Tiles    []tile
	Empty    *dashboard.Empty
	Reasons  []reasonRow
	Offers   []offerRow
	Plans    []lineRow
	Ages     []lineRow
	Trials   []trialRow
	Comments []commentRow
	May      bool // the reader may edit the flow
}

// tile is a figure.
type tile struct {
	Title, Value, Note string
	About              []analytics.Definition
}

// lineRow is sessions that have something in common.
type lineRow struct {
	Name              string
	Sessions          int
	Saved, Of         int
	Share, Accepted   string
	Cancelled, Offers int
}

type reasonRow struct {
	lineRow

	Most int // sessions of the most frequent reason
}

type offerRow struct {
	lineRow

	Taken, Lasting string
}

// trialRow compares customers with and without offers.
type trialRow struct {
	Version               int
	Treated, Held         int
	KeptWith, KeptWithout string
	Kept                  string
	LastWith, LastWithout string
	Last                  string
	Text                  string
	Badge                 dashboard.Badge
}

// commentRow is what a customer said.
type commentRow struct {
	Contract           int64
	When, Reason, Text string
	Badge              dashboard.Badge
}

// asked is a report that a reader asks for, with what its texts are made of.
type asked struct {
	report.Report
	days   int
	flow   flow.Flow
	groups []analytics.PlanGroup
}

func (m *room) ask(r *http.Request, v dashboard.Visit) (a asked, err error) {
	a.days = periods[1]
	if text := r.URL.Query().Get("days"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || !slices.Contains(periods, n) {
			return a, fault.New(fault.Invalid, "%q is not a period", text)
		}
		a.days = n
	}
	now := m.Clock.Now()
	if a.Report, err = m.Reports.Report(r.Context(), v.Shop.ID, now.AddDate(0, 0, -a.days), now); err != nil {
		return a, err
	}
	if a.flow, err = m.Flows.Current(r.Context(), v.Shop.ID); err != nil {
		return a, err
	}
	scope, err := m.Figures.Scope(r.Context(), v.Shop)
	a.groups = scope.Groups
	return a, err
}

// reason returns the text of a reason.
func (a asked) reason(key string) string {
	if r, ok := a.flow.Reason(key); ok {
		return r.LabelIn(flow.English)
	}
	if key == "" {
		return "No reason given"
	}
	return key
}

// plan returns the name of a plan group.
func (a asked) plan(key string) string {
	for _, g := range a.groups {
		if strconv.FormatInt(g.ID, 10) == key {
			return g.Name
		}
	}
	return "Other plans"
}

// age returns the name of a band of completed orders.
func (a asked) age(key string) string {
	band, _ := strconv.Atoi(key)
	return ageOf(band)
}

// report shows the page.
func (m *room) report(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	a, err := m.ask(r, v)
	if err != nil {
		return err
	}
	days := a.days
	p := reportPage{May: v.May(staff.ManageStore)}
	for _, n := range periods {
		p.Periods = append(p.Periods, dashboard.Tab{Name: strconv.Itoa(n) + " days", Path: v.At(path + "?days=" + strconv.Itoa(n)), Here: n == days})
	}
	if a.Sessions == 0 {
		p.Empty = &dashboard.Empty{Icon: "check", Title: "No customer started to cancel", Text: "Customers who start to cancel in the portal show here, with their reasons and what became of the offers."}
		if p.May {
			p.Empty.Action, p.Empty.Path = "Edit the flow", v.At(flowPath)
		}
	} else {
		p.fill(v, a)
		p.Export = v.At(path + ".csv?days=" + strconv.Itoa(days))
	}
	return v.Answer(w, dashboard.Page{
		Name: "cancellations", Title: "Cancellations", Content: p,
		Lead: "Customers who started to cancel in the last " + strconv.Itoa(days) + " days, and what became of their contracts. Data to " + v.Instant(m.Clock.Now()) + ".",
	})
}

// fill adds what a report says.
func (p *reportPage) fill(v dashboard.Visit, is asked) {
	ended := is.Sessions - is.Open
	p.Tiles = []tile{
		{Title: "Started to cancel", Value: strconv.Itoa(is.Sessions), Note: dashboard.Count(is.Open, "is still open", "are still open")},
		{Title: "Save rate", Value: percent(is.Saved()), Note: strconv.Itoa(is.Saved().Is) + " of " + strconv.Itoa(ended) + " that ended were kept", About: analytics.DefinitionsOf(analytics.SaveRate)},
		{Title: "Offers accepted", Value: percent(is.Takers()), Note: strconv.Itoa(is.Accepted) + " of " + strconv.Itoa(is.Shown) + " that were made"},
		{Title: "Still there after 60 days", Value: percent(is.Lasting()), Note: strconv.Itoa(is.Survived) + " of " + strconv.Itoa(is.Ripe) + " that were kept by then", About: analytics.DefinitionsOf(analytics.SavedSurvival)},
		{Title: "Discounts given", Value: dashboard.Money(money.Amount{Minor: is.Costs, Currency: v.Shop.Currency}), Note: "over all orders of accepted offers"},
	}
	for _, l := range is.Reasons {
		p.Reasons = append(p.Reasons, reasonRow{rowOf(is.reason(l.Key), l), is.Reasons[0].Sessions})
	}
	for _, l := range is.Offers {
		p.Offers = append(p.Offers, offerRow{rowOf(kindWords[flow.Kind(l.Key)], l), percent(l.Takers()), percent(l.Lasting())})
	}
	for _, l := range is.Plans {
		p.Plans = append(p.Plans, rowOf(is.plan(l.Key), l))
	}
	for _, l := range is.Ages {
		p.Ages = append(p.Ages, rowOf(is.age(l.Key), l))
	}
	for _, t := range is.Trials {
		p.Trials = append(p.Trials, trialOf(t))
	}
	for _, s := range is.Comments {
		c := commentRow{Contract: int64(s.Contract), When: v.Instant(s.StartedAt), Reason: is.reason(s.Reason), Text: s.Comment, Badge: dashboard.Badge{Tone: dashboard.Neutral, Text: "Open"}}
		switch {
		case !s.LostAt.IsZero():
			c.Badge = dashboard.Badge{Tone: dashboard.Bad, Text: "Cancelled"}
		case s.Outcome.Saved():
			c.Badge = dashboard.Badge{Tone: dashboard.Good, Text: "Kept"}
		case s.Outcome != "":
			c.Badge = dashboard.Badge{Tone: dashboard.Warning, Text: "Will end"}
		}
		p.Comments = append(p.Comments, c)
	}
}

func rowOf(name string, l report.Line) lineRow {
	saved := l.Saved()
	return lineRow{
		Name: name, Sessions: l.Sessions, Saved: saved.Is, Of: saved.Of, Share: percent(saved), Accepted: strconv.Itoa(l.Accepted), Cancelled: l.Cancelled + l.Scheduled, Offers: l.Shown,
	}
}

// trialOf says what a comparison came to.
func trialOf(t report.Trial) trialRow {
	kept, last := t.Kept(), t.Lasting()
	row := trialRow{
		Version: t.Version, Treated: t.Treated.Kept.Of, Held: t.Held.Kept.Of, KeptWith: percent(t.Treated.Kept), KeptWithout: percent(t.Held.Kept), Kept: points(kept),
		LastWith: percent(t.Treated.Lasting), LastWithout: percent(t.Held.Lasting), Last: points(last),
	}
	best := last
	if !best.Known {
		best = kept
	}
	switch {
	case !best.Known:
		row.Badge, row.Text = dashboard.Badge{Tone: dashboard.Neutral, Text: "Too early", Hollow: true}, "There are not yet customers on both sides."
	case !best.Clear():
		row.Badge, row.Text = dashboard.Badge{Tone: dashboard.Neutral, Text: "Not clear"}, "The numbers fit offers that help and offers that do not. More customers make it clearer."
	case best.Is > 0:
		row.Badge, row.Text = dashboard.Badge{Tone: dashboard.Good, Text: "Offers help"}, "More contracts go on with an offer than without one."
	default:
		row.Badge, row.Text = dashboard.Badge{Tone: dashboard.Bad, Text: "Offers harm"}, "Fewer contracts go on with an offer than without one."
	}
	return row
}

// instantOf returns an instant as the editor shows it, or an empty text.
func instantOf(v dashboard.Visit, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return v.Instant(t)
}
